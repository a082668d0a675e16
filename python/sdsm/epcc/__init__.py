"""`sdsm epcc`: tables and plots of the EPCC OpenMP microbenchmarks, from any number of runs (docs/calibration.md)."""
