"""What the commands written in Python share of their command lines."""

from __future__ import annotations

import argparse
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
