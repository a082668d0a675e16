"""The documented way to a platform file of one's own cluster, from EPCC's and iperf3's outputs: does it hold what these say?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from own_cluster import iperf3, syncbench
from sdsm.calibrate.command import main as calibrate
from sdsm.platform.command import main as platform

#: By nodes, us.
BARRIERS = {2: 250.3, 4: 420.0, 8: 760.0}
LOCKS = {2: 150.0, 4: 160.0, 8: 170.0}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for nodes, barrier_us in BARRIERS.items():
        Path(f"sync{nodes}.out").write_text(syncbench(nodes, barrier_us, LOCKS[nodes]))
    Path("smp.out").write_text(syncbench(2, 0.5, 0.2))
    Path("iperf3.json").write_text(iperf3(941e6, 40))
    assert platform(["new", "--nodes", "8", "--network", "gigabit", "-o", "new.xml"]) == 0
    return tmp_path


def properties(file: str) -> dict[str, str]:
    return dict(re.findall(r'<prop id="([^"]+)" value="([^"]+)"', Path(file).read_text()))


@pytest.mark.parametrize("base", ["new.xml", "p3-score"])
def test_the_simulator_gives_back_what_was_measured_over_the_measured_links(base, cluster, capsys):
    sync = ["sync2.out", *(f"sync{nodes}.out" for nodes in (4, 8) if base == "new.xml")]
    assert calibrate([*sync, "iperf3.json", "--base", base, "-o", "own.xml", "--report", "own.json"]) == 0
    reported = capsys.readouterr()
    assert "sync2.out: EPCC's runs of 2 threads count as 2x1, a thread on each node. If all ran on one node, give --layout 1x2" in reported.err
    rows = {row["name"]: row["simulated_us"] for row in json.loads(Path("own.json").read_text())["gate"]["rows"]}
    for nodes in (2, 4, 8)[: len(sync)]:
        assert rows[f"barrier.{nodes}x1"] == pytest.approx(BARRIERS[nodes], abs=0.01)
        assert rows[f"lock.{nodes}x1"] == pytest.approx(LOCKS[nodes], abs=0.01)
    text = Path("own.xml").read_text()
    assert set(re.findall(r'(?:bw|bandwidth)="([0-9.]+)Mbps"', text)) == {"937.386"}
    (origin,) = re.findall(r"<!-- bandwidth, in place of the base file's: fitted: ([^>]*) -->", text)
    assert "standard error" in origin and "iperf3.json:" in origin
    shown = {line.split()[0]: line.split()[1:] for line in reported.out.splitlines() if line.startswith("link.")}
    assert shown["link.bandwidth"][:2] == ["937.386", "Mbps"] and shown["link.bandwidth"][-1] == "fitted"
    assert f"no page fault and no message was measured: all of theirs are {base.removesuffix('.xml')}.xml's" in reported.err


def test_of_a_run_that_prints_mean_and_median_the_mean_and_its_own_scatter_count(cluster):
    assert calibrate(["sync2.out", "--base", "one-machine", "-o", "own.xml"]) == 0
    # A deviation of 1 % over 20 samples.
    assert float(properties("own.xml")["barrier.2x1.standard-error"].removesuffix("us")) == pytest.approx(2.503 / 20**0.5, rel=0.01)


@pytest.mark.parametrize("round_trip_us", [290, 2900])
def test_a_round_trip_under_load_that_is_longer_than_a_barrier_allows_is_left_out(round_trip_us, cluster, capsys):
    Path("iperf3.json").write_text(iperf3(941e6, round_trip_us))
    sync = [f"sync{nodes}.out" for nodes in BARRIERS]
    assert calibrate([*sync, "iperf3.json", "--base", "new.xml", "-o", "own.xml", "--report", "own.json"]) == 0
    reported = capsys.readouterr().err
    text = Path("own.xml").read_text()
    assert "taken under load, is longer than a measured barrier or lock allows" in reported and "latency is new.xml's" in reported
    assert set(re.findall(r'(?:bw|bandwidth)="([0-9.]+)Mbps"', text)) == {"937.386"}
    assert set(re.findall(r'lat(?:ency)?="([0-9.]+us)"', text)) == set(re.findall(r'lat(?:ency)?="([0-9.]+us)"', Path("new.xml").read_text()))
    rows = {row["name"]: row["simulated_us"] for row in json.loads(Path("own.json").read_text())["gate"]["rows"]}
    assert rows["barrier.2x1"] == pytest.approx(BARRIERS[2], abs=0.01)


def test_threads_of_one_node_are_told_from_nodes(cluster, capsys):
    assert calibrate(["smp.out", "iperf3.json", "--base", "new.xml", "-o", "own.xml"]) == 2
    reported = capsys.readouterr().err
    assert "smp.out:22: barrier.2x1 took 0.5 us, but its messages take" in reported and "give --layout 1x2" in reported
    assert "(iperf3.json" in reported and "a round trip beside other traffic is too long" in reported
    assert calibrate(["smp.out", "iperf3.json", "--layout", "1x2", "--base", "new.xml", "-o", "own.xml"]) == 0
    assert properties("own.xml")["barrier.1x2"] == "0.5us"
    assert "count as" not in capsys.readouterr().err
