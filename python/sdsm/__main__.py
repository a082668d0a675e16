"""python -m sdsm NAME ...: as `sdsm NAME ...`."""

from sdsm.base.command_line import run

run("sdsm.base.dispatcher")
