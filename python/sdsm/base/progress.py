"""Progress on stderr: a bar on a terminal, a line per step elsewhere."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import TextIO

from tqdm import tqdm


def _columns(stream: TextIO) -> int:
    """Width of the terminal; 80 if it reports none, as terminals under other programs may."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


class Progress:
    """Counts a known number of steps. Use as a context manager."""

    def __init__(self, steps: int, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._steps = steps
        self._done = 0
        look = {"unit": "run", "ncols": _columns(self._stream), "smoothing": 0.1}
        self._bar = tqdm(total=steps, file=self._stream, **look) if self._stream.isatty() else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def begin(self, what: str) -> None:
        """Names the current step."""
        if self._bar is not None:
            self._bar.set_description_str(what)

    def finish(self, what: str, quiet: bool = False) -> None:
        """Counts a step. quiet: write no line for it where there is no bar."""
        self._done += 1
        if self._bar is not None:
            self._bar.update()
        elif not quiet:
            self._stream.write(f"sdsm: [{self._done}/{self._steps}] {what}\n")
            self._stream.flush()

    def say(self, message: str) -> None:
        """A line that stays, above the bar."""
        if self._bar is not None:
            self._bar.write(f"sdsm: {message}", file=self._stream)
        else:
            self._stream.write(f"sdsm: {message}\n")
            self._stream.flush()
