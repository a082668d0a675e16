"""python -m sdsm.report.main_job: the main job's command line."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from sdsm.base.command_line import BadInput, Parser, command, file_name, whole
from sdsm.base.places import PLATFORMS, PROGRAMS, RESULTS

#: Default of sdsm.report.main_job.plan, which is imported only if all packages are there.
PROGRAM_NAMES = ("laplace", "fft", "epcc")

DESCRIPTION = """\
Trace Laplace and FFT, simulate them on the Pentium III cluster, and hold the times against the published ones. Print what
EPCC's directives cost there.

Prints the tables on stdout. Leaves in RESULTS: the tables (tables.txt, summary.json, and as CSV times, threads, seeds,
protocols, v1280 and directives), the figures (PNG and SVG), traces/ (used again while program, tracer and arguments are
the same) and simulations/ (one result JSON per run). docs/reproducing.md explains how to read them."""


def parser() -> argparse.ArgumentParser:
    """The options, with the repository's own folders as defaults."""
    p = Parser(
        prog="scripts/reproduce",
        description=DESCRIPTION,
        epilog="Exit status: 0 done; 1 a run failed or interrupted (the rest is there); 2 bad usage or input.",
    )
    p.add_argument("--only", choices=PROGRAM_NAMES, help="one program instead of all")
    p.add_argument("--seeds", type=whole(1, 10**6), default=20, metavar="N", help="seeds for Laplace 1 and 2 (default: 20)")
    p.add_argument("--retrace", action="store_true", help="make every trace anew")
    p.add_argument("--results", type=file_name, default=RESULTS, help="folder for what is made (default: results/)")
    p.add_argument("--build", type=file_name, default=PROGRAMS, help="folder of the built commands (default: this sdsm's)")
    p.add_argument(
        "--platform",
        type=file_name,
        default=PLATFORMS / "p3-score.xml",
        help="platform file to simulate (default: platforms/p3-score.xml)",
    )
    p.add_argument("--no-figures", action="store_true", help="tables only")
    p.add_argument("--check-options", action="store_true", help=argparse.SUPPRESS)
    return p


def problem_with_build(build: Path) -> str | None:
    if (build / "sdsm").is_file():
        return None
    return f"{build / 'sdsm'} does not exist. Build it first: cmake --preset release && cmake --build --preset release"


def problem_with_platform(platform: Path) -> str | None:
    if platform.is_file():
        return None
    why = "is no file" if platform.exists() else "does not exist"
    return f"{platform} {why}. Name a platform file with --platform"


def problem_with_results(results: Path) -> str | None:
    """Returns why nothing can be written below `results`, as far as can be known before; makes nothing."""
    there = next(folder for folder in (results, *results.absolute().parents) if folder.exists())
    if not there.is_dir():
        return f"results cannot go to {results}: {there} is no folder. Name another one with --results"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"results cannot go to {results}: {there} cannot be written to. Name another folder with --results"
    return None


@command
def main(arguments: list[str] | None = None) -> int:
    """Runs the job. Returns the exit status."""
    options = parser().parse_args(arguments)
    is_built_later = options.check_options and options.build.resolve() == PROGRAMS  # scripts/reproduce builds it before the job
    slip = (
        (None if is_built_later else problem_with_build(options.build))
        or problem_with_platform(options.platform)
        or problem_with_results(options.results)
    )
    if slip:
        raise BadInput(slip)
    if options.check_options:
        return 0

    from sdsm.report.main_job.job import Settings, run

    settings = Settings(
        build=options.build.resolve(),
        platform=options.platform.resolve(),
        results=options.results.resolve(),
        programs=(options.only,) if options.only else PROGRAM_NAMES,
        seeds=options.seeds,
        retrace=options.retrace,
        figures=not options.no_figures,
    )
    return run(settings)


if __name__ == "__main__":
    sys.exit(main())
