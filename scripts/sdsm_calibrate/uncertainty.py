"""sdsm uncertainty: how far a prediction moves with what is not known exactly about the platform."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from calibration.command_line import Parser, file_name
from calibration.measured_platform import plain
from calibration.platform_file import PlatformFileError, parse, properties
from sdsm_report.commands import CommandFailed, CommandRunner

from sdsm_calibrate.command import ROOT, Unusable, say, seed
from sdsm_calibrate.report import FORMAT, VERSION

TIME_LIMIT_S = 3600.0
#: Tries for one set of parameters that `sdsm check` accepts.
MOST_DRAWS = 50
MOST_SAMPLES = 10_000

DESCRIPTION = """\
Give a band around a simulated time, from the standard errors of the platform's parameters.

Draws N sets of parameters from the report that `sdsm calibrate --report` wrote: each normal about its value with its
standard error, those that were fitted together with their covariance; assumed ones stay. Simulates the trace on each, and
prints the time on the platform itself, the median of all, and the middle 90 %. It tells nothing of errors of the model
itself or of the trace's compute times."""

EPILOG = """\
example:
  sdsm uncertainty laplace.trace --platform machine.xml --report machine.json -N 100 -- --nodes 4 --sequential-time 7.5s

What stands after -- goes to sdsm simulate. Exit status: 0 done, 1 a simulation failed, 2 bad usage or input."""


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 10 <= int(text) <= MOST_SAMPLES):
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 10 to {MOST_SAMPLES}")
    return int(text)


def parser() -> argparse.ArgumentParser:
    p = Parser(
        prog="sdsm uncertainty",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    p.add_argument("trace", type=Path, metavar="TRACE", help="what sdsm trace wrote")
    p.add_argument("-p", "--platform", type=Path, required=True, metavar="PLATFORM", help="what sdsm calibrate wrote")
    p.add_argument("--report", type=Path, required=True, metavar="REPORT", help="what it wrote by --report")
    p.add_argument("-N", "--samples", type=count, default=100, metavar="N", help="simulations (default: 100)")
    p.add_argument("--seed", type=seed, default=1, metavar="N", help="of the drawn parameters (default: 1)")
    p.add_argument("--json", type=file_name, metavar="FILE", help="every drawn set and its time as JSON; - prints it")
    p.add_argument("--build", type=Path, default=ROOT / "build", help="folder of the built commands (default: build/)")
    return p


def read_report(path: Path) -> tuple[dict[str, Mapping[str, Any]], list[tuple[str, str, float]]]:
    """Parameters that have a standard error, by name, and covariances. Raises Unusable, OSError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise ValueError(f"format {document['format']!r}, version {document['version']!r}")
        known = {p["name"]: p for p in document["parameters"] if p["standard_error"] is not None}
        for p in known.values():
            if not all(isinstance(p[k], (int, float)) and math.isfinite(p[k]) for k in ("value", "standard_error")):
                raise ValueError(f"{p['name']} is no number")
        pairs = [(c["of"][0], c["of"][1], float(c["value"])) for c in document["covariance"]]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise Unusable(f"{path}: not what `sdsm calibrate --report` writes ({error}). Calibrate again") from None
    return known, pairs


class Sampler:
    """Draws sets of parameters, each in the unit of the report."""

    def __init__(
        self, known: Mapping[str, Mapping[str, Any]], pairs: Sequence[tuple[str, str, float]], seed: int
    ) -> None:
        self.names = list(known)
        self.means = np.array([float(known[name]["value"]) for name in self.names])
        matrix = np.diag([float(known[name]["standard_error"]) ** 2 for name in self.names])
        for first, second, value in pairs:
            if first in known and second in known:
                i, j = self.names.index(first), self.names.index(second)
                most = math.sqrt(matrix[i, i] * matrix[j, j])
                matrix[i, j] = matrix[j, i] = min(max(value, -most), most)
        self._matrix = matrix
        self._generator = np.random.default_rng(seed)

    def draw(self) -> dict[str, float]:
        """Below zero becomes zero; a share above one becomes one, a slowdown below one, too."""
        values = self._generator.multivariate_normal(self.means, self._matrix, method="eigh")
        drawn = {
            name: max(float(value), 1.0 if name.startswith("memory-bus.") else 0.0)
            for name, value in zip(self.names, values, strict=True)
        }
        if "local-part.home-share" in drawn:
            drawn["local-part.home-share"] = min(drawn["local-part.home-share"], 1.0)
        return drawn


def with_values(platform: ElementTree.Element, drawn: Mapping[str, float], units: Mapping[str, str]) -> str:
    """The platform's text with these properties in place of its own."""
    zone = platform.find("zone")
    for p in [] if zone is None else zone.findall("prop"):
        name = p.get("id", "")
        if name in drawn:
            p.set("value", plain(drawn[name]) + ("" if units[name] == "1" else units[name]))
    head = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    return head + ElementTree.tostring(platform, encoding="unicode") + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    more: list[str] = []
    if "--" in words:
        cut = words.index("--")
        words, more = words[:cut], words[cut + 1 :]
    options = parser().parse_args(words)
    try:
        return _run(options, more)
    except (Unusable, PlatformFileError) as error:
        say(str(error))
        return 2
    except CommandFailed as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"{error.filename}: {error.strerror}. Name a file that is there, or a place where one can be written")
        return 2


def _run(options: argparse.Namespace, more: Sequence[str]) -> int:
    if any(word in ("-p", "--platform", "--json") or word.startswith(("--platform=", "--json=")) for word in more):
        raise Unusable("--platform and --json stand before --, as sdsm uncertainty gives its own to sdsm simulate")
    if not options.trace.is_file():
        raise Unusable(f"{options.trace} is no file. Name a trace")
    if options.json is not None and options.json.resolve() in {
        f.resolve() for f in (options.trace, options.platform, options.report)
    }:
        raise Unusable(f"{options.json} is one of the inputs. Give another file")
    known, pairs = read_report(options.report)
    platform = parse(options.platform)
    given = properties(platform)
    missing = [name for name in known if name not in given]
    if missing or not known:
        raise Unusable(
            f"{options.report} is not of {options.platform}: {', '.join(missing) or 'no standard error in it'}"
        )
    units = {name: str(p["unit"]) for name, p in known.items()}
    runner = CommandRunner()
    sdsm = str(options.build.resolve() / "sdsm")

    def makespan(file: Path) -> float:
        text = runner.run(
            [sdsm, "simulate", str(options.trace), "--platform", str(file), *more, "--json", "-"], TIME_LIMIT_S
        )
        return float(json.loads(text)["makespan_s"])

    nominal = makespan(options.platform)
    sampler = Sampler(known, pairs, options.seed)
    runs = []
    refused = 0
    with tempfile.TemporaryDirectory(prefix="sdsm-uncertainty-") as folder:
        file = Path(folder) / "platform.xml"
        while len(runs) < options.samples:
            drawn = sampler.draw()
            file.write_text(with_values(platform, drawn, units), encoding="utf-8")
            try:
                runner.run([sdsm, "check", str(file)], TIME_LIMIT_S)
            except CommandFailed as error:
                refused += 1
                if refused > MOST_DRAWS * options.samples or (refused >= MOST_DRAWS and not runs):
                    raise Unusable(
                        f"hardly a set of parameters can be: {error}. The standard errors are too large"
                    ) from None
                continue
            runs.append({"makespan_s": makespan(file), "parameters": drawn})
    times = [run["makespan_s"] for run in runs]
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    result = {
        "format": "sdsm-uncertainty",
        "version": 1,
        "makespan_s": nominal,
        "median_s": statistics.median(times),
        "low_5_percent_s": cuts[0],
        "high_95_percent_s": cuts[-1],
        "samples": len(times),
        "refused": refused,
        "seed": options.seed,
        "runs": runs,
    }
    if options.json is not None:
        text = json.dumps(result, indent=1) + "\n"
        if str(options.json) == "-":
            sys.stdout.write(text)
        else:
            options.json.write_text(text, encoding="utf-8")
    if str(options.json) != "-":
        print(f"on the platform itself   {nominal:.6g} s")
        print(f"median of {len(times):<5} draws    {result['median_s']:.6g} s")
        print(f"90 % of the draws        {cuts[0]:.6g} to {cuts[-1]:.6g} s")
        if refused:
            print(f"{refused} further draws were left out: their costs were less than their messages take")
    sys.stdout.flush()
    return 0
