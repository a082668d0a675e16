"""sdsm calibrate: the command line."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from sdsm import readers
from sdsm.base import costs
from sdsm.base.children import CommandRunner
from sdsm.base.command_line import BadInput, Parser, command, file_name, platform_name, say, whole, with_reason
from sdsm.base.output_file import check_outputs, json_text, print_or_write, utf8, write_output
from sdsm.base.places import PLATFORMS, PROGRAMS
from sdsm.base.published import FOLDER
from sdsm.calibrate import barrier_shape, gate, hold_out, network_gate, p3_score, report
from sdsm.calibrate import fit as fitting
from sdsm.calibrate.copies import refuse_copies
from sdsm.calibrate.dirty_page import published_equations
from sdsm.calibrate.dirty_page import report as dirty_page_report
from sdsm.calibrate.fit import Data, Fit
from sdsm.calibrate.hold_out import split
from sdsm.calibrate.measured_platform import links_of, platform
from sdsm.calibrate.network import Network, contradiction_of_files, network_of
from sdsm.microbench.command import layout
from sdsm.platform import platform_check
from sdsm.platform.platform_file import parse, properties
from sdsm.readers import Reading
from sdsm.readers.text import load_input

DESCRIPTION = """\
Make a platform file from benchmark outputs, and check that the simulator gives them back.

Reads any of: what `sdsm microbench -o` wrote (faults, messages, barriers, locks, dirty pages, first uses of pages, the
memory bus, the home's share, noise); outputs of EPCC's syncbench (barriers and locks); NetPIPE, OSU and iperf3
(bandwidth and latency). Each parameter comes with unit, standard error, number of samples, source, and whether it was
measured, fitted or assumed: in the file's comments and in the report. Then the microbenchmarks are re-run in the
simulator on that file, and the messages of NetPIPE, OSU and iperf3: each must come out as measured, within the larger
of 2 % and two standard errors (2.8 for the points of a network). Of messages only the points that bandwidth and latency
were fitted from are checked. The others are re-run and shown, as a platform file has one straight line for all sizes.
Barriers of layouts that were not measured follow barrier.shape, flat or a tree, which three measured numbers of nodes
decide.

sdsm calibrate p3-score writes the platform of the published measurements, from their tables alone."""

EPILOG = """\
examples:
  sdsm microbench --bind --over 3 -o m.json && sdsm calibrate m.json -o machine.xml
  sdsm calibrate m*.json netpipe.out --base one-machine -o cluster.xml --plot results
  sdsm calibrate m.json --hold-out 0.3 -o machine.xml
  sdsm calibrate p3-score -o p3-score.xml

Several outputs of sdsm microbench, taken at different times, tell more than a long one: what they differ by is
in the standard errors. Exit status: 0 done; 1 the simulator does not give back what was measured (the platform file is
written all the same), or a result could not be written; 2 bad usage or input. calibration/README.md has the formulas."""


def fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no fraction between 0 and 1, such as 0.3")
    return value


def parser() -> argparse.ArgumentParser:
    p = Parser("sdsm calibrate", DESCRIPTION, EPILOG)
    p.add_argument("files", nargs="+", metavar="FILE", help=f"benchmark outputs; or {p3_score.NAME}")
    p.add_argument(
        "--base", type=platform_name, default=PLATFORMS / "one-machine.xml", metavar="NETWORK",
        help="platform file with hosts, links, routes and, where no file measures it, the network (default: one-machine.xml)",
    )  # fmt: skip
    written = "platform file to write (default: stdout, for p3-score)"
    p.add_argument("-o", "--output", type=file_name, metavar="PLATFORM", help=written)
    p.add_argument("--report", type=file_name, metavar="FILE", help="everything as JSON; - prints it")
    overlaid = "measured and simulated overlaid (calibration.svg, calibration-network.svg, .png)"
    p.add_argument("--plot", type=file_name, metavar="FOLDER", help=overlaid)
    p.add_argument(
        "--layout", type=with_reason(layout), action="append", default=[], metavar="NxT",
        help="layout of files that tell none, and of EPCC runs with as many threads (default: one thread per node)",
    )  # fmt: skip
    left_out = "leave out this part of all samples, and score on it"
    p.add_argument("--hold-out", type=fraction, metavar="FRACTION", help=left_out)
    p.add_argument(
        "--oversubscribed", action="store_true",
        help="take faults and messages of layouts with more threads than processors, too, though their times are too long",
    )  # fmt: skip
    p.add_argument("--seed", type=whole(0, 10**18), default=1, metavar="N", help="of the choice of what is left out (default: 1)")
    published = "tables for p3-score (calibration/published)"
    p.add_argument("--published", type=file_name, default=FOLDER, metavar="FOLDER", help=published)
    p.add_argument("--build", type=file_name, default=PROGRAMS, help="folder of the built commands (default: this sdsm's)")
    return p


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    options = parser().parse_args(arguments)
    inputs = [] if options.files == [p3_score.NAME] else [*options.files, options.base]
    check_outputs((options.output, options.report), inputs)
    return _measured(options) if inputs else _published(options)


def _published(options: argparse.Namespace) -> int:
    try:
        made = p3_score.platform(options.published)
        text = dirty_page_report(published_equations(options.published))
        platform_check.check_text(options.build.resolve(), made.text, CommandRunner())
    except BadInput as error:
        raise BadInput(f"{'' if str(options.published) in str(error) else f'{options.published}: '}{error}") from None
    except ValueError as error:
        raise BadInput(f"{options.published}: {error}") from None
    if options.output is None:
        sys.stdout.write(made.text)
    else:
        write_output(options.output, made.text)
        print(text)
    if options.report is not None:
        sources = (source for p in made.parameters for source in p.sources)
        tables = {source.rpartition(" [")[0]: "published table" for source in sources if " [" in source}
        print_or_write(options.report, json_text(report.document(None, made.parameters, None, tables, [], None, None, [])))
    return 0


def _read(names: Sequence[str]) -> list[Reading]:
    if twice := next((name for name, count in Counter(names).items() if count > 1), None):
        raise BadInput(f"{twice} is given twice. Its samples would count twice: name it once")
    found = [readers.read_text(load_input(name)) for name in names]
    refuse_copies(found)
    for reading in found:
        for warning in reading.warnings:
            say(warning)
    return found


def _measured(options: argparse.Namespace) -> int:
    if options.output is None:
        raise BadInput("where to? Give -o PLATFORM.xml")
    if not (options.build / "sdsm").is_file():
        raise BadInput(f"{options.build / 'sdsm'} does not exist. Build it, or name the build folder by --build")
    costs.use(options.build)
    readings = _read(options.files)
    try:
        root = parse(options.base)
    except OSError as error:
        raise BadInput(f"{options.base}: {error.strerror}. Name a platform file by --base") from None
    network = network_of(root, str(options.base))
    data = fitting.collect(readings, options.layout, options.oversubscribed)
    held: Data | None = None
    if options.hold_out is not None:
        data, held = split(data, options.hold_out, options.seed)
        if not held.batches:
            raise BadInput("no file has samples that could be left out: --hold-out needs outputs of sdsm microbench")
    fitted = _fitted(options, root, network, data)
    text, notes = platform(root, options.base.name, fitted, network, options.files)
    notes = [*fitted.notes, *notes]
    if all(p.kind == "assumed" for p in fitted.parameters if p.name.startswith(("fault.", "message."))):
        why = f"no page fault and no message was measured: all of theirs are {options.base.name}'s"
        notes.append(f"{why}. Measure them on the cluster (sdsm microbench)")
    for note in notes:
        say(note)

    why = "the network and hosts of this file and what was measured contradict each other, or its own "
    with _checked(options, text, f"{why}properties: ") as replay:
        simulated = replay(fitted.curves)
        links = links_of(ElementTree.fromstring(text), fitted.network)
        if links is not None and (route := network_gate.wrong_route(fitted.curves, links, simulated)):
            raise BadInput(f"{options.base}: {route}")
        write_output(options.output, text)
        flow = replay(fitted.curves, ("--network", "simgrid", "--only", "network")) if fitted.curves else {}
    rows = gate.rows(fitted.checks, simulated)
    score = None if held is None else hold_out.score(fitted, held, network, properties(root), simulated)
    jitter = fitting.jitter(data, fitted.network, fitted.value("local-part.home-share"))
    held_network = network_gate.hold(fitted.curves, fitted.network_owner, simulated, flow)
    for note in (more := network_gate.notes(held_network)):
        say(note)
    files = {r.file: r.format for r in readings}
    _tell(options, fitted, rows, held_network, score, jitter, [*notes, *more], files)
    failures = [gate.failure(row) for row in rows if not row.passes]
    failures += [network_gate.failure(one) for one in held_network if not one.passes]
    for name in sorted({str(one.piece.gives) for one in held_network if not one.passes}):
        if contradiction := contradiction_of_files(data.readings, network, name):
            failures.append(f"{fitted.network_owner}.{name}: {contradiction}")
    for failure in failures:
        say(failure)
    if not rows:
        say("nothing that was read is a cost that the simulator can re-run, so no cost was checked")
    return 1 if failures else 0


def _fitted(options: argparse.Namespace, root: Element, network: Network, data: Data) -> Fit:
    """Fits the data. Round trips under load are left out if they are longer than a measured barrier or lock."""

    def of(chosen: Data) -> Fit:
        return fitting.fit(chosen, network, properties(root), links_of(root, network))

    fitted = of(data)
    if fitted.network_owner != "link":
        return fitted
    try:
        return _as_on_reference(options, root, network, fitted)
    except fitting.CalibrationError as error:
        latency = fitted.extras.get("link.latency")
        without = of(fitting.without_round_trips(data))
        if latency is None or "link.latency" in without.extras:
            raise
        try:
            kept = _as_on_reference(options, root, network, without)
        except fitting.CalibrationError:
            raise error from None
        note = (
            f"{', '.join(latency.sources)}: the least round trip, which was taken under load, is longer than a "
            f"measured barrier or lock allows, so it is left out, and the links' latency is {options.base.name}'s. "
            "A latency test (osu_latency, NetPIPE) would tell it"
        )
        return replace(kept, notes=(*kept.notes, note))


#: Above the messages of a barrier on any reference network, so that no trial is refused; us.
TRIAL_US = 1e5


def _as_on_reference(options: argparse.Namespace, root: Element, network: Network, fitted: Fit) -> Fit:
    """Converts barriers and locks, which were measured on the links, to the reference network."""
    of_trial = fitting.trial_of(fitted, TRIAL_US)
    if of_trial == fitted:
        return fitted
    with _checked(options, platform(root, options.base.name, of_trial, network, options.files)[0]) as replay:
        return fitting.as_on_reference(fitted, of_trial, replay())


@contextlib.contextmanager
def _checked(
    options: argparse.Namespace, text: str, contradiction: str = ""
) -> Iterator[Callable[..., dict[str, float]]]:
    """Yields `sdsm replay` of a platform file of that text, which takes the pieces of curves and further words. Raises
    BadInput if `sdsm check` refuses the file."""
    runner, build = CommandRunner(), options.build.resolve()
    with tempfile.TemporaryDirectory(prefix="sdsm-calibrate-") as folder:
        trial = Path(folder) / "platform.xml"
        trial.write_text(text, encoding="utf-8")
        try:
            platform_check.check(build, trial, runner)
        except BadInput as error:
            advice = "Correct the file, or name another by --base"
            raise BadInput(f"{options.base}: {contradiction}{error} {advice}") from None
        yield functools.partial(gate.replay, build, trial, runner)


def _tell(
    options: argparse.Namespace,
    fitted: Fit,
    rows: Sequence[gate.Row],
    network: Sequence[network_gate.Held],
    score: dict[str, Any] | None,
    jitter: float | None,
    notes: Sequence[str],
    files: dict[str, str],
) -> None:
    document = report.document(fitted, fitted.parameters, str(options.base), files, rows, score, jitter, notes, network)
    if options.report is not None:
        print_or_write(options.report, json_text(document))
    if str(options.report) != "-":
        links = [one for name, one in fitted.extras.items() if name.startswith("link.") and fitted.network_owner == "link"]
        print(report.table([*fitted.parameters, *links], rows))
        if network:
            print(network_gate.table(network))
        shape = fitted.barrier_shape
        print(f"\n{barrier_shape.PROPERTY}: {shape.shape}, {shape.kind}: {shape.how}")
        if score is not None:
            print(hold_out.table(score))
        if jitter is not None:
            print(f"\nRemote faults scattered: simulate with --jitter {jitter:.2f}")
    if options.plot is not None:
        from sdsm.calibrate.plot import draw, draw_network
        from sdsm.plot.style import save

        name = utf8(options.output.name)
        if rows:
            save(draw(rows, f"{name}: microbenchmarks, measured and simulated"), options.plot, "calibration")
        if network:
            save(draw_network(network, f"{name}: messages, measured and simulated"), options.plot, "calibration-network")

