"""python -m sdsm.report.main_job.figures RESULTS: draws the figures again from the tables that the job left."""

from __future__ import annotations

import sys
from pathlib import Path

from sdsm.base.command_line import BadInput, Parser, RunFailed, command
from sdsm.report.main_job import directives, protocols
from sdsm.report.main_job.figures import draw_all
from sdsm.report.main_job.rows import read_rows
from sdsm.report.main_job.tables import read_summary


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0, 1 if nothing was predicted that a figure could show, 2 if there are no tables to read."""
    parser = Parser("python -m sdsm.report.main_job.figures", "Draw the figures of a finished main job again.", "")
    parser.add_argument("results", type=Path, help="the main job's results folder")
    folder: Path = parser.parse_args(arguments).results
    try:
        lines = read_summary(folder)
        by_protocol = read_rows(folder / protocols.TABLE, protocols.ProtocolRow)
        overheads = read_rows(folder / directives.TABLE, directives.DirectiveRow)
    except (OSError, ValueError) as error:
        raise BadInput(str(error)) from error
    written = draw_all(lines, by_protocol, overheads, folder)
    if not written:
        raise RunFailed(f"{folder} holds no finished run that a figure could show. Run the main job")
    print(*written, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
