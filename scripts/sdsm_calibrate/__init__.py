"""The command `sdsm calibrate`."""
