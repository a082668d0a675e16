"""The command `sdsm microbench`: measures each action of the protocol on this machine, or on an emulated cluster.

It runs build/microbench, a plain OpenMP program, under `sdsm run` on each layout, and build/system_bench, which measures the
same system calls and sockets bare. `calibration/README.md` says what each quantity is.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sdsm.base import run_result
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BadInput, Parser, command, file_name, platform_name, say
from sdsm.base.output_file import check_outputs, json_text, print_or_write
from sdsm.base.places import PROGRAMS

FORMAT = "sdsm-microbench"
VERSION = 1
TIME_LIMIT_S = 600.0
MOST_SAMPLES = 4096
ROUND_SAMPLES = 10
#: One day.
MOST_MINUTES = 1440.0
MOST_THREADS = 256
PRINTED = (("fastest", 0.0), ("25 %", 0.25), ("median", 0.5), ("75 %", 0.75), ("slowest", 1.0))

DESCRIPTION = """\
Measure what each action of the software DSM costs on this machine, or on an emulated cluster.

Runs a plain OpenMP program under `sdsm run` on each layout: the ten kinds of page faults (those between local peers need two
threads per node), releases with diffs of several sizes, barriers, locks, and a memory-bound loop, by one thread of a node
alone and by all together. Where every thread has a processor, other nodes compute while one takes faults, and all send diffs at
once, as in programs; else, and on an emulated cluster, one node acts at a time, with the others asleep at a barrier.
Also measures what the system itself takes: SIGSEGV with mprotect, messages by size, twins, diffs.
Samples come from several runs of 10 each, layout by layout in turn, so that their errors say how runs differ. Where the
system chooses processors, a fetch can take twice as long in one run as in the next, as a sleeping processor has to be woken or
not; --bind keeps each process on one, as `sdsm run --bind` does. Prints a table in microseconds; -o keeps every sample, of which `sdsm calibrate` makes a platform file."""


@dataclass(frozen=True, order=True)
class Layout:
    nodes: int
    threads_per_node: int

    def __str__(self) -> str:
        return f"{self.nodes}x{self.threads_per_node}"

    @property
    def threads(self) -> int:
        return self.nodes * self.threads_per_node


def layout(text: str) -> Layout:
    """Parses "4x2". Raises ValueError."""
    match = re.fullmatch(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,3})", text)
    if not match:
        raise ValueError(f"'{text}' is no layout: write nodes x threads per node, such as 4x1")
    return Layout(int(match[1]), int(match[2]))


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def oversubscribed(layouts: Iterable[Layout], count: int, which: str) -> str:
    """Begins a sentence on the layouts of more threads than `count` processors; empty if there are none."""
    found = [str(one) for one in layouts if one.threads > count]
    names = ", ".join(found[:-1]) + " and " * (len(found) > 1) + found[-1] if found else ""
    has = "has" if len(found) == 1 else "have"
    return f"{names} {has} more threads than {which} {count} processor{'s' * (count > 1)}" if found else ""


def _run(command: Sequence[str | Path]) -> str:
    try:
        return CommandRunner().run([str(word) for word in command], TIME_LIMIT_S)
    except CommandFailed as error:
        raise CommandFailed(f"{Path(command[0]).name}: {error}") from None


def _printed(text: str, program: str) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(text)
    except ValueError:
        raise CommandFailed(f"{program} printed no JSON") from None
    return document


def _samples(document: dict[str, Any]) -> dict[str, list[float]]:
    return {name: [float(sample) for sample in samples] for name, samples in document.items()}


def rounds_of(samples: int) -> int:
    """Returns the number of program runs among which `samples` of each quantity are divided: 10 samples each, or all in
    one.

    Which processors its threads got, and where its memory lies, a run keeps to its end: samples of one run tell each
    other's scatter, and only several runs tell how far another run may be off.
    """
    return samples // ROUND_SAMPLES if samples % ROUND_SAMPLES == 0 else 1


def acts_together(chosen: Layout, options: Sequence[str | Path]) -> bool:
    """Whether all nodes are awake, as in programs, while one takes faults, and all send diffs at once. A sleeping node has to
    be woken for each page, which programs rarely meet. On an emulated network, however, all messages would queue, and so
    would more threads than processors: there one node acts at a time."""
    return "--emulate" not in options and chosen.threads <= processors()


def _cold_ns(whole_ns: Sequence[float], threads: Sequence[run_result.Thread]) -> float:
    """Returns a trap's cost after its end, as it leaves caches cold: the fault's cost by the program's clock less that in the
    run's account. Both are means, as the account is one; noise may make the result negative."""
    faults = sum(thread.faults.get("WROH", 0) for thread in threads)
    account_s = sum(thread.time_s.fault.get("WROH", 0.0) for thread in threads)
    return statistics.fmean(whole_ns) - 1e9 * account_s / max(faults, 1)


def _trap_ns(threads: Sequence[run_result.Thread]) -> float:
    """Returns a trap's time before and after its handler, as the run measured it: mean over its threads."""
    return 1e9 * statistics.fmean(thread.trap_s for thread in threads)


def _first_longer_ns(first_ns: Sequence[float], later_ns: Sequence[float]) -> float:
    """Returns the extra time of a node's first fetch, or first write, of a page, which the system then allocates; chance may
    make it negative."""
    return statistics.median(first_ns) - statistics.median(later_ns)


def _run_program(
    build: Path, chosen: Layout, samples: int, words: Sequence[str], options: Sequence[str | Path]
) -> tuple[dict[str, Any], run_result.Native]:
    """Returns the program's output, and the run's result. Raises CommandFailed."""
    with tempfile.TemporaryDirectory(prefix="sdsm-microbench-") as folder:
        result = Path(folder) / "run.json"
        threads = str(chosen.threads_per_node)
        run_on: list[str | Path] = [
            build / "sdsm-run",
            "--quiet",
            "--nodes",
            str(chosen.nodes),
            "--threads-per-node",
            threads,
        ]
        program: list[str | Path] = [build / "microbench", threads, str(samples), *words]
        text = _run([*run_on, *options, "--json", result, "--", *program])
        run = run_result.printed(result.read_text(), run_result.Native, "sdsm run")
    printed = _printed(text, "microbench")
    if "burst" not in printed:
        raise CommandFailed(f"{build / 'microbench'} does not tell the size of its bursts: it is an older version's. Build it again")
    return printed, run


def _own_writes_ns(build: Path, chosen: Layout, samples: int, options: Sequence[str | Path]) -> dict[str, list[float]]:
    """Measures, in a run that does nothing else, own writes, what their traps leave cold, and the traps by the run itself."""
    printed, run = _run_program(build, chosen, samples, ["own-writes"], options)
    whole_ns = [float(sample) for sample in printed["WROH"]]
    return {"WROH": whole_ns, "WROH.cold": [_cold_ns(whole_ns, run.threads)], "WROH.trap": [_trap_ns(run.threads)]}


def measure_round(build: Path, chosen: Layout, samples: int, options: Sequence[str | Path] = ()) -> dict[str, Any]:
    """Returns samples of one round in nanoseconds, by quantity, and the homes' service times of pages. Raises CommandFailed."""
    together = acts_together(chosen, options)
    has_room = 1 < chosen.threads_per_node <= processors()
    words = ["streams"] * has_room + ["together"] * together
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    if together and samples > 1:
        before = _own_writes_ns(build, chosen, samples // 2, options)
    printed, run = _run_program(build, chosen, samples, words, options)
    if together:
        after = _own_writes_ns(build, chosen, samples - samples // 2, options)
    burst, samples_ns = int(printed.pop("burst")), _samples(printed)
    if together:
        own_ns = {name: before.get(name, []) + values for name, values in after.items()}
        means_ns = {name: [statistics.fmean(own_ns[name])] for name in ("WROH.cold", "WROH.trap")}
        samples_ns = own_ns | means_ns | samples_ns
    if (first_ns := samples_ns.pop("WROH.first", None)) is not None:
        samples_ns["WROH.first-write"] = [_first_longer_ns(first_ns, samples_ns.pop("WROH.again"))]
    for warm_up in ("WUMR.first", "WROL.first"):
        samples_ns.pop(warm_up, None)
    if (first_ns := samples_ns.pop("RUMR.first", None)) is not None:
        samples_ns["RUMR.first-copy"] = [_first_longer_ns(first_ns, samples_ns["RUMR"])]
    threads = run.whole_run.threads
    return {
        "burst": burst,
        "samples_ns": samples_ns,
        "pages_served": sum(thread.pages_served for thread in threads),
        "page_service_s": sum(thread.page_service_s for thread in threads),
    }


def measure_layouts(
    build: Path,
    layouts: Sequence[Layout],
    samples: int,
    options: Sequence[str | Path] = (),
    say: Any = None,
    between: Callable[[int], None] | None = None,
    over_s: float = 0.0,
) -> dict[str, dict[str, Any]]:
    """Measures a document's layouts round by round, so that disturbances spread over all. between: called after each round
    with its number, from 0. over_s: rounds begin evenly over so many seconds, or as soon as they can. Raises
    CommandFailed."""
    rounds = rounds_of(samples)
    measured: dict[str, dict[str, Any]] = {}
    begun = time.monotonic()
    for turn in range(rounds):
        wait_s = begun + over_s * turn / rounds - time.monotonic()
        if wait_s > 0:
            if say is not None:
                say(f"run {turn + 1} of {rounds} begins in {wait_s:.0f} s")
            time.sleep(wait_s)
        for chosen in layouts:
            if say is not None:
                say(f"microbench on {chosen}" + f", run {turn + 1} of {rounds}" * (rounds > 1))
            found = measure_round(build, chosen, samples // rounds, options)
            if turn == 0:
                how = {"together": acts_together(chosen, options), "rounds": rounds}
                measured[str(chosen)] = asdict(chosen) | how | found
                continue
            whole = measured[str(chosen)]
            for name, values in found["samples_ns"].items():
                whole["samples_ns"][name] += values
            for name in ("pages_served", "page_service_s"):
                whole[name] += found[name]
        if between is not None:
            between(turn)
    return measured


def measure(
    build: Path,
    layouts: Sequence[Layout],
    samples: int,
    emulate: Path | None = None,
    transport: str | None = None,
    with_system: bool = True,
    say: Any = None,
    is_bound: bool = False,
    over_s: float = 0.0,
) -> dict[str, Any]:
    """Returns the document that `sdsm microbench -o` writes. Raises CommandFailed."""
    options: list[str | Path] = ["--bind"] if is_bound else []
    if emulate is not None:
        options += ["--emulate", emulate]
    if transport is not None:
        options += ["--transport", transport]
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "unit": "ns",
        "machine": {"system": platform.platform(), "processors": processors()},
        "emulated": str(emulate) if emulate is not None else None,
        "transport": transport or "unix",
        "bound": is_bound,
        "layouts": measure_layouts(build, layouts, samples, options, say, over_s=over_s),
    }
    if with_system:
        if say is not None:
            say("the system itself")
        # It makes one sample of the trap loop of each 1000 traps.
        text = _run([build / "system_bench", str(samples), str(1000 * samples)])
        document["system"] = {"samples_ns": _samples(_printed(text, "system_bench"))}
    return document


def table(document: dict[str, Any]) -> str:
    """Quantities by layout, in microseconds."""
    parts = [(name, part["samples_ns"]) for name, part in document["layouts"].items()]
    if "system" in document:
        parts.append(("system, without a DSM", document["system"]["samples_ns"]))
    lines = []
    for name, quantities in parts:
        lines.append(f"{name:24}{'samples':>8}" + "".join(f"{heading:>11}" for heading, _ in PRINTED) + "  us")
        for quantity, values in quantities.items():
            ordered = sorted(values)
            shown = [
                statistics.median(ordered) if share == 0.5 else ordered[min(int(share * len(ordered)), len(ordered) - 1)]
                for _, share in PRINTED
            ]
            lines.append(f"  {quantity:22}{len(values):8}" + "".join(f"{value / 1000:11.2f}" for value in shown))
        lines.append("")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = Parser("sdsm microbench", DESCRIPTION, "Exit status: 0 done, 1 a measurement failed, 2 bad usage.")
    parser.add_argument("-o", "--output", type=file_name, metavar="FILE|-", help="write every sample as JSON (- for stdout, no table then)")
    layouts = "nodes x threads per node, with commas (default: 2x1,2x2,4x1)"
    parser.add_argument("--layouts", default="2x1,2x2,4x1", metavar="LIST", help=layouts)
    parser.add_argument("--samples", type=int, default=100, metavar="N", help="of each quantity, 1 to 4096 (default: 100)")
    over = (
        f"spread the runs, of {ROUND_SAMPLES} samples each, over so long, so that the errors of `sdsm calibrate` tell "
        f"how the machine changes from minute to minute (default: one after the other; at most {MOST_MINUTES:g})"
    )
    parser.add_argument("--over", type=float, default=0.0, metavar="MINUTES", help=over)
    parser.add_argument("--emulate", type=platform_name, metavar="PLATFORM", help="measure on the network of this platform file")
    parser.add_argument("--transport", choices=("unix", "tcp"), help="sockets between nodes (default: unix)")
    parser.add_argument("--bind", action="store_true", help="each process on one processor, in turn, as `sdsm run --bind` has them")
    parser.add_argument("--no-system", action="store_true", help="leave out what the system takes without a DSM")
    parser.add_argument("--build", type=file_name, default=PROGRAMS, help="folder of the built commands (default: this sdsm's)")
    return parser


@command
def main(arguments: list[str] | None = None) -> int:
    """Measures and prints. Returns the exit status."""
    options = _parser().parse_args(arguments)
    layouts = _layouts(options.layouts)
    if not 1 <= options.samples <= MOST_SAMPLES:
        raise BadInput(f"--samples {options.samples} is not from 1 to {MOST_SAMPLES}")
    if not 0 <= options.over <= MOST_MINUTES:
        raise BadInput(f"--over {options.over:g} is not from 0 to {MOST_MINUTES:g} minutes")
    if options.over > 0 and rounds_of(options.samples) == 1:
        raise BadInput(f"--over spreads runs of {ROUND_SAMPLES} samples each: give --samples a larger multiple of {ROUND_SAMPLES} than {ROUND_SAMPLES}")
    if options.emulate is not None and not options.emulate.is_file():
        raise BadInput(f"{options.emulate} is no file. Name a platform file after --emulate")
    check_outputs([options.output], filter(None, [options.emulate]))
    many = oversubscribed(layouts, processors(), "this machine's")
    if many and options.emulate is None:
        say(f"{many}, which take turns: their times are too long. `sdsm calibrate` takes only barriers and locks of them")
    document = measure(
        options.build, layouts, options.samples, options.emulate, options.transport, not options.no_system, say, options.bind, 60 * options.over
    )
    if options.output is not None:
        print_or_write(options.output, json_text(document))
    if str(options.output) != "-":
        print(table(document))
    return 0


def _layouts(text: str) -> list[Layout]:
    """Parses "2x1,4x1". Raises BadInput."""
    try:
        layouts = [layout(part) for part in text.split(",")]
    except ValueError as error:
        raise BadInput(str(error)) from None
    if len(set(layouts)) < len(layouts):
        raise BadInput(f"--layouts {text} names a layout twice")
    if largest := [str(chosen) for chosen in layouts if chosen.threads > MOST_THREADS]:
        raise BadInput(f"{largest[0]} has more than the {MOST_THREADS} threads that a run may have")
    if all(chosen.threads == 1 for chosen in layouts):
        raise BadInput("a layout of one thread takes no faults: give one of at least two, such as 2x1")
    return layouts
