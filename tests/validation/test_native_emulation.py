"""Does the emulated cluster keep its promises? Times are bounded from below only: a busy machine makes anything later,
but nothing may come earlier than the emulated network and processors allow."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.traces import traced
from tests.validation.native_runs import ASKED, BUILD

SOURCE = BUILD.parent
PLATFORM = SOURCE / "platforms" / "p3-score.xml"
LAPLACE = BUILD / "workloads" / "laplace"
PROGRAM = (LAPLACE, "--impl", "2", "--size", "64", "--iterations", "5", "--no-check")

#: Two cables and a switch of 100 Mbit/s, 5 us each: 32 bytes are 110 on the wire; 4096 in three frames 4330, the first 1538.
BYTE_S = 8 / 100e6
REQUEST_S = 2 * 110 * BYTE_S + 2 * 5e-6
PAGE_S = 4330 * BYTE_S + 1538 * BYTE_S + 2 * 5e-6


def run(command: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(a) for a in (BUILD / f"sdsm-{command}", *arguments)], capture_output=True, text=True, timeout=600)


def executed(tmp_path: Path, *options: object, nodes: int = 2) -> dict:
    path = tmp_path / "run.json"
    done = run("run", "--quiet", "-n", nodes, "--emulate", PLATFORM, *options, "--json", path, "--", *PROGRAM)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())


@pytest.fixture()
def trace() -> Path:
    return traced(2, *PROGRAM)


def test_no_page_comes_before_its_frames_have_crossed_the_network(tmp_path):
    for thread in executed(tmp_path)["threads"]:
        for kind in ("RUMR", "WUMR"):
            assert thread["time_s"]["fault"][kind] >= thread["faults"][kind] * (REQUEST_S + PAGE_S)


def on_wire(payload: int) -> tuple[int, int]:
    """Bytes of a message and of its first frame: 78 more for each frame of 1460."""
    return payload + 78 * -(-payload // 1460), min(payload, 1460) + 78


def link_s(payload: int) -> float:
    whole, first = on_wire(payload)
    return (whole + first) * BYTE_S + 2 * 5e-6


@pytest.mark.parametrize("page", [4096, 65536])
def test_jiajias_messages_have_the_models_lengths_on_the_network(tmp_path, page):
    """A request has 40 bytes, a reply 44 and the page. All diffs of an interval go to their homes as few long messages."""
    emulated = executed(tmp_path, "--protocol", "jiajia", "--page-size", page)
    assert any(thread["faults"]["WIVR"] + thread["faults"]["RIVR"] > 0 for thread in emulated["threads"])
    for thread in emulated["threads"]:
        for kind in ("RUMR", "RIVR", "WUMR", "WIVR"):
            least_s = thread["faults"][kind] * (link_s(40) + link_s(44 + page))
            assert thread["time_s"]["fault"][kind] >= least_s


@pytest.mark.parametrize("protocol", ["scash", "jiajia"])
def test_counts_are_those_of_a_run_without_emulation(tmp_path, trace, protocol):
    path = tmp_path / "plain.json"
    plainly = ("run", "--quiet", "--protocol", protocol, "-n", 2, "--json", path)
    assert run(*plainly, "--", *PROGRAM).returncode == 0
    emulated = executed(tmp_path, "--protocol", protocol, "--trace", trace, "--sequential-time", "20ms")
    for plain, thread in zip(json.loads(path.read_text())["threads"], emulated["threads"], strict=True):
        assert {name: thread[name] for name in ("faults", "messages_by_kind", "diffs")} == {
            name: plain[name] for name in ("faults", "messages_by_kind", "diffs")
        }


@pytest.mark.parametrize("protocol", ["scash", "jiajia"])
def test_computing_takes_as_long_as_the_emulated_processors_would(tmp_path, trace, protocol):
    emulated = executed(tmp_path, "--protocol", protocol, "--trace", trace, "--sequential-time", "0.4s")
    assert emulated["makespan_s"] >= 0.2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--emulate", "nowhere.xml"), "nowhere.xml"),
        (("--emulate", "/tmp"), "/tmp: is a folder. Give a SimGrid platform file"),
        (("--emulate", "/dev/zero"), "/dev/zero: is no regular file. Give a SimGrid platform file"),
        (("--emulate", ""), "--emulate: the name is empty"),
        (("--json", ""), "--json: the name is empty"),
        (("--json", "-", "--pages", "-"), "two outputs"),
        (("--emulate", SOURCE / "README.md"), "README.md"),
        (("--emulate", PLATFORM, "--trace", PLATFORM), "p3-score.xml"),
        (("--emulate", PLATFORM, "--sequential-time", "1s"), "--trace"),
    ],
)
def test_what_cannot_be_emulated_is_refused(arguments, what):
    done = run("run", "--quiet", "-n", 2, *arguments, "--", *PROGRAM)
    assert done.returncode == 2
    assert what in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_platform_that_check_refuses_cannot_be_emulated(tmp_path):
    text = PLATFORM.read_text()
    platform = tmp_path / "platform.xml"
    for fault, instead in (('id="fault.RUMR"', 'id="fault.RUMS"'), ('<host id="node-1"', '<host id="node-0"')):
        assert fault in text
        platform.write_text(text.replace(fault, instead, 1))
        checked = run("check", platform)
        assert checked.returncode == 2 and checked.stderr
        done = run("run", "--quiet", "-n", 2, "--emulate", platform, "--", *PROGRAM)
        assert (done.returncode, done.stderr) == (2, checked.stderr)


def test_a_trace_of_another_number_of_threads_is_refused(trace):
    done = run("run", "--quiet", "-n", 4, "--emulate", PLATFORM, "--trace", trace, "--", *PROGRAM)
    assert done.returncode == 2
    assert "2 threads" in done.stderr


def test_another_program_than_the_traced_one_ends_the_run(trace):
    other = (LAPLACE, "--impl", "1", "--size", "64", "--iterations", "5", "--no-check")
    done = run("run", "--quiet", "-n", 2, "--emulate", PLATFORM, "--trace", trace, "--", *other)
    assert done.returncode == 1
    assert "trace" in done.stderr


@pytest.mark.parametrize("nodes", [2, 4])
def test_retries_of_a_compare_and_exchange_are_one_traced_operation(nodes):
    """How often one tries depends on who comes when."""
    program = (BUILD / "tests" / "traced" / "updates", "without-lock")
    options = ("--emulate", PLATFORM, "--trace", traced(nodes, *program), "--compute-factor", 20)
    done = run("run", "--quiet", "-n", nodes, *options, "--", *program)
    assert done.returncode == 0, done.stderr


def test_readings_of_the_clock_in_a_row_are_all_events():
    program = (BUILD / "tests" / "traced" / "clock_reader", "row")
    options = ("--trace", traced(2, *program), "--compute-factor", 1)
    done = run("run", "--quiet", "-n", 2, "--emulate", PLATFORM, *options, "--", *program)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("messages", "rules"), [("writes", ("--invalidation", "changed")), ("flags", ()), ("flags", ("--protocol", "jiajia"))])
def test_who_sends_faster_than_a_cable_takes_it_waits(tmp_path, messages, rules):
    program, slow = ASKED / "unanswered", tmp_path / "slow.xml"
    assert 'value="100Mbps"' in PLATFORM.read_text()
    slow.write_text(PLATFORM.read_text().replace('value="100Mbps"', 'value="2Mbps"'))
    options = (*rules, "--emulate", slow)
    if messages == "writes":
        options += ("--trace", traced(2, program, messages), "--compute-factor", 0.001)
    done = run("run", "--quiet", "-n", 2, *options, "--", program, messages)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 wrong\n", "")
