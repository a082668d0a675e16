"""`python FOLDER ...` is `python -m sdsm ...`, with this folder's sdsm and none of the working folder's modules."""

from sdsm.base.command_line import run

run("sdsm.base.dispatcher")
