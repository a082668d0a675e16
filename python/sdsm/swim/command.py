"""sdsm swim: the command line."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sdsm.base.command_line import BadInput, Parser, command, file_name, platform_name, say, whole, with_reason
from sdsm.base.output_file import csv_text, write_output
from sdsm.base.places import PLATFORMS, PROGRAMS, RESULTS
from sdsm.base.progress import Progress
from sdsm.base.published import FOLDER
from sdsm.calibrate import jiajia_alpha
from sdsm.swim import tables
from sdsm.swim.job import Job, fitted
from sdsm.swim.plan import CALIBRATED_THREADS, THREADS, VARIANTS, Swim, SwimTrace, calibrated_s, published_swim
from sdsm.swim.tables import Line

DESCRIPTION = """\
Swim (SPEC OMPM2001's train data) on OpenMP over JIAJIA, as [HY] ran it on eight Alphas: predicted beside published.

Traces a few iterations (workloads/swim), simulates them under JIAJIA's protocol before and after [HY]'s optimisations, and
extrapolates to the whole run, as each further iteration takes the same time. Computing comes from the published one-thread times,
what messages cost from the time on two threads (--calibrate); times on more threads and after the optimisations are
predicted, and no simulation reads them. The last column shows how straight the line is.

In full size: 10 minutes, 4 GB of memory, 300 MB of disk on two processors. Ctrl-C leaves what is done; the next call goes
on from there. Prints the tables and leaves them in RESULTS (swim.txt, swim.csv), with traces/ and simulations/."""

EPILOG = """\
Examples:
  sdsm swim                     the whole job
  sdsm swim --size 250          the same in a minute, to see how it works: a smaller plane, nothing to compare with
  sdsm swim --threads 4 --platform my.xml    another cluster
  sdsm swim --calibrate         find the platform's message cost again, from the time on two threads

steps differ by: how much the iterations extrapolated from differ from their mean, at most. Exit status: 0 done; 1 a run failed or the job
was interrupted; 2 bad usage or input."""


def numbers(least: int, most: int, count: int | None = None) -> Callable[[str], tuple[int, ...]]:
    """For add_argument(type=...): `count` ascending whole numbers, such as "3,6"."""

    def parse(text: str) -> tuple[int, ...]:
        parts = [whole(least, most)(part) for part in text.split(",")] if re.fullmatch(r"\d+(,\d+)*", text) else []
        if not parts or sorted(set(parts)) != parts or (count and len(parts) != count):
            raise ValueError(f"'{text}' is no list of {count or 'some'} ascending whole numbers from {least} to {most}")
        return tuple(parts)

    return with_reason(parse)


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm swim", description=DESCRIPTION, epilog=EPILOG)
    of = published_swim()
    p.add_argument("--size", type=whole(16, 8192), default=of.size, metavar="N", help=f"rows and columns (default: {of.size})")
    p.add_argument(
        "--iterations", type=numbers(2, 100, 2), default=(3, 6), metavar="A,B", help="trace B, extrapolate from the ends of A and B (3,6)"
    )
    p.add_argument("--threads", type=numbers(2, 64), default=THREADS, metavar="LIST", help="numbers of threads (2,4,8)")
    p.add_argument("--platform", type=platform_name, default=PLATFORMS / f"{jiajia_alpha.NAME}.xml", help="(jiajia-alpha.xml)")
    p.add_argument("--calibrate", action="store_true", help="only find and print what a message costs")
    p.add_argument("--retrace", action="store_true", help="make every trace anew")
    p.add_argument("--results", type=file_name, default=RESULTS / "swim", help="folder for what is made (results/swim/)")
    p.add_argument("--build", type=file_name, default=PROGRAMS, help="folder of the built commands (default: build/)")
    return p


@command
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the job. Returns the exit status."""
    options = parser().parse_args(arguments)
    if not (options.build / "sdsm").is_file():
        raise BadInput(f"{options.build / 'sdsm'} does not exist. Build it: cmake --preset release && cmake --build --preset release")
    if not options.platform.is_file():
        raise BadInput(f"{options.platform} is no file. Name a platform file with --platform")
    options.results.mkdir(parents=True, exist_ok=True)
    return calibrate(options, FOLDER) if options.calibrate else predict(options, FOLDER)


def predict(options: argparse.Namespace, published: Path) -> int:
    """Prints the tables. `published`: folder of the published tables."""
    swim = published_swim(published)
    runs = [SwimTrace(options.size, options.iterations[1], threads) for threads in options.threads]
    started, load = time.monotonic(), os.getloadavg()[0]
    with Progress(len(runs) * (1 + len(VARIANTS))) as progress:
        job = _job(options, swim, progress.finish)
        try:
            for run in runs:
                progress.begin(f"trace {run.name}")
                job.trace(run)
            lines = [Line(variant, 1, _one_thread_s(swim, variant.name, options.size)) for variant in VARIANTS]
            for variant in VARIANTS:
                for threads in options.threads:
                    lines.append(_line(job, options, swim, threads, variant))
        except KeyboardInterrupt:
            job.runner.stop()
            raise
    lines.sort(key=lambda line: (VARIANTS.index(line.variant), line.threads))
    is_published = options.size == swim.size
    few, more = options.iterations
    text = (
        f"Swim, {options.size} x {options.size}, {swim.iterations} iterations by the line from {few} to {more}, on "
        f"{options.platform.stem}: seconds [HY]\n{tables.text(lines, is_published, published)}"
    )
    if not is_published:
        text += f"\n\nThe published times are of size {swim.size}."
    write_output(options.results / "swim.txt", text + "\n")
    write_output(options.results / "swim.csv", csv_text(tables.rows(lines, is_published, published)))
    print(text, flush=True)
    say(f"results are in {options.results} ({time.monotonic() - started:.0f} s, load average {load:.1f} at the start)")
    return 0


def _one_thread_s(swim: Swim, variant: str, size: int) -> float:
    return swim.iteration_s(variant, size) * swim.iterations + swim.sequential_s(variant, size)


def _line(job: Job, options: argparse.Namespace, swim: Swim, threads: int, variant: tables.Variant) -> Line:
    first, last = options.iterations
    few = job.simulate(SwimTrace(options.size, last, threads), variant, options.platform)
    return Line(variant, threads, few.time_s(first, swim.iterations), few, few.unevenness(first))


def calibrate(options: argparse.Namespace, published: Path) -> int:
    """Prints the fixed part of a message. Reads the times of one and of two threads, before the optimisations."""
    swim = published_swim(published)
    if options.size != swim.size:
        raise BadInput(f"--calibrate is for the published size. Leave out --size {options.size}")
    with Progress(1) as progress:
        job = _job(options, swim, progress.say)
        first, last = options.iterations
        run = SwimTrace(options.size, last, CALIBRATED_THREADS)
        job.trace(run)

        def time_s(cost_us: float) -> float:
            platform = options.results / f"message-{cost_us:.2f}us.xml"
            write_output(platform, jiajia_alpha.platform(message_fixed_us=cost_us))
            found_s = job.simulate(run, VARIANTS[0], platform).time_s(first, swim.iterations)
            progress.say(f"a message of {cost_us:.2f} us: {found_s:.2f} s")
            return found_s

        cost_us = fitted(time_s, calibrated_s(published), 20.0, 60.0)
    print(
        f"message_fixed {cost_us:.2f} us. Write it into {jiajia_alpha.ASSUMED}, then:\n"
        "PYTHONPATH=python python3 -m sdsm.calibrate.jiajia_alpha -o platforms/jiajia-alpha.xml"
    )
    return 0


def _job(options: argparse.Namespace, swim: Swim, tell: Callable[[str], None]) -> Job:
    return Job(options.build.resolve(), options.results.resolve(), swim, options.size, tell, options.retrace)


