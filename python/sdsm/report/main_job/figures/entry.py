"""The entry point that every figure shares."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from matplotlib.figure import Figure

from sdsm.plot.style import save
from sdsm.report.main_job.tables import read_summary

Row = TypeVar("Row")


def run(
    name: str,
    draw: Callable[[Sequence[Row]], Figure | None],
    arguments: list[str] | None = None,
    read: Callable[[Path], Sequence[Row]] = read_summary,  # type: ignore[assignment]
) -> int:
    """Draws one figure from the summary, or another table, in a results folder. Returns the exit status: 0, 1 if there is no
    prediction to show, 2 if there is no summary to read."""
    parser = argparse.ArgumentParser(description=f"Draw {name}.png and {name}.svg again from a finished main job.")
    parser.add_argument("results", type=Path, help="the main job's results folder")
    folder: Path = parser.parse_args(arguments).results
    try:
        figure = draw(read(folder))
        if figure is None:
            print(f"sdsm: {folder} holds no finished run that {name} could show. Run the main job.", file=sys.stderr)
            return 1
        for path in save(figure, folder, name):
            print(path)
    except (OSError, ValueError) as error:
        print(f"sdsm: {error}", file=sys.stderr)
        return 2
    return 0
