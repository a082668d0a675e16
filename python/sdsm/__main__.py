"""python -m sdsm NAME ... does the same as `sdsm NAME ...`."""

from sdsm.base.command_line import run

run("sdsm.base.dispatcher")
