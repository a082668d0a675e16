"""What the commands written in Python share of their command lines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Tells a wrong command line in one line, with the command whose --help explains more, as the other commands do."""

    def __init__(self, prog: str, description: str, epilog: str) -> None:
        super().__init__(
            prog=prog, description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
        )

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"sdsm: {message.removeprefix('argument ')}. `{self.prog} --help` explains the options\n")


def file_name(text: str) -> Path:
    """For add_argument(type=...): a variable that is not set must not pass for an option that is not given."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def not_written(error: OSError, advice: str = "Make room, or name another file") -> int:
    """Tells what could not be written: a file by its name (write_output() sees to that), else standard output.

    Returns the exit status: 0 where whoever read standard output has read enough.
    """
    if error.filename is None:
        # The flush at exit must not complain again.
        sys.stdout = None  # type: ignore[assignment]
        if isinstance(error, BrokenPipeError):
            return 0
    where = error.filename or "standard output"
    print(f"sdsm: {where}: {error.strerror or error}. {advice}", file=sys.stderr)
    return 1
