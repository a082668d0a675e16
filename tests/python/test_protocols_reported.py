"""Commands under protocols other than scash: what they do not have is refused, and their reports name them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
COUNTERS = (BUILD / "tests" / "planted" / "planted", "counters")


def sdsm(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BUILD / "sdsm", *map(str, words)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("protocols") / "counters.trace"
    done = sdsm("trace", "-q", "-n", 4, "--passes", 1, "-o", file, "--", *COUNTERS)
    assert done.returncode == 0, done.stderr
    return file


def simulated(trace: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return sdsm("simulate", "-q", trace, *(part for word in words for part in word.split()))


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


JIAJIA = "-p p3-jiajia -n 4 --protocol jiajia"
HARDWARE = "-p v1280 -n 1 -t 4 --protocol hardware"


@pytest.mark.parametrize(
    ("layout", "setting", "why"),
    [
        (JIAJIA, "protocol.invalidation=changed", "--invalidation is not played under jiajia"),
        (JIAJIA, "protocol.atomics=relaxed", "--atomics relaxed is not simulated under jiajia"),
        (HARDWARE, "protocol.atomics=relaxed", "--atomics has no meaning under hardware"),
    ],
)
def test_a_setting_is_refused_as_its_option_is(trace, layout, setting, why):
    line = refusal(simulated(trace, layout, f"--set {setting}"))
    assert line.startswith(f"sdsm: --set {setting}: {why}")


def test_what_the_protocol_has_may_be_set_and_what_the_file_says_is_no_setting(trace):
    assert simulated(trace, JIAJIA, "--set protocol.atomics=lock").returncode == 0
    assert (
        simulated(
            trace, "-p p3-score -n 4 --set protocol.atomics=relaxed --set protocol.invalidation=changed"
        ).returncode
        == 0
    )
    assert 'id="protocol.atomics" value="lock"' in (ROOT / "platforms" / "p3-score.xml").read_text()


def test_reports_name_the_protocol_unless_it_is_the_default_and_no_network_where_there_is_none(trace):
    assert simulated(trace, "-p p3-score -n 4").stdout.splitlines()[0].endswith("4 nodes x 1 thread, network queue")
    assert (
        simulated(trace, JIAJIA).stdout.splitlines()[0].endswith("4 nodes x 1 thread, protocol jiajia, network queue")
    )
    assert simulated(trace, HARDWARE).stdout.splitlines()[0].endswith("1 node x 4 threads, protocol hardware")
    assert " on 2 nodes of 1 thread: " in sdsm("run", "-n", 2, "--", *COUNTERS).stderr
    assert (
        " on 2 nodes of 1 thread, protocol jiajia: "
        in sdsm("run", "-n", 2, "--protocol", "jiajia", "--", *COUNTERS).stderr
    )


def test_a_setting_that_makes_many_costs_impossible_gets_one_line(trace):
    for setting in ("lock.*=x0.5", "page.size=8192B"):
        line = refusal(simulated(trace, f"-p p3-score -n 4 --set {setting}"))
        assert "its messages alone take" in line and "(and 1 more: sdsm check with the same --set has all)" in line
        checked = sdsm("check", "p3-score", "--set", setting)
        assert checked.returncode == 2 and len(checked.stderr.splitlines()) >= 2


def test_a_platform_without_scash_is_reported_as_what_it_is(trace):
    for name, protocol in (("v1280", "hardware"), ("jiajia-alpha", "jiajia")):
        assert f"it has costs of protocol {protocol} alone, and sdsm replay re-runs those of scash" in refusal(
            sdsm("replay", name)
        )
    assert (
        "hardware.barrier measured for 4 numbers of threads, hardware.lock measured for 4"
        in sdsm("check", "v1280").stdout
    )
    assert "costs of protocol jiajia." in sdsm("check", "jiajia-alpha").stdout
    assert "barriers measured on " in sdsm("check", "p3-score").stdout
    line = refusal(sdsm("run", "-q", "-n", 2, "--emulate", "v1280", "--", *COUNTERS))
    assert "Give another platform, such as p3-score" in line


def test_refusals_say_what_to_give_instead(trace):
    line = refusal(simulated(trace, "-p jiajia-alpha -n 4 --protocol jiajia --pages -"))
    assert line.endswith("Give --page-size 4096, or no --pages")
    assert "hold in 1 B of memory" in refusal(simulated(trace, "-p p3-score -n 4 --max-memory 1B"))
    for protocol, default in (
        ("scash", "With --atomics home"),
        ("jiajia", "With --atomics lock, which is the default under jiajia"),
    ):
        words = ("run", "-q", "-n", 2, "--protocol", protocol, "--atomics", "refuse", "--")
        assert default in sdsm(*words, BUILD / "tests" / "constructs" / "c", "atomic_inline").stderr
