"""Starts the simulation to explain and `sdsm trace info`, which run while Python loads their readers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from sdsm.base import places
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BAD_INPUT
from sdsm.explain.alternatives import Point

TIME_LIMIT_S = 3600.0


def own_command(words: Sequence[str]) -> list[str]:
    """Returns a subcommand and its arguments as `sdsm` runs it, without its shell, which takes a fifth of a small simulation."""
    return [str(places.PROGRAMS / f"sdsm-{words[0]}"), *words[1:]]


class Started:
    """Use it with `with`, which ends what still runs, as after Ctrl-C.

    pages: what `sdsm simulate --pages` writes; there when simulated() has returned.

    more: further words for `sdsm simulate`.
    """

    def __init__(self, point: Point, folder: Path, more: Sequence[str] = ()) -> None:
        if point.option("--protocol", "") == "hardware":
            why = (
                "--protocol hardware: there hardware shares memory, so no page costs anything that could be explained. "
                "`sdsm simulate --protocol hardware` tells where the time goes; leave --protocol out to explain a software DSM"
            )
            raise CommandFailed(why, BAD_INPUT, why)
        self.runner = CommandRunner()
        self.pages = folder / "pages.csv"
        self.notes: list[str] = []
        self._simulated = _Result(
            lambda: self.runner.run(own_command([*point.command(), *more, "--pages", str(self.pages), "--constructs", "--json", "-"]), TIME_LIMIT_S, self.notes.append)
        )
        self._info = _Result(lambda: self.runner.run(own_command(["trace", "info", point.trace, "--json", "-"]), TIME_LIMIT_S))

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *error: object) -> None:
        self.runner.stop()

    def simulated(self) -> str:
        """Returns the result as JSON. Raises CommandFailed."""
        return self._simulated.get()

    def info(self) -> str:
        """Returns the trace's JSON. Raises CommandFailed."""
        return self._info.get()


class _Result:
    """The result of a function that runs in a thread of its own."""

    def __init__(self, function: Callable[[], str]) -> None:
        self._text = ""
        self._error: Exception | None = None

        def run() -> None:
            try:
                self._text = function()
            except Exception as error:
                self._error = error

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def get(self) -> str:
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._text
