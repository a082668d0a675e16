"""Same examples on every run and machine, and no limit on the time of one: no test depends on wall time."""

from hypothesis import settings

settings.register_profile("reproducible", derandomize=True, deadline=None, database=None)
settings.load_profile("reproducible")
