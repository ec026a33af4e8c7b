"""The same examples on every machine: a red build must be reproducible."""

from hypothesis import settings

settings.register_profile("stats", derandomize=True, deadline=None, database=None)
settings.load_profile("stats")
