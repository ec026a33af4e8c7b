"""git, started so that nothing in a repository or in a user's configuration can act."""
