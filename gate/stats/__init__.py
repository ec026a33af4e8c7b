"""Arrays in, frozen results out. No file, clock, environment or global random state is touched here."""
