"""Does the simulator give back the messages that a platform's network was fitted from, and is it reported where it cannot?"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from legends import data_under_legends
from sdsm import readers
from sdsm.calibrate import network_gate, report
from sdsm.calibrate.command import main
from sdsm.calibrate.estimates import Estimate
from sdsm.calibrate.gate import Row
from sdsm.calibrate.network import Network, Piece, fit, pieces
from sdsm.calibrate.parameters import Parameter
from sdsm.calibrate.plot import draw, draw_network
from sdsm.platform.platform_file import cluster, parse, platform_text, prop, properties
from sdsm.readers.text import Text

ROOT = Path(__file__).resolve().parents[2]
P3 = str(ROOT / "platforms" / "p3-score.xml")
DATA = Path(__file__).resolve().parent / "data"
BASE = Network(12.5, 5.0, 2)
SIZES = sorted({(1 << k) + d for k in range(22) for d in (-3, 0, 3) if (1 << k) + d > 0})


def netpipe(points: dict[int, float]) -> str:
    """us by size."""
    rows = []
    for size, time in points.items():
        seconds = f"{time / 1e6:.9f}"
        rows.append(f"{size:8d} {size * 8 / 2**20 / float(seconds):12.6f} {seconds}")
    return "\n".join(rows) + "\n"


def measured(network: Network, noise: float = 0.0, seed: int = 1) -> dict[int, float]:
    generator = random.Random(f"messages {seed}")
    return {size: network.idle_us(size) * (1 + noise * generator.gauss(0, 1)) for size in SIZES}


def found(points: dict[int, float]) -> list[Piece]:
    return pieces([readers.read_text(Text("np.out", netpipe(points)))], BASE)


def simulated(network: Network) -> dict[str, float]:
    one_way = {f"network.{size}": network.idle_us(size) for size in SIZES}
    return one_way | {f"network.stream.{size}": network.wire_bytes(size) / network.bandwidth for size in SIZES}


def by_what(held: list[network_gate.Held]) -> dict[str | None, network_gate.Held]:
    return {one.piece.gives: one for one in held}


def test_one_point_is_allowed_two_standard_errors_and_of_many_each_more():
    # All of n independent points lie within with the 95.45 % of one point.
    assert network_gate.standard_errors(1) == pytest.approx(2.0)
    assert network_gate.standard_errors(10) == pytest.approx(2.831, abs=0.001)
    assert network_gate.standard_errors(60) == pytest.approx(3.361, abs=0.001)


def test_each_point_is_of_one_piece_or_of_both_that_gave_something_and_its_error_is_the_pieces_scatter():
    generator = random.Random(3)
    points = {size: 20 * generator.gauss(1, 0.05) if size < 2000 else 20 + size / 10 for size in SIZES}
    cut = found(points)
    # On the line of the long ones, and in one piece of those of one frame.
    assert {piece.gives for piece in cut} >= {"latency", "bandwidth"}
    for piece in cut:
        assert len(piece.sizes) == len(piece.times) == len(piece.errors)
        assert all(points[size] == pytest.approx(time, rel=1e-4) for size, time in zip(piece.sizes, piece.times, strict=True))
    assert {size for piece in cut for size in piece.sizes} == set(SIZES)
    latency = next(piece for piece in cut if piece.gives == "latency")
    assert all(6 <= size <= 1460 for size in latency.sizes)
    parts = {error / time for error, time in zip(latency.errors, latency.times, strict=True)}
    assert max(parts) - min(parts) < 1e-12 and 0.025 < max(parts) < 0.08
    assert "scatter" in latency.about


def test_what_was_measured_on_a_network_is_given_back_by_it_and_by_no_other():
    network = Network(125.0, 20.0, 2)
    cut = found(measured(network, 0.01))
    assert all(one.passes and not one.offset_us for one in network_gate.hold(cut, "reference", simulated(network), {}))
    slower = by_what(network_gate.hold(cut, "reference", simulated(Network(118.0, 20.0, 2)), {}))
    assert not slower["bandwidth"].passes and slower["bandwidth"].parameter == "reference.bandwidth"
    later = by_what(network_gate.hold(cut, "link", simulated(Network(125.0, 22.0, 2)), {}))
    assert not later["latency"].passes
    reported = network_gate.failure(later["latency"])
    assert reported.startswith("np.out:1: link.latency does not give back") and "us allowed" in reported


def test_an_offset_of_the_long_messages_is_reported_and_not_held_against_their_bandwidth():
    # Above 8 kB each message waits 300 us longer, as a rendezvous does: one line has no room for that.
    network = Network(125.0, 20.0, 2)
    points = {size: time + (300 if size > 8000 else 0) for size, time in measured(network, 0.002).items()}
    held = by_what(network_gate.hold(found(points), "reference", simulated(network), {}))
    long = held["bandwidth"]
    assert long.passes and long.offset_us == pytest.approx(300, rel=0.02)
    (note,) = [note for note in network_gate.notes([long]) if "beside the platform's line" in note]
    assert f"{long.offset_us:+.4g} us" in note and "reference.bandwidth is checked" in note
    # The offset does not hide another bandwidth.
    wrong = by_what(network_gate.hold(found(points), "reference", simulated(Network(110.0, 20.0, 2)), {}))
    assert not wrong["bandwidth"].passes


def test_what_gave_no_parameter_is_reported_and_not_held():
    network = Network(125.0, 20.0, 2)
    points = {size: time * (3 if 2000 < size < 20000 else 1) for size, time in measured(network, 0.002).items()}
    held = network_gate.hold(found(points), "reference", simulated(network), {})
    rest = [one for one in held if one.parameter is None]
    assert rest and any(2000 < size < 20000 for one in rest for size in one.piece.sizes)
    assert all(one.passes for one in held)
    count = sum(len(one.points) for one in rest)
    assert any(note.startswith(f"{count} measured times of messages gave no parameter") for note in network_gate.notes(held))
    rows = [row for row in network_gate.document(held) if row["parameter"] is None]
    assert all(row["passes"] is None and all(p["allowed_us"] is None for p in row["points"]) for row in rows)
    assert all(p["simulated_us"] is not None for row in rows for p in row["points"])


def test_real_outputs_of_netpipe_and_iperf3_give_points_of_their_own_files():
    pipe = pieces([readers.read(DATA / "network" / "netpipe.loopback.out")], BASE)
    assert sum(len(piece.sizes) for piece in pipe) == 106 and {piece.gives for piece in pipe} == {"latency", "bandwidth", None}
    assert {size for piece in pipe for size in piece.sizes} >= {1, 4096, 1048576}
    perf = pieces([readers.read(DATA / "network" / "iperf3.loopback.json")], BASE)
    (stream,) = [piece for piece in perf if piece.gives == "bandwidth"]
    assert not stream.is_one_way and stream.sizes == (131072,) and stream.errors[0] > 0
    (trip,) = [piece for piece in perf if piece.gives is None]
    assert "under load" in trip.about


def calibrate(folder: Path, *files: str, base: str = P3) -> tuple[int, dict]:
    report = folder / "r.json"
    arguments = ["--base", base, "-o", str(folder / "p.xml"), "--report", str(report), "--plot", str(folder)]
    return main([*files, *arguments]), json.loads(report.read_text())


@pytest.mark.parametrize("name", ["netpipe.loopback.out", "iperf3.loopback.json"])
def test_the_command_proves_the_network_of_real_outputs_and_draws_it(name, tmp_path, capsys):
    status, document = calibrate(tmp_path, str(DATA / "network" / name))
    reported = capsys.readouterr()
    assert status == 0 and document["gate"]["passes"]
    held = [row for row in document["gate"]["network"] if row["parameter"]]
    assert {row["parameter"] for row in held} <= {"link.bandwidth", "link.latency"} and held
    for row in document["gate"]["network"]:
        for point in row["points"]:
            assert point["simulated_us"] > 0 and point["simgrid_us"] > 0
            # Nothing flows slower than frame by frame.
            assert point["simgrid_us"] <= point["simulated_us"] * (1 + 1e-9)
    assert "messages re-run" in reported.out and "link.bandwidth" in reported.out and "gave no parameter" in reported.err
    svg = (tmp_path / "calibration-network.svg").read_text()
    assert "simulated, simgrid" in svg and "measured, not held" in svg


@pytest.mark.parametrize("test", ["latency", "bw"])
def test_outputs_of_osu_prove_what_they_tell(test, tmp_path, capsys):
    network = Network(125.0, 20.0, 2)
    # A window of messages occupies the wire without a gap.
    sizes = [1 << k for k in range(23)]
    head = "Latency Test v5.6.2\n# Size          Latency (us)" if test == "latency" else "Bandwidth Test v5.6.2\n# Size      Bandwidth (MB/s)"
    values = {s: network.idle_us(s) if test == "latency" else s * network.bandwidth / network.wire_bytes(s) for s in sizes}
    file = tmp_path / "osu.out"
    file.write_text(f"# OSU MPI {head}\n" + "".join(f"{s:<20}{value:>10.2f}\n" for s, value in values.items()))
    status, document = calibrate(tmp_path, str(file))
    held = {row["parameter"]: row for row in document["gate"]["network"] if row["parameter"]}
    assert status == 0
    assert set(held) == ({"link.latency", "link.bandwidth"} if test == "latency" else {"link.bandwidth"})
    assert all(row["is_one_way"] == (test == "latency") for row in document["gate"]["network"])


def give_back(noise: float, seed: int) -> bool:
    """Whether the gate lets a network pass whose parameters are those fitted to its noisy times."""
    generator = random.Random(f"network {seed}")
    truth = Network(12.5 * 100 ** generator.random(), 2 * 20 ** generator.random(), 2)
    reading = readers.read_text(Text("np.out", netpipe(measured(truth, noise, seed))))
    rate, latency = fit([reading], BASE)
    assert rate and latency
    again = Network(rate.estimate.value / 8e6, latency.estimate.value, 2)
    held = network_gate.hold(pieces([reading], BASE), "link", simulated(again), {})
    return all(one.passes for one in held)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_noise_alone_seldom_fails_the_gate(noise):
    # Two pieces, each of which chance fails once in twenty.
    assert sum(give_back(noise, seed) for seed in range(20)) >= (20 if noise == 0 else 16)


def test_columns_of_large_values_stay_apart():
    row = Row("barrier.4096x4096", ("barrier.4096x4096",), Estimate(123456789012.5, 1e12, 7), 98765432109876.5, ("a.json:1",))
    parameter = Parameter("barrier.4096x4096.of-a-long-name", 123456789012345678.0, "us/B", 1e-300, 10**12, "fitted", "", ())
    printed = report.table([parameter], [row]).splitlines()
    assert [len(printed[i].split()) for i in (1, -1)] == [6, 6]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(("latency", "rate"), [(2.0, 1000.0), (20.0, 1100.0), (50.0, 117.0)])
def test_a_straight_line_from_any_first_size_passes(latency, rate, noise, first):
    generator = random.Random(f"line {latency}")
    sizes = [0][first:] + [1 << k for k in range(23)]
    rows = "".join(f"{s} {(latency + s / rate) * (1 + noise * generator.gauss(0, 1)):.2f}\n" for s in sizes)
    reading = readers.read_text(Text("osu.out", f"# OSU MPI Latency Test v7.5\n# Size       Avg Latency(us)\n{rows}"))
    bandwidth, each = fit([reading], BASE)
    network = Network(bandwidth.estimate.value / 8e6, each.estimate.value, 2)
    held = network_gate.hold(pieces([reading], BASE), "link", {f"network.{size}": network.idle_us(size) for size in sizes}, {})
    assert {one.piece.gives for one in held} >= {"latency", "bandwidth"} and all(one.passes for one in held)


def test_files_that_contradict_each_other_fail_and_the_parameter_is_named(tmp_path, capsys):
    for name, network in (("a.out", Network(125.0, 20.0, 2)), ("b.out", Network(60.0, 20.0, 2))):
        (tmp_path / name).write_text(netpipe(measured(network, 0.002)))
    status, document = calibrate(tmp_path, str(tmp_path / "a.out"), str(tmp_path / "b.out"))
    assert status == 1 and not document["gate"]["passes"]
    *reported, last = [line for line in capsys.readouterr().err.splitlines() if "link.bandwidth" in line and "note" not in line][:3]
    assert "the files contradict each other: " in last and "b.out:1 gives 480" in last and "a.out:1 1000. A mean of them is neither's" in last
    assert len(reported) == 2 and all("link.bandwidth" in line for line in reported)
    assert "a.out:1" in reported[0] and "b.out:1" in reported[1]


def test_the_network_of_a_cluster_is_given_back_by_the_links_of_its_platform(tmp_path, capsys):
    (tmp_path / "np.out").write_text(netpipe(measured(Network(125.0, 20.0, 2), 0.02)))
    status, document = calibrate(tmp_path, str(tmp_path / "np.out"))
    assert status == 0
    held = {row["parameter"]: row for row in document["gate"]["network"] if row["parameter"]}
    assert set(held) == {"link.bandwidth", "link.latency"}
    assert all(row["offset_us"] == row["us_per_byte"] == 0 for row in held.values())
    assert min(len(row["points"]) for row in held.values()) >= 4
    # Written, not only fitted: other links than those fitted do not give the points back.
    assert properties(parse(tmp_path / "p.xml"))["reference.bandwidth"] == "100Mbps"


def test_one_host_leaves_the_network_unproved(tmp_path, capsys):
    given = properties(parse(Path(P3)))
    body = [prop(name, value) for name, value in given.items()]
    base = tmp_path / "one.xml"
    base.write_text(platform_text("One.", "one", [*body, *cluster(1, "1Gf", 2, "100Mbps", "5us", "H.", "L.")]))
    (tmp_path / "np.out").write_text(netpipe(measured(Network(125.0, 20.0, 2), 0.02)))
    status, _ = calibrate(tmp_path, str(tmp_path / "np.out"), base=str(base))
    assert status == 1
    assert "has no two hosts, so link.latency stays unproved" in capsys.readouterr().err


def test_no_legend_covers_data():
    rows = [Row(f"release.{n}", ("message.fixed",), Estimate(10.0**n, 0.1, 5), 10.0**n, ()) for n in range(8)]
    assert not data_under_legends(draw(rows, "Costs"))
    network = Network(12.5, 5.0, 2)
    held = network_gate.hold(found(measured(network)), "reference", simulated(network), {})
    held += [one for part in (0.01, 0.1, 10.0) for one in
             network_gate.hold(found({size: part * time for size, time in measured(network).items()}), "link", {}, {})]  # fmt: skip
    assert not data_under_legends(draw_network(held, "Messages"))


def test_no_bar_of_a_cost_is_drawn_below_zero():
    rows = [Row("fault.RUMR", (), Estimate(500.0, 1000.0, 5), 500.0, ()), Row("barrier.dirty-home-page", (), Estimate(-2.0, 1.0, 5), 0.0, ())]
    assert draw(rows[:1], "Costs").axes[0].get_xlim()[0] == 0
    assert -4 < draw(rows, "Costs").axes[0].get_xlim()[0] < -2
