"""python -m sdsm_report: the main job's command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from calibration.published import PublishedDataError

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Trace Laplace and FFT, simulate them on the Pentium III cluster, and hold the times against the published ones.

Prints the tables on stdout. Leaves in RESULTS: the tables (times.csv, threads.csv, seeds.csv, summary.json,
tables.txt), the figures (PNG and SVG), traces/ (used again while program, tracer and arguments are the same)
and simulations/ (one result JSON per run). docs/reproducing.md explains how to read them."""


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than 1")
    return value


def parser() -> argparse.ArgumentParser:
    """The options, with the repository's own folders as defaults."""
    p = argparse.ArgumentParser(
        prog="reproduce",
        description=DESCRIPTION,
        epilog="Exit status: 0 done; 1 a run failed or interrupted (the rest is there); 2 bad usage or input.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("--only", choices=("laplace", "fft"), help="one program instead of both")
    p.add_argument("--seeds", type=positive, default=20, metavar="N", help="seeds for Laplace 1 and 2 (default: 20)")
    p.add_argument("--retrace", action="store_true", help="make every trace anew")
    p.add_argument("--results", type=Path, default=ROOT / "results", help="folder for what is made (default: results/)")
    p.add_argument("--build", type=Path, default=ROOT / "build", help="folder of the built commands (default: build/)")
    p.add_argument(
        "--platform",
        type=Path,
        default=ROOT / "platforms" / "p3-score.xml",
        help="platform file to simulate (default: platforms/p3-score.xml)",
    )
    p.add_argument("--no-figures", action="store_true", help="tables only")
    p.add_argument("--check-options", action="store_true", help=argparse.SUPPRESS)
    return p


def main(arguments: list[str] | None = None) -> int:
    """Runs the job. Returns the exit status."""
    options = parser().parse_args(arguments)
    if options.check_options:
        return 0
    for path, what in (
        (options.build / "sdsm", "Build it first: cmake --preset release && cmake --build --preset release"),
        (options.platform, "Name a platform file with --platform"),
    ):
        if not path.is_file():
            print(f"sdsm: {path} does not exist. {what}.", file=sys.stderr)
            return 2

    from sdsm_report.job import Settings, run

    settings = Settings(
        build=options.build.resolve(),
        platform=options.platform.resolve(),
        results=options.results.resolve(),
        programs=(options.only,) if options.only else ("laplace", "fft"),
        seeds=options.seeds,
        retrace=options.retrace,
        figures=not options.no_figures,
    )
    try:
        return run(settings)
    except PublishedDataError as error:
        print(f"sdsm: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"sdsm: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
