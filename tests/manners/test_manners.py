"""Every command has the same manners: one table of commands, and what must hold for each row.

A row's inputs are files that the command reads; its outputs are options that name a file to write. SDSM_BUILD names
another build folder than build/.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED, HANGS_S, thinned

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SDSM_BUILD", ROOT / "build"))
DATA = ROOT / "tests" / "python" / "data"


@dataclass(frozen=True)
class Command:
    """A call that ends well. `inputs` and `outputs` are words of it: {NAME} is an input, and NAME the file of that name."""

    words: str
    outputs: tuple[str, ...] = ()
    #: Whether the call as it is prints on stdout; with "--json -" it does where there is such an option.
    prints: bool = True
    #: Takes a second of processor time: tests that call it several times do so in the long set.
    is_slow: bool = False
    #: More words, with which it takes so long that it is still there when it is interrupted.
    endless: str | None = None

    @property
    def name(self) -> str:
        words = self.words.split()
        return " ".join(words[: 2 if words[1:2] in (["info"], ["dump"], ["mend"], ["new"], ["p3-score"]) else 1])

    @property
    def inputs(self) -> list[str]:
        return [word[1:-1] for word in self.words.split() if word.startswith("{")]


COMMANDS = [
    Command("trace -q -n 2 --passes 1 -o out.trace -- {./laplace} --size 64 --iterations 2", prints=False),
    Command("trace info {a.trace}", ("--json",)),
    Command("trace dump {a.trace}"),
    Command("trace mend {a.trace} --without-barriers -o out.trace"),
    Command("run -q -n 2 --emulate {m.xml} --trace {a.trace} -- {./laplace} --size 64 --iterations 2",
            ("--json", "--pages", "--order"), prints=False),
    Command("simulate -q -n 2 -p {m.xml} {a.trace}", ("--json", "--pages", "--readings")),
    Command("check {m.xml}"),
    Command("costs"),
    Command("replay {m.xml} --only network", ("--json",)),
    Command("microbench --layouts 2x1 --samples 2 --no-system", ("-o",), is_slow=True, endless="--samples 4096 --layouts 2x1,4x1"),
    Command("calibrate {m.json} --base {one-machine.xml} -o out.xml", ("--report",), is_slow=True),
    Command("calibrate p3-score", ("-o", "--report")),
    Command("platform new --nodes 3 --network 25gbe --from {one-machine.xml}", ("-o",)),
    Command("sweep -q {s.toml} -o swept"),
    Command("plot {r1.json} {r2.json} -o plots"),
    Command("compare {r1.json} {r2.json}", ("--csv", "--json")),
    Command("explain -q -n 2 -p {m.xml} {a.trace}", ("--json",)),
    Command("report -q --no-gains {r2.json}", ("-o",)),
    Command("epcc {epcc.out}", ("--html", "--csv", "--json")),
    Command("validate", prints=False, endless="--results out"),
]  # fmt: skip
ENDLESS = [
    *(command for command in COMMANDS if command.endless is not None),
    Command("trace -q -n 2 -o out.trace -- {./laplace} --size 512 --iterations 1000000", endless=""),
    Command("run -q -n 2 --json out.json -- {./laplace} --size 512 --iterations 1000000", endless=""),
    Command("simulate -q -n 2 -p {m.xml} {long.trace}", endless="--uncertainty 10000"),
    Command("simulate -q -n 2 -p {m.xml} {long.trace} --output out", endless="--uncertainty 10000"),
]
RUN = [command for command in COMMANDS if command.name != "validate"]


def each(commands: list[Command], is_costly: bool = False) -> pytest.MarkDecorator:
    cases = [pytest.param(one, marks=pytest.mark.long if one.is_slow and is_costly else ()) for one in commands]
    return pytest.mark.parametrize("command", cases, ids=lambda command: command.name)


def pairs(by: int, commands: list[Command], others: tuple[str, ...]) -> list:
    """thinned(), with slow commands in the long set alone."""
    slow = [pytest.param(one, other, marks=pytest.mark.long) for one in commands if one.is_slow for other in others]
    return thinned(by, [one for one in commands if not one.is_slow], others) + slow


def program(words: list[str]) -> list[str]:
    return [str(BUILD / "sdsm"), *words]


def start(words: list[str], folder: Path, **how) -> subprocess.CompletedProcess[str]:
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.run(program(words), cwd=folder, text=True, timeout=HANGS_S, check=False, **how)


def through_shell(words: list[str], folder: Path, redirection: str) -> subprocess.CompletedProcess[str]:
    """With streams that subprocess cannot give."""
    call = ["sh", "-c", f'exec "$@" {redirection}', "sh", *program(words)]
    return subprocess.run(call, cwd=folder, text=True, timeout=HANGS_S, check=False, capture_output=True)


def words_of(command: Command, **replaced: str) -> list[str]:
    words = command.words.split()
    return [replaced.get(word[1:-1], word[1:-1]) if word.startswith("{") else word for word in words]


def with_options(command: Command, *options: str) -> list[str]:
    words = words_of(command)
    at = words.index("--") if "--" in words else len(words)
    return [*words[:at], *options, *words[at:]]


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """One of each input."""
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copy(BUILD / "workloads" / "laplace", folder)
    shutil.copy(ROOT / "platforms" / "p3-score.xml", folder / "m.xml")
    shutil.copy(ROOT / "platforms" / "one-machine.xml", folder)
    shutil.copy(DATA / "sdsm" / "microbench.system.json", folder / "m.json")
    shutil.copy(DATA / "epcc" / "v31.syncbench.gcc.2.out", folder / "epcc.out")
    traced = ["--passes", "1", "--", "./laplace", "--size", "64", "--iterations", "2"]
    for threads, trace, result in ((1, "r1.trace", "r1.json"), (2, "a.trace", "r2.json")):
        for words in (
            ["trace", "-q", "-n", str(threads), "-o", trace, *traced],
            ["simulate", "-q", trace, "-p", "m.xml", "-n", str(threads), "--json", result],
        ):
            done = start(words, folder)
            assert done.returncode == 0, done.stderr
    long = ["--passes", "1", "--", "./laplace", "--size", "256", "--iterations", "100"]
    start(["trace", "-q", "-n", "2", "-o", "long.trace", *long], folder)
    (folder / "s.toml").write_text('traces = ["a.trace"]\nplatform = "m.xml"\nnodes = 2\nplacement = ["as-asked", "block"]\n')
    # Standard errors, which --uncertainty draws from.
    start(["calibrate", "m.json", "--base", "one-machine.xml", "-o", "m.xml"], folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def is_one_line(text: str) -> bool:
    return text.startswith("sdsm: ") and text.count("\n") == 1


def is_refused(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 2, done.stderr
    assert is_one_line(done.stderr), done.stderr
    assert done.stdout == ""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@each(COMMANDS)
def test_help_is_printed_whatever_else_is_wrong_and_a_full_disk_is_reported(command, tmp_path):
    words = [*command.name.removesuffix(" p3-score").split(), "--help"]
    done = start(words, tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert "Exit status" in done.stdout
    with open("/dev/full", "w") as full:
        done = start(words, tmp_path, stdout=full)
    assert done.returncode == 1
    assert is_one_line(done.stderr), done.stderr


@each(COMMANDS)
def test_an_option_that_there_is_not_is_bad_usage(command, folder):
    before = contents(folder)
    done = start(with_options(command, "--frobnicate"), folder)
    is_refused(done)
    assert f"sdsm {command.name.split()[0]}" in done.stderr and "--help" in done.stderr
    assert contents(folder) == before


@each(COMMANDS)
def test_an_empty_name_is_bad_input(command, folder):
    before = contents(folder)
    words = words_of(command)
    places = [i for i, word in enumerate(command.words.split()) if word.startswith(("{", "out."))]
    calls = [[*words[:at], "", *words[at + 1 :]] for at in places]
    calls += [with_options(command, option, "") for option in command.outputs]
    for call in calls:
        is_refused(start(call, folder))
    assert contents(folder) == before


@each([command for command in RUN if command.inputs])
def test_an_input_that_there_is_not_is_bad_input(command, folder):
    for name in command.inputs:
        done = start(words_of(command, **{name: "no-such-file"}), folder)
        is_refused(done)
        assert "no-such-file" in done.stderr


@each([command for command in RUN if command.inputs])
def test_no_output_takes_the_place_of_an_input_whatever_it_is_called(command, folder):
    (folder / "link").symlink_to("target")
    outputs = [*command.outputs, *(["-o"] if " -o out." in command.words else [])]
    for name in command.inputs:
        before = (folder / name).read_bytes()
        (folder / "target").unlink(missing_ok=True)
        os.link(folder / name, folder / "target")
        for option in outputs:
            # A link to another name of the same file.
            call = with_options(command, option, "link")
            if option == "-o" and "-o" in words_of(command):
                call = ["link" if word.startswith("out.") else word for word in words_of(command)]
            is_refused(start(call, folder))
            assert (folder / name).read_bytes() == before


@each([command for command in COMMANDS if len(command.outputs) > 1])
def test_two_outputs_are_two_files(command, folder):
    (folder / "link").symlink_to("two")
    for one, other in combinations(command.outputs, 2):
        for names in (("two", "./two"), ("two", "link"), ("-", "-")):
            if names == ("-", "-") and "-o" in (one, other):
                continue  # a platform's name
            is_refused(start(with_options(command, one, names[0], other, names[1]), folder))
    assert not (folder / "two").exists()


@each([command for command in COMMANDS if command.outputs])
def test_an_output_that_can_have_no_place_is_reported_before_the_work(command, folder):
    (folder / "taken").mkdir()
    for option in command.outputs:
        for name in ("taken", "nowhere/result"):
            done = start(with_options(command, option, name), folder)
            is_refused(done)
            assert name.split("/")[0] in done.stderr


@each([command for command in RUN if command.outputs], is_costly=True)
def test_a_full_disk_fails_the_run_and_leaves_what_was_there(command, folder):
    for option in command.outputs:
        result = folder / "result"
        result.write_text("old")
        done = start(with_options(command, option, "/dev/full"), folder)
        assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith("sdsm: /dev/full: "), done.stderr

        def full() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

        if not command.name.startswith(("run", "microbench", "calibrate", "explain")):  # which need larger temporary files
            done = start(with_options(command, option, "result"), folder, preexec_fn=full)
            full_place = "platform.xml: " if command.name == "platform new" else "sdsm: result: "  # it checks one of two nodes first
            assert done.returncode == 1 and full_place in done.stderr, done.stderr
            assert result.read_text() == "old"
    assert not list(folder.glob("**/*.part"))


@each([command for command in RUN if command.prints], is_costly=True)
def test_what_is_printed_is_not_lost_without_a_word(command, folder):
    calls = [words_of(command)]
    calls += [with_options(command, option, "-") for option in command.outputs if option in ("--json", "--csv", "--report")]
    for call in calls:
        with open("/dev/full", "w") as full:
            done = start(call, folder, stdout=full)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("sdsm: ") and "Traceback" not in done.stderr, done.stderr
        closed = through_shell(call, folder, "<&- >&-")
        assert closed.returncode == 1
        assert closed.stderr.splitlines()[-1].startswith("sdsm: ") and "Traceback" not in closed.stderr, closed.stderr


@each([command for command in RUN if command.outputs], is_costly=True)
def test_an_output_that_cannot_take_its_name_leaves_nothing_and_no_other_file_is_lost(command, folder):
    (folder / "result.part").write_text("another's")
    before = contents(folder)
    for option in command.outputs:
        environment = dict(os.environ) | {"LD_PRELOAD": str(ASKED / "no_rename.so")}
        done = start(with_options(command, option, "result"), folder, env=environment)
        assert done.returncode == 1 and "No space left on device" in done.stderr, done.stderr
        assert contents(folder) == before
    assert start(with_options(command, command.outputs[0], "result"), folder).returncode == 0
    assert (folder / "result.part").read_text() == "another's"


@each([command for command in RUN if command.outputs], is_costly=True)
def test_a_pipe_behind_dev_stdout_is_an_output(command, folder):
    for option in command.outputs:
        done = start(with_options(command, option, "/dev/stdout"), folder)
        assert done.returncode == 0, done.stderr
        assert done.stdout


@each([command for command in RUN if command.inputs], is_costly=True)
def test_names_that_are_not_utf_8_are_names(command, folder):
    names = {name: f"./\udcff{name.removeprefix('./')}" for name in command.inputs}
    for old, new in names.items():
        shutil.copy(folder / old, folder / new)
    for option in command.outputs:
        for where in ("\udcfe.result", "result", *(["-"] if option != "-o" else [])):
            words = words_of(command, **names)
            at = words.index("--") if "--" in words else len(words)
            done = subprocess.run(program([*words[:at], option, where, *words[at:]]), cwd=folder, capture_output=True, timeout=HANGS_S)
            assert done.returncode == 0, done.stderr
            text = done.stdout if where == "-" else (folder / where).read_bytes()
            if option in ("--json", "--report"):
                json.loads(text[text.index(b"{") :].decode())  # behind what the program prints


@pytest.mark.parametrize(
    ("command", "closed"), pairs(5, [command for command in RUN if command.outputs], ("<&- >&- 2>&-", "<&- >&-", "<&-", ">&-", "2>&-")),
    ids=lambda one: getattr(one, "name", one),
)  # fmt: skip
def test_closed_streams_cost_no_file(command, closed, folder):
    whole = with_options(command, command.outputs[0], "whole")
    assert start(whole, folder).returncode == 0
    # The program of sdsm run fails without a stdout.
    redirections = closed if command.prints else " ".join(word for word in closed.split() if word != ">&-")
    through_shell(with_options(command, command.outputs[0], "closed"), folder, redirections)
    size = (folder / "whole").stat().st_size
    # Times and names differ, not what is there.
    assert 0.5 * size < (folder / "closed").stat().st_size < 2 * size


@pytest.mark.parametrize(("command", "redirection"), pairs(2, RUN, ("2>&-", "2>/dev/full")), ids=lambda one: getattr(one, "name", one))
def test_what_cannot_be_said_changes_no_status(command, redirection, folder):
    assert through_shell(words_of(command), folder, redirection).returncode == 0
    assert through_shell(with_options(command, "--frobnicate"), folder, redirection).returncode == 2


def marked(mark: str) -> list[int]:
    """Processes that have the mark in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


@each([command for command in RUN if command.outputs])
def test_an_output_that_waits_for_its_reader_can_be_interrupted(command, folder):
    os.mkfifo(folder / "pipe")
    running = subprocess.Popen(
        program(with_options(command, command.outputs[0], "pipe")), cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        limit = time.monotonic() + HANGS_S
        while Path(f"/proc/{running.pid}/wchan").read_text() != "wait_for_partner" and time.monotonic() < limit:
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(HANGS_S) in (1, -signal.SIGINT)
    finally:
        running.kill()


@pytest.mark.parametrize(("command", "number"), thinned(3, ENDLESS, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)), ids=lambda one: one.name)
def test_an_interruption_leaves_nothing_behind(command, number, folder):
    scratch = folder / "scratch"
    scratch.mkdir()
    before = contents(folder)
    mark = f"SDSM_MANNERS={uuid.uuid4()}"
    environment = dict(os.environ) | dict([mark.split("=")]) | {"TMPDIR": str(scratch)}
    words = [*with_options(command, *(command.endless or "").split())]
    # As a terminal's foreground job: a background one ignores Ctrl-C, and under nohup all ignore SIGHUP.
    running = subprocess.Popen(
        program(words), cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # fmt: skip
    try:
        limit = time.monotonic() + HANGS_S
        while len(marked(mark)) < 2 and running.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        time.sleep(0.3)
        assert running.poll() is None, running.stderr.read()
        running.send_signal(number)
        errors = running.communicate(timeout=HANGS_S)[1]
        assert running.returncode in (1, -number)
        assert "Traceback" not in errors, errors
        limit = time.monotonic() + HANGS_S
        while marked(mark) and time.monotonic() < limit:
            time.sleep(0.05)
        assert not marked(mark)
        left = {name for name in contents(folder) if name not in before}
        assert not {name for name in left if not (command.name == "validate" and name.startswith("out/"))}
        assert not any(scratch.iterdir())
    finally:
        for process in marked(mark):
            os.kill(process, signal.SIGKILL)
