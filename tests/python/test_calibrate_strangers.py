"""What does calibrate take of other people's outputs, and what does it say of the rest?"""

from __future__ import annotations

import json
import random

import pytest

import stranger_files as strangers
from benchmark_files import DATA, damaged
from sdsm.base.command_line import BadInput
from sdsm.calibrate import fit as fitting
from sdsm.calibrate.network import Network, contradictions, fit, pieces
from sdsm.calibrate.network_gate import hold
from sdsm.readers import Reading, read_text
from sdsm.readers.text import Text

EPCC_4 = (DATA / "epcc" / "syncbench.gcc.2.out").read_text()
BASE = Network(12.5, 5.0, 2)


def reading_of(text: str) -> Reading:
    return read_text(Text("some.out", text))


def test_locks_of_epcc_4_are_those_of_3():
    text = EPCC_4.replace("Computing LOCK_CONTENDED time", "Computing LOCK/UNLOCK time").replace("LOCK_CONTENDED ", "LOCK/UNLOCK ")
    found = [fitting.collect([reading_of(one)]).batches for one in (EPCC_4, text)]
    kinds = [[(b.quantity, b.estimate.value) for b in batches] for batches in found]
    assert kinds[0] == kinds[1] and [kind for kind, _ in kinds[0]] == ["barrier", "lock"]
    overhead = next(m for m in reading_of(EPCC_4).measurements if m.quantity == "LOCK_CONTENDED overhead")
    assert kinds[0][1][1] == overhead.values[0]


def overheads(barrier: float, lock: float, construct: str = "LOCK_CONTENDED") -> str:
    """EPCC 4.0's output with a reference of 1.22 us."""
    blocks = ["Running OpenMP benchmark version 4.0\n\t2 thread(s)\n\t5 outer repetitions"]
    for name, mean in (("reference time 1", 1.22), ("BARRIER", 1.22 + barrier), (construct, 1.22 + lock)):
        block = f"{'-' * 56}\nComputing {name} time using 100 reps\n\nSample_size Mean Median Min Max StdDev Outliers\n 5 {mean:f} {mean:f} {mean:f} {mean:f} 0.0 0\n"
        if name.startswith("reference"):
            blocks.append(f"{block}{name} mean time = {mean:f} microseconds +/- 0.0\n{name} median time = {mean:f} microseconds")
        else:
            more = mean - 1.22
            blocks.append(f"{block}{name} time = {mean:f} microseconds +/- 0.0\n{name} overhead = {more:f} microseconds +/- 0.0\n{name} median_ovrhd = {more:f} microseconds")
    return "\n".join(blocks) + "\n"


@pytest.mark.parametrize(("barrier", "lock", "left_out", "kinds"), [(-0.2, -0.3, 2, []), (-0.2, 3.0, 1, ["lock"]), (2.0, 3.0, 0, ["barrier", "lock"])])
def test_overheads_below_0_are_named_and_left_out(barrier, lock, left_out, kinds):
    data = fitting.collect([reading_of(overheads(barrier, lock))])
    assert [b.quantity for b in data.batches] == kinds
    warned = " ".join(data.unused)
    assert "measures nothing" not in warned and warned.count("on 2 threads") == left_out
    if left_out:
        assert "overheads below 0 are no cost of a platform, and are left out: BARRIER on 2 threads (-0.2 us)" in warned


def test_a_barrier_of_mpi_is_a_bound_and_no_value():
    data = fitting.collect([reading_of(strangers.OSU["5_barrier"][0])])
    assert not data.batches and "MPI's barrier of 12.34 us is a lower bound of barrier.NxT" in data.unused[0]
    (other,) = fitting.collect([reading_of(strangers.OSU["5_allreduce"][0])]).unused
    assert "OSU micro-benchmarks (Allreduce latency) measures nothing that a platform file holds" in other


SIZES = [1 << k for k in range(23)]


def latency_test(eager: float, plateau: float, room_us: float = 4.0, switch: int = 16384) -> str:
    """osu_latency over 2 us: messages of up to `switch` B at `eager` B/us, longer ones wait and go at `plateau` B/us."""
    times = {size: 2 + size / eager if size <= switch else 2 + room_us + size / plateau for size in SIZES}
    return strangers.osu("MPI Latency", "Size Latency (us)", "".join(f"{size} {time:.4f}\n" for size, time in times.items()))


def bandwidth_test(eager: float, plateau: float, switch: int = 16384) -> str:
    times = {size: 0.5 + size / eager if size <= switch else 1 + size / plateau for size in SIZES}
    return strangers.osu("MPI Bandwidth", "Size Bandwidth (MB/s)", "".join(f"{size} {size / time:.4f}\n" for size, time in times.items()))


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize(("eager", "plateau", "of_latency"), [(5000, 12500, 9000), (9000, 12500, 20000), (12500, 12500, 12500)])
def test_of_two_tests_that_contradict_each_other_the_plateau_is_taken(eager, plateau, of_latency, files):
    texts = [latency_test(eager, of_latency), bandwidth_test(eager, plateau)]
    readings = [reading_of(text) for text in (texts if files == 2 else ["".join(texts)])]
    rate, latency = fit(readings, BASE)
    framing = (BASE.frame.payload + BASE.frame.overhead) / BASE.frame.payload
    assert rate.estimate.value == pytest.approx(plateau * 8e6 * framing, rel=0.01)
    assert latency is not None and len(latency.sources) == 1
    contradict = of_latency != plateau
    notes = contradictions(readings, BASE)
    assert len(notes) == contradict and ("The latter's longest messages give the bandwidth" in "".join(notes)) == contradict
    # Every point that bandwidth was fitted from is given back by that bandwidth; alone, each test gives its own.
    network = Network(rate.estimate.value / 8e6, latency.estimate.value, 2)
    simulated = {f"network.{size}": network.idle_us(size) for size in SIZES}
    simulated |= {f"network.stream.{size}": network.wire_bytes(size) / network.bandwidth for size in SIZES}
    cut = pieces(readings, BASE)
    assert {piece.is_one_way for piece in cut if piece.gives == "bandwidth"} == ({False} if contradict else {False, True})
    held = hold(cut, "reference", simulated, {})
    assert all(one.passes for one in held if one.piece.gives == "bandwidth")
    assert not any(contradictions([reading_of(text)], BASE) for text in texts)


def test_a_round_trip_shorter_than_its_frames_tells_no_latency():
    readings = [reading_of(json.dumps(strangers.iperf3(rate=1e8, trip=1)))]
    rate, latency = fit(readings, BASE)
    assert rate is not None and latency is None
    (note,) = contradictions(readings, BASE)
    assert "some.out:1: the least round trip, 1 us, is shorter than its frames take at that bandwidth" in note
    assert not contradictions([reading_of(json.dumps(strangers.iperf3(rate=1e8)))], BASE)


@pytest.mark.parametrize(("cases", "seed"), [(1_000, 461), pytest.param(50_000, 462, marks=pytest.mark.long)])
def test_what_is_read_of_a_damaged_output_can_be_fitted(cases, seed):
    dice = random.Random(seed)
    texts = [*strangers.STRANGERS, latency_test(5000, 9000) + bandwidth_test(5000, 12500)]
    for number in range(cases):
        text = damaged(dice.choice(texts), dice)
        try:
            readings = [reading_of(text)]
            fitting.collect(readings)
            pieces(readings, BASE)
            fit(readings, BASE)
        except BadInput:
            continue
        except Exception as error:
            raise AssertionError(f"case {number} of seed {seed}: {error!r}\n{text[:2000]}") from error
