"""Options of the protocols, in all pairs, under each protocol: `sdsm simulate` and `sdsm run` play them, or say in one line
which of them does not go, and what there is instead."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess

import pytest

from tests.traces import traced
from tests.validation.native_runs import BUILD, COMMAND, MEMORY_PROGRAMS, output_of

PROGRAM = (MEMORY_PROGRAMS / "straddling", "block")
PLATFORM = {"hardware": "v1280", "jiajia": "p3-jiajia"}

OPTIONS = (
    *("--scope openmp", "--scope lock", "--home-migration", "--adaptive-write-detection"),
    *("--invalidation all", "--invalidation changed", "--prefetch 3", "--page-size 16KiB", "--page-size 64KiB"),
    *("--atomics lock", "--atomics home", "--placement block", "--order order", "--pages pages", "--timeline timeline.json"),
)
PAIRS = [pair for pair in itertools.combinations(OPTIONS, 2) if pair[0].split()[0] != pair[1].split()[0]]
COMBINATIONS = [(), *((option,) for option in OPTIONS), *PAIRS]

#: Of jiajia alone.
OWN = {"--scope", "--home-migration", "--adaptive-write-detection"}
#: Of pages, which hardware does not have.
OF_PAGES = {"--prefetch", "--invalidation", "--page-size", "--atomics", "--placement", "--order", "--pages"}


def problems(command: str, protocol: str, given: tuple[str, ...]) -> list[str]:
    """What the line has to say, one of these; none: it is played."""
    names = {option.split()[0] for option in given}
    found = []
    if protocol != "jiajia":
        found += [f"{name} is of protocol jiajia, but the protocol is {protocol}" for name in names & OWN]
    if protocol == "hardware":
        if command == "run":
            return ["'hardware' is not played here"]
        found += [f"{name} has no meaning under hardware" for name in names & OF_PAGES]
    if protocol == "jiajia":
        found += ["--invalidation is not played under jiajia"] if "--invalidation" in names else []
        found += ["--atomics home is not "] if "--atomics home" in given else []
        found += ["--order: under jiajia"] if "--order" in names else []
    if protocol == "home-open" and "--invalidation changed" in given:
        found.append("under home-open nobody knows what homes write")
    if {"--prefetch", "--order"} <= names:
        found.append("--prefetch and --order do not go together")
    for name, verb in (("--order", "is of"), ("--pages", "names")):
        if {name, "--page-size"} <= names:
            found.append(f"{name} {verb} pages of 4096 bytes")
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("combinations")
    shutil.copy(traced(2, *PROGRAM), folder / "program.trace")
    for protocol in ("scash", "home-open"):
        order = ("--order", folder / f"{protocol}.order")
        output_of(COMMAND, "-q", "-n", 2, "--protocol", protocol, *order, "--", *PROGRAM)
    return folder


def said(folder, command: str, protocol: str, given: tuple[str, ...]) -> subprocess.CompletedProcess:
    own = [] if "--protocol" in " ".join(given) else ["--protocol", protocol]
    order = f"{protocol}.order" if command == "simulate" else "made.order"
    words: list[object] = [order if word == "order" else word for word in " ".join(given).split()]
    words = [*own, "-q", "--json", "result.json", *words]
    if command == "simulate":
        nodes = ("-n", 1, "-t", 2) if protocol == "hardware" else ("-n", 2)
        words = ["program.trace", "-p", PLATFORM.get(protocol, "p3-score"), *nodes, *words]
    else:
        words = ["-n", 2, *words, "--", *PROGRAM]
    call = [str(word) for word in (BUILD / f"sdsm-{command}", *words)]
    return subprocess.run(call, capture_output=True, text=True, timeout=600, check=False, cwd=folder)


@pytest.mark.parametrize("command", ["simulate", "run"])
@pytest.mark.parametrize("protocol", ["scash", "home-open", "jiajia", "hardware"])
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in (1, 2))])
def test_each_pair_of_options_is_played_or_refused_by_name(folder, command, protocol, part):
    """Of all pairs a third each."""
    wrong = []
    for given in COMBINATIONS[part::3]:
        expected = problems(command, protocol, given)
        if not expected and command == "simulate" and "--order order" in given and len(given) > 1:
            continue  # it is of a run with neither
        done = said(folder, command, protocol, given)
        if expected:
            lines = done.stderr.splitlines()
            refused = done.returncode == 2 and len(lines) == 1 and any(problem in lines[0] for problem in expected)
            if not refused or not any(word in lines[0] for word in ("Leave", "Give", "give", "Use")):
                wrong.append(f"{' '.join(given)}: {done.returncode} {done.stderr} instead of {expected}")
        elif done.returncode != 0 or json.loads((folder / "result.json").read_text())["protocol"] != protocol:
            wrong.append(f"{' '.join(given)}: {done.returncode} {done.stderr}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("command", ["simulate", "run"])
@pytest.mark.parametrize(
    ("given", "there_is"),
    [
        ("--protocol treadmarks", "scash, home-open, jiajia"),
        ("--protocol jiajia --scope page", "openmp, lock"),
        ("--invalidation some", "all, changed"),
        ("--prefetch many", "0 to 14"),
        ("--page-size 12KiB", "4096"),
        ("--placement anywhere", "as-asked, round-robin, block, first-touch"),
    ],
)
def test_unknown_names_are_refused_with_what_there_is(folder, command, given, there_is):
    done = said(folder, command, "scash", (given,))
    assert done.returncode == 2
    assert there_is in done.stderr and len(done.stderr.splitlines()) == 1
