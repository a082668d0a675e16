"""Runs `sdsm check` on a new platform, before the user gets it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BAD_INPUT, BadInput
from sdsm.base.output_file import write_output

TIME_LIMIT_S = 300.0


def check(build: Path, platform: Path, runner: CommandRunner) -> None:
    """Raises BadInput with the finding, without the file's name, for a platform that `sdsm check` refuses; CommandFailed."""
    try:
        runner.run([str(build / "sdsm"), "check", str(platform)], TIME_LIMIT_S)
    except CommandFailed as error:
        if error.status != BAD_INPUT:
            raise
        raise BadInput(re.sub(rf"^{re.escape(str(platform))}(:\d+)?: ", "", error.said)) from None


def check_text(build: Path, text: str, runner: CommandRunner) -> None:
    """Checks a file's text."""
    with tempfile.TemporaryDirectory(prefix="sdsm-check-") as folder:
        trial = Path(folder) / "platform.xml"
        write_output(trial, text)
        check(build, trial, runner)
