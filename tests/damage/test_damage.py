"""Damaged inputs of every command: no signal, no traceback, nothing above 10 s or 1 GB, and a refusal is a line of ours.

A case has one input damaged: bytes, lines, or a value of its JSON or XML. Commands in Python are called in this process, the
others in one of their own; the readers of traces, orders and platform files have campaigns in C++, which the last test
calls with the others' seed. SDSM_SEED=N runs other cases.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import resource
import shutil
import subprocess
import threading
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from benchmark_files import DESCRIBED, EPCC, OTHERS, damaged
from run_results import native, simulation
from sdsm.base.published import FOLDER
from sdsm.calibrate import command as calibrate
from sdsm.epcc import command as epcc
from sdsm.plot import command as plot

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SEED = int(os.environ.get("SDSM_SEED", "0"))
TIME_LIMIT_S = 10.0
HANG_S = 300.0
MEMORY_LIMIT_KB = 1 << 20

#: What a value of a document may become.
VALUES: tuple[Any, ...] = (
    0, 1, -1, 2, 255, 65_536, 2**31, 2**32, 2**53, 2**63, 2**64, 10**30, 0.5, -0.0, 1e-320, 1e-9, 1e9, 1e300, 1e308, "", "x", "1", "2x1",
    "0x0", "99999x1", "é", "\udcff", "\u2028", "x" * 3000, "$x$", "--", None, True, False, [], {}, [[]], [1, 2], [1e300, 1e-300], {"a": 1},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] + [found for key, one in inner for found in places(one, (*path, key))]


def changed(document: Any, dice: random.Random) -> Any:
    """Another value in one place or a few, or none there, or the same in all of a list."""
    document = json.loads(json.dumps(document))
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        path = dice.choice(places(document))
        if not path:
            continue
        *outer, last = path
        holder = document
        for key in outer:
            holder = holder[key]
        value = dice.choice(VALUES)
        kind = dice.randrange(8)
        if kind == 0:
            del holder[last]
        elif kind == 1 and isinstance(holder, list):
            holder[:] = [value] * dice.randrange(1, 5)
        elif kind == 2 and isinstance(holder[last], (int, float)) and not isinstance(holder[last], bool):
            holder[last] *= dice.choice((-1, 0, 1e-300, 1e-9, 1.0001, 1e9, 1e300))
        elif kind == 3 and isinstance(holder, dict):
            holder[dice.choice(("a", "", "kind", "é", *holder))] = holder[last]
        else:
            holder[last] = value
    return document


def changed_xml(text: str, dice: random.Random) -> str:
    """Another value of an attribute, or an element twice or not at all."""
    values = [match.span(1) for match in re.finditer(r'="([^"]*)"', text)]
    begin, end = dice.choice(values)
    value = dice.choice((*map(str, VALUES[:21]), "", "1e999us", "nanus", "-1us", "1", "1us", "x", "node-0", "99999", "0Mbps", "&#0;", "&amp;", "--"))
    if dice.randrange(3) == 0:
        lines = text.split("\n")
        at = dice.randrange(len(lines))
        lines[at : at + 1] = [] if dice.randrange(2) else [lines[at]] * dice.choice((2, 2, 2, 2000))
        return "\n".join(lines)
    return text[:begin] + value + text[end:]


def bytes_of(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def dice_of(number: int) -> random.Random:
    return random.Random(f"{SEED} {number}")


# Commands in Python.


def one_document(dice: random.Random) -> tuple[bytes, str]:
    """A damaged input of a command in Python, and which command reads it."""
    kind = dice.randrange(6)
    if kind == 0:
        results = (simulation(2, 5.0), native(2, 4.0, 5.0, 8.0), simulation(1, 8.0),
                   simulation(2, 5.0, uncertainty={"median_s": 5.0, "low_5_percent_s": 4.0, "high_95_percent_s": 6.0}))  # fmt: skip
        text = json.dumps(changed(dice.choice(results), dice))
        return bytes_of(damaged(text, dice) if dice.randrange(4) == 0 else text), "plot"
    if kind == 1:
        file = dice.choice([one for one in OTHERS if one.suffix == ".json"])
        return bytes_of(json.dumps(changed(json.loads(file.read_text()), dice))), "calibrate"
    if kind == 2:
        return bytes_of(damaged(dice.choice([*OTHERS, *DESCRIBED, *EPCC]).read_text(), dice)), "calibrate"
    if kind == 3:
        platform = (ROOT / "platforms" / dice.choice(("one-machine.xml", "p3-score.xml"))).read_text()
        return bytes_of(changed_xml(platform, dice) if dice.randrange(2) else damaged(platform, dice)), "base"
    if kind == 4:
        return bytes_of(damaged(dice.choice(EPCC).read_text(), dice)), "epcc"
    return bytes_of(damaged(dice.choice(sorted(FOLDER.glob("*.csv"))).read_text(), dice)), "published"


def call(reads: str, content: bytes, folder: Path, dice: random.Random) -> tuple[int, str]:
    """Exit status and stderr."""
    given = folder / "given"
    given.write_bytes(content)
    measured = str(ROOT / "tests/python/data/sdsm/microbench.system.json")
    if reads == "plot":
        more = ["--sequential-time", "8s"] if dice.randrange(2) else []
        main, words = plot.main, [str(given), "-o", str(folder / "plots"), "--by", dice.choice(("threads", "nodes")), *more]
    elif reads == "epcc":
        draws = ["--plots", str(folder / "plots")] if dice.randrange(20) == 0 else ["--json", "-"]
        main, words = epcc.main, [str(given), *draws]
    elif reads == "published":
        # As any of the tables.
        tables = folder / "tables"
        shutil.copytree(FOLDER, tables, dirs_exist_ok=True)
        first = content.split(b"\n")[0]
        same = [one.name for one in FOLDER.glob("*.csv") if one.read_bytes().startswith(first)] or ["scash_faults.csv"]
        (tables / same[0]).write_bytes(content)
        main, words = calibrate.main, ["p3-score", "--published", str(tables)]
    else:
        files = [measured, "--base", str(given)] if reads == "base" else [str(given), *([measured] if dice.randrange(2) else [])]
        draws = ["--plot", str(folder / "plots")] if dice.randrange(20) == 0 else ["--report", "-"]
        layout = dice.choice(([], [], ["--layout", "2x1"], ["--hold-out", "0.5"]))
        main, words = calibrate.main, [*files, *layout, "-o", str(folder / "out.xml"), *draws]
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(io.StringIO()):
        try:
            status = main(words)
        except SystemExit as error:
            status = int(error.code or 0)
    return status, said.getvalue()


@pytest.mark.parametrize("cases", [25, pytest.param(10_000, marks=pytest.mark.long)])
def test_commands_in_python_refuse_a_damaged_input_or_do_their_work(cases, tmp_path):
    statuses = {0: 0, 1: 0, 2: 0}
    for number in range(cases):
        dice = dice_of(number)
        content, reads = one_document(dice)
        begun = time.process_time()
        try:
            status, said = call(reads, content, tmp_path, dice)
            assert status in statuses
            assert status == 0 or said.splitlines()[-1].startswith("sdsm: ")
        except BaseException as error:  # whatever it is, the input is what one needs to see
            kept = tmp_path / f"case-{number}"
            kept.write_bytes(content)
            raise AssertionError(f"case {number} of seed {SEED}, for {reads}, in {kept}: {error!r}") from error
        assert time.process_time() - begun < TIME_LIMIT_S, f"case {number} of seed {SEED}, for {reads}"
        statuses[status] += 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MEMORY_LIMIT_KB
    print(f"{cases} cases by exit status: {statuses}")
    assert statuses[0] > cases / 20 and statuses[2] > cases / 4


# Commands as processes.


SWEEP = """
traces = ["a.trace"]
platform = "m.xml"
nodes = 2
placement = ["block", "as-asked"]
find = "placement at which time is least"
[set]
"network.bandwidth" = "1Gbps"
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """A trace, an order and a platform file of a small program; traces that were damaged under right checksums."""
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copy(BUILD / "workloads" / "laplace", folder)
    shutil.copy(ROOT / "platforms" / "p3-score.xml", folder / "m.xml")
    program = ["--", "./laplace", "--size", "64", "--iterations", "2"]
    many = ["--", str(BUILD / "tests" / "traced" / "constructs")]
    locks = ["--", str(BUILD / "tests" / "memory" / "counted"), "atomics"]
    for words in (["trace", "-q", "-n", "2", "--passes", "1", "-o", "a.trace", *program],
                  ["trace", "-q", "-n", "4", "--passes", "1", "-o", "b.trace", *many],
                  ["trace", "-q", "-n", "3", "--passes", "1", "-o", "c.trace", *locks],
                  ["run", "-q", "-n", "2", "--order", "a.order", *program],
                  ["simulate", "a.trace", "-p", "m.xml", "-n", "2", "-q", "--json", "a.json"]):  # fmt: skip
        subprocess.run([BUILD / "sdsm", *words], cwd=folder, check=True, capture_output=True, timeout=600)
    (folder / "a.toml").write_text(SWEEP)
    return folder


def forged(folder: Path, is_long: bool) -> list[tuple[str, str]]:
    """Makes traces in `folder`/forged; their names and numbers of threads."""
    (folder / "forged").mkdir()
    environment = os.environ | {"SDSM_FORGED": str(folder / "forged"), "SDSM_LONG": str(int(is_long))}
    command = [str(BUILD / "tests" / "trace_damage_test"), "[.forged]"]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=3000)
    found = sorted((folder / "forged").iterdir(), key=lambda path: int(path.stem.split("-")[0]))
    return [(str(path.relative_to(folder)), path.stem.split("-")[1]) for path in found]


class Tally:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.statuses: dict[int, int] = {}

    def check(self, words: list[str], about: str, is_ours: bool = True) -> None:
        """Runs a command. is_ours: no program runs whose status or word it could be."""
        begun = time.monotonic()
        with (self.folder / "errors").open("w+b") as errors:
            process = subprocess.Popen(
                [str(BUILD / "sdsm"), *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )
            # Ends what hangs, so that the test does not; a busy machine makes none hang.
            end = threading.Timer(HANG_S, process.kill)
            end.start()
            _, waited, usage = os.wait4(process.pid, 0)
            end.cancel()
            process.returncode = os.waitstatus_to_exitcode(waited)
            errors.seek(0)
            said = errors.read().decode(errors="replace")
        reported = f"{about}: sdsm {words} ended with {process.returncode} after {time.monotonic() - begun:.1f} s and {usage.ru_maxrss} kB:\n{said[-500:]}"
        assert process.returncode >= 0 and "Traceback" not in said, reported
        assert usage.ru_utime + usage.ru_stime < TIME_LIMIT_S and usage.ru_maxrss < MEMORY_LIMIT_KB, reported
        if is_ours and process.returncode != 0:
            assert process.returncode in (1, 2) and said.startswith("sdsm: "), reported
        self.statuses[process.returncode] = self.statuses.get(process.returncode, 0) + 1


READERS = (
    ("a.trace", "simulate given -p m.xml -n 2 -q --json -"),
    ("a.trace", "trace info given"),
    ("a.trace", "trace dump given"),
    ("a.trace", "trace mend given -o mended.trace --pad"),
    ("a.trace", "trace mend given -o mended.trace --without-barriers"),
    ("a.order", "simulate a.trace -p m.xml -n 2 -q --order given"),
    ("m.xml", "simulate a.trace -p given -n 2 -q --network simgrid"),
    ("m.xml", "simulate a.trace -p given -n 2 -q --uncertainty 10"),
    ("m.xml", "check given"),
    ("m.xml", "replay given --only network"),
    ("a.trace", "simulate given -p p3-jiajia -n 2 -q --protocol jiajia"),
    ("a.trace", "explain given -p m.xml -n 2 -q --no-gains --json -"),
    ("a.json", "compare a.json given --json -"),
    ("a.toml", "sweep given -q -o swept"),
)  # fmt: skip
MORE = ("", "", "--network simgrid", "--placement block", "--placement first-touch", "--pages -", "--region whole", "--jitter 0.5", "--atomics lock")


@pytest.mark.parametrize(("cases", "is_long"), [(60, False), pytest.param(3_000, True, marks=pytest.mark.long)])
def test_commands_refuse_a_damaged_file_or_do_their_work(cases, is_long, inputs, tmp_path):
    folder = shutil.copytree(inputs, tmp_path / "work")
    tally = Tally(folder)
    for number, (trace, threads) in enumerate(forged(folder, is_long)):
        for words in (f"simulate {trace} -p m.xml -n {threads} -q {dice_of(number).choice(MORE)}", f"trace dump {trace}"):
            tally.check(words.split(), f"forged trace {number} of seed {SEED}")
    for number in range(cases):
        dice = dice_of(number)
        name, words = dice.choice(READERS)
        content = (inputs / name).read_bytes()
        if name == "m.xml" and dice.randrange(3):
            content = bytes_of(changed_xml(content.decode(), dice))
        elif name == "a.json" and dice.randrange(3):
            content = bytes_of(json.dumps(changed(json.loads(content), dice)))
        else:
            content = damaged(content.decode("latin-1"), dice).encode("latin-1", errors="replace")
        (folder / "given").write_bytes(content)
        tally.check(words.split(), f"case {number} of seed {SEED}")
    print(f"{sum(tally.statuses.values())} calls by exit status: {tally.statuses}")
    assert tally.statuses[0] > 10 and tally.statuses[2] > cases / 4


COMMANDS = ("trace", "trace info", "trace dump", "trace mend", "run", "simulate", "check", "costs", "replay", "microbench", "calibrate", "plot", "epcc",
            "compare", "explain", "sweep", "platform", "platform new")  # fmt: skip
#: Whose large values would rightly take long, or which reach for other machines.
SLOW = ("--repeat", "--samples", "--uncertainty", "--passes", "--hosts", "--launcher", "--timeout", "--build", "--layouts")
WORDS = (
    "", "-", "--", "0", "1", "2", "-1", "1.5", "1e999", "99999999999999999999", "nan", "1us", "1GB", "2x1", "x=y", "fault.*=x0.5", "=",
    "a.trace", "m.xml", "a.order", "nowhere", ".", "/dev/null", "/dev/full", "é", "\udcff", "%s%n", "$(x)", "x" * 5000, "p3-score", "block",
    "2147483648", "4294967296", "65537", "4097",
)  # fmt: skip


def options_of(command: str) -> list[str]:
    done = subprocess.run([BUILD / "sdsm", *command.split(), "--help"], capture_output=True, text=True, check=True, timeout=600)
    return sorted(set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.stdout)) - set(SLOW))


@pytest.mark.parametrize("cases", [20, pytest.param(3_000, marks=pytest.mark.long)])
def test_any_command_line_is_refused_or_done(cases, inputs, tmp_path):
    folder = shutil.copytree(inputs, tmp_path / "work")
    tally = Tally(folder)
    known: dict[str, list[str]] = {}
    for number in range(cases):
        dice = dice_of(number)
        command = dice.choice(COMMANDS)
        known.setdefault(command, options_of(command))
        words = [dice.choice([*known[command], *WORDS] if dice.randrange(2) else WORDS) for _ in range(dice.randrange(6))]
        words = [word for word in words if word != "--"]
        if command == "microbench":
            words += ["--build", "nowhere"]
        if command in ("run", "trace"):
            words += ["--", "./laplace", "--size", "16", "--iterations", "1"][: dice.choice((0, 1, 2, 6))]
        tally.check([*command.split(), *words], f"case {number} of seed {SEED}", is_ours=command not in ("run", "trace"))
    print(f"{cases} calls by exit status: {tally.statuses}")
    assert tally.statuses[2] > cases / 2


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_argument_beside_options_ends_the_command(command, tmp_path):
    """In trace mend, whose options were a group of CLI11's, it was looked at for ever."""
    done = subprocess.run(
        [BUILD / "sdsm", *command.split(), "nowhere", "", "-o", "x"], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG_S
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr


# The readers in C++.

READ_IN_CPP = (("trace_damage_test",), ("trace_order_test", "damaged*"), ("platform_file_test", "a damaged platform*"))


@pytest.mark.long
def test_a_million_damaged_traces_orders_and_platforms_are_read_or_refused():
    """ctest has these campaigns at a fiftieth of their length."""
    seen = 0
    for program, *cases in READ_IN_CPP:
        command = [str(BUILD / "tests" / program), *cases]
        environment = os.environ | {"SDSM_LONG": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20_000)
        assert done.returncode == 0, done.stdout[-3000:]
        seen += sum(int(refused) + int(read) for refused, read in re.findall(r"(\d+) refused, (\d+) read", done.stdout))
    print(f"{seen} damaged files")
    assert seen >= 1_000_000
