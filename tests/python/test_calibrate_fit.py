"""Is a platform file what the benchmarks measured, and does each number say where it comes from?"""

from __future__ import annotations

import json
import math
import statistics
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from sdsm import readers
from sdsm.base.costs import fault_names
from sdsm.calibrate.estimates import median
from sdsm.calibrate.fit import CalibrationError, collect, fit, jitter
from sdsm.calibrate.hold_out import split
from sdsm.calibrate.measured_platform import certificate, commentable, plain, platform, with_unit
from sdsm.calibrate.network import Network, network_of
from sdsm.calibrate.network import fit as fit_network
from sdsm.microbench.command import Layout
from sdsm.platform.platform_file import PlatformFileError, parse, properties
from sdsm.readers.text import Text

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "platforms" / "p3-score.xml"
DATA = Path(__file__).resolve().parent / "data"
NETWORK = Network(12.5, 5.0, 2)
#: A request and a page on cable, switch, cable: 28 + 479 us.
WIRE_US = 507.04


def measured(**more: list[float]) -> dict[str, list[float]]:
    """Nanoseconds. A message of b bytes takes 10 us + b * 0.1 us beside the 5 us of an empty release."""
    samples = {kind: [1000.0, 3000.0, 2000.0] for kind in ("WROH", "RUMR", "WUMR", "WROR")}
    samples["release.0"] = [5000.0, 5001.0, 4999.0]
    for words in (1, 4, 16, 64, 256):
        level = 5000.0 + 10000.0 + 100.0 * (12 + 4 * words)
        samples[f"release.{words}"] = [level, level - 10, level + 10]
    samples |= {"barrier": [40000.0], "lock": [7000.0]}
    samples |= {"barrier.dirty0": [50000.0], "barrier.dirty64": [50000.0 + 64 * 1500.0]}
    return samples | more


Samples = dict[str, dict[str, list[float]]]


def reading(layouts: Samples, file: str = "m.json", head: Mapping[str, object] = MappingProxyType({}), **more: float):
    """What sdsm microbench wrote. head: of the whole; more: of each layout."""
    where = {name: {"nodes": int(name[0]), "threads_per_node": int(name[2])} for name in layouts}
    parts = {name: where[name] | {"samples_ns": samples, **more} for name, samples in layouts.items()}
    document = {"format": "sdsm-microbench", "version": 1, "unit": "ns", "layouts": parts, **head}
    return readers.read_text(Text(file, json.dumps(document, indent=1)))


def on_processors(processors: int, layouts: Samples, **head: object) -> readers.Reading:
    return reading(layouts, head={"machine": {"processors": processors}, **head})


def fitted(*readings: readers.Reading, base: Network = NETWORK, **more: str):
    return fit(collect(readings), base, more)


def by_name(found) -> dict:
    return {p.name: p for p in found.parameters}


def test_costs_are_medians_and_a_line_through_the_messages():
    found = fitted(reading({"2x1": measured()}))
    expected = {"fault.RUMR": 2.0, "message.fixed": 10.0, "message.per-byte": 0.1}
    expected |= {"barrier.2x1": 40.0, "lock.2x1": 7.0, "barrier.dirty-home-page": 1.5}
    assert {name: found.value(name) for name in expected} == pytest.approx(expected)


def test_a_further_run_is_what_pages_apart_take_longer_than_as_many_adjacent_ones():
    """64 adjacent pages take 96 us beside the barrier's 50. 33 pages apart: 33 times 1.5 us, and 32 runs of 2.5 us more."""
    more = {"barrier.apart33": [50000.0 + 33 * 1500.0 + 32 * 2500.0]}
    found = by_name(fitted(reading({"2x1": measured(**more)})))["barrier.further-run"]
    assert (found.value, found.unit, found.kind) == (pytest.approx(2.5), "us", "fitted")
    less = fitted(reading({"2x1": measured(**{"barrier.apart33": [50000.0]})}))
    assert "barrier.further-run" not in by_name(less) and any("barrier.further-run" in note for note in less.notes)
    assert "barrier.further-run" not in by_name(fitted(reading({"2x1": measured()})))
    kept = fitted(reading({"2x1": measured()}), **{"barrier.further-run": "3us"})
    assert kept.value("barrier.further-run") == 3.0


def test_faults_among_local_peers_come_from_a_layout_that_has_them_else_are_called_assumed():
    alone = by_name(fitted(reading({"2x1": measured()})))["fault.RROR"]
    assert (alone.value, alone.kind, alone.standard_error) == (2.0, "assumed", None)
    assert alone.how.startswith("as WROH")
    both = by_name(fitted(reading({"2x1": measured(), "2x2": measured(RROR=[9000.0, 9100.0, 8900.0])})))["fault.RROR"]
    assert (both.value, both.kind, both.samples) == (9.0, "measured", 3)


def test_files_are_pooled_and_what_they_differ_by_is_in_the_error():
    first = reading({"2x1": measured(WROH=[1000.0, 1010.0, 990.0])}, "a.json")
    second = reading({"2x1": measured(WROH=[2000.0, 2010.0, 1990.0])}, "b.json")
    found = by_name(fitted(first, second))["fault.WROH"]
    assert found.value == pytest.approx(1.5, rel=1e-3)
    assert found.standard_error == pytest.approx(0.5, rel=1e-2)  # half of what they differ by
    assert {source.partition(":")[0] for source in found.sources} == {"a.json", "b.json"}


def of_runs(*runs: dict[str, list[float]]) -> readers.Reading:
    """A file of so many runs on 2x1, one after the other."""
    samples = {name: [sample for run in runs for sample in run[name]] for name in runs[0]}
    return reading({"2x1": samples}, rounds=len(runs))


#: Student's t of three runs over that of many: by so much the error grows, as three tell their deviation badly.
T3 = 4.303 / 1.960


def test_runs_of_a_file_weigh_alike_and_their_spread_is_the_error():
    levels = (1000.0, 1010.0, 3000.0)
    found = by_name(fitted(of_runs(*(measured(WROH=[level - 5, level, level + 5]) for level in levels))))["fault.WROH"]
    assert found.value == pytest.approx(1.67)
    assert found.standard_error == pytest.approx(1.152 / math.sqrt(3) * T3, rel=1e-3)  # 1.00, 1.01 and 3.00 deviate by 1.152
    assert found.samples == 9 and found.how == "median, 3 batches"


def test_what_moves_all_releases_of_a_run_is_in_the_messages_error():
    """Each run's five sizes lie on a line of their own, 10, 20 and 30 us high: its luck, which no size averages out."""
    runs = []
    for shift in (0.0, 10000.0, 20000.0):
        run = measured()
        runs.append({name: [s + shift * (name.startswith("release.") and name != "release.0") for s in run[name]] for name in run})
    found = fitted(of_runs(*runs))
    fixed = by_name(found)["message.fixed"]
    assert fixed.value == pytest.approx(20.0)
    assert fixed.standard_error == pytest.approx(10.0 / math.sqrt(3) * T3, rel=1e-3)
    assert "errors from the lines of 3 runs" in fixed.how
    assert by_name(found)["message.per-byte"].standard_error == pytest.approx(0.0, abs=1e-6)


def luck(run: int, **more: list[float]) -> dict[str, list[float]]:
    """Samples of a run in which faults take 1 us per unit of luck, a message 10, and a dirty page 0.1."""
    samples = measured(barrier=[1000.0 * run] * 2, **{"atomic.own": [2000.0 * run]}, **more)
    sizes = [name for name in samples if name.startswith("release.") and name != "release.0"]
    shifted = {name: [s + 10000.0 * run for s in samples[name]] for name in sizes}
    samples |= {name: [1000.0 * run - 10, 1000.0 * run, 1000.0 * run + 10] for name in ("WROH", "RUMR")} | shifted
    return samples | {"barrier.dirty64": [50000.0 + 6400.0 * run]}


def test_what_each_cost_was_in_each_run_is_reported():
    found = by_name(fitted(of_runs(*(luck(run) for run in (1, 4, 2)))))
    for name, expected in {
        "fault.WROH": (1.0, 4.0, 2.0),
        "fault.RRWR": (1.0, 4.0, 2.0),  # as WROH
        "fault.WROL": (2.0, 2.0, 2.0),  # as WROR
        "message.fixed": (20.0, 50.0, 30.0),
        "message.per-byte": (0.1, 0.1, 0.1),
        "barrier.2x1": (1.0, 4.0, 2.0),
        "lock.2x1": (7.0, 7.0, 7.0),
        "barrier.dirty-home-page": (0.1, 0.4, 0.2),
        "atomic.own": (2.0, 8.0, 4.0),
    }.items():
        assert found[name].runs == pytest.approx(expected), name
    assert found["local-part.home-share"].runs is found["reference.latency"].runs is None


def test_runs_follow_each_other_over_files_and_are_means_over_layouts():
    by_run = {"2x1": (1, 4, 2), "3x1": (3, 4, 6)}
    layouts = {
        name: {q: [s for run in runs for s in luck(run)[q]] for q in luck(1)} for name, runs in by_run.items()
    }  # fmt: skip
    alone = {"2x1": {q: samples + luck(9)[q] for q, samples in luck(8).items()}}
    files = reading(layouts, "a.json", rounds=3), reading(alone, "b.json", rounds=2)
    found = by_name(fitted(*files))
    assert found["fault.RUMR"].runs == pytest.approx((2.0, 4.0, 4.0, 8.0, 9.0))
    assert found["message.fixed"].runs == pytest.approx((30.0, 50.0, 50.0, 90.0, 100.0))
    assert found["barrier.2x1"].runs == pytest.approx((1.0, 4.0, 2.0, 8.0, 9.0))
    assert found["barrier.3x1"].runs is None  # the second file has none
    assert by_name(fitted(files[1]))["fault.RUMR"].runs is None  # two are too few
    lacks = reading({"2x1": {q: samples for q, samples in alone["2x1"].items() if q != "atomic.own"}}, "c.json", rounds=2)
    found = by_name(fitted(files[1], lacks))
    assert found["atomic.own"].runs is None and len(found["fault.WROH"].runs) == 4


def test_the_slowdown_of_memory_in_each_run_is_that_runs_ratio():
    runs = [measured(**{"stream.alone": [1e6 * i], "stream.together": [1e6 * i * by]}) for i, by in ((1, 1.5), (2, 1.2), (3, 1.8))]
    samples = {q: [s for run in runs for s in run[q]] for q in runs[0]}
    found = by_name(fitted(reading({"2x2": samples}, rounds=3)))["memory-bus.2"]
    assert found.runs == pytest.approx((1.5, 1.2, 1.8))


def test_runs_written_keep_what_moves_together():
    generator = np.random.default_rng(5)
    levels = generator.multivariate_normal((3.0, 20.0), ((0.25, 0.9), (0.9, 4.0)), size=40)
    found = fitted(of_runs(*(measured(WROH=[fault * 1000] * 3, lock=[lock * 1000]) for fault, lock in levels)))
    text, _ = platform(parse(BASE), BASE.name, found, NETWORK, ["m.json"])
    given = {p.get("id"): p.get("value") for p in ElementTree.fromstring(text).iter("prop")}
    written = [[float(word.removesuffix("us")) for word in given[f"{name}.runs"].split()] for name in ("fault.WROH", "lock.2x1")]
    assert np.cov(written) == pytest.approx(np.cov(levels, rowvar=False), rel=1e-4)
    assert len({len(value.split()) for name, value in given.items() if name.endswith(".runs")}) == 1
    assert len(by_name(fitted(of_runs(*[measured()] * 120)))["fault.WROH"].runs) == 100


def test_of_a_file_of_runs_whole_runs_are_held_out():
    data = collect([of_runs(*(measured(WROH=[1000.0 * run] * 3, lock=[7000.0 * run] * 2) for run in range(1, 11)))])
    kept, held = split(data, 0.3, seed=1)
    for part, runs in ((kept, 7), (held, 3)):
        fault, lock = (next(b for b in part.batches if b.quantity == name) for name in ("WROH", "lock"))
        assert fault.rounds == lock.rounds == runs and len(fault.samples) == 3 * runs
        assert [s / 1.0 for s in fault.samples[::3]] == pytest.approx([s / 7.0 for s in lock.samples[::2]])


def test_releases_that_no_line_fits_leave_the_long_ones_out_and_say_so():
    level = 5000.0 + 900_000.0
    odd = measured(**{"release.1024": [level, level + 10, level - 10]})
    found = fitted(reading({"2x1": odd}))
    assert found.value("message.fixed") == pytest.approx(10)
    assert any("4108 bytes" in note and "900" in note for note in found.notes)
    assert found.extras["release.1024"].value == pytest.approx(900)
    level = 5000.0 + 3 * 10_000 + 4108 * 100.0
    straight = measured(**{"release.1024": [level, level + 10, level - 10]})
    found = fitted(reading({"2x1": straight}))
    assert not any("bytes" in note for note in found.notes)
    assert "6 sizes" in by_name(found)["message.fixed"].how


def test_the_homes_share_is_its_service_beside_the_whole_processor_time():
    # 607.04 us in all, 100 us of them processors', 30 us of these the home's.
    fetch = [607040.0, 607050.0, 607030.0]
    served = reading({"2x1": measured(RUMR=fetch)}, pages_served=1000, page_service_s=0.03)
    share = by_name(fitted(served))["local-part.home-share"]
    assert (share.value, share.kind) == (pytest.approx(0.3), "fitted")
    alone = by_name(fitted(reading({"2x1": measured()})))["local-part.home-share"]
    assert (alone.value, alone.kind) == (0.5, "assumed")


def test_the_homes_share_is_what_a_computing_home_loses_where_that_was_measured():
    # 100 us of processor time each; a page takes 70 us from the home that computes, though its service itself takes 30.
    more = {"RUMR": [607040.0, 607050.0, 607030.0], "RUMR.home": [70000.0, 70010.0, 69990.0]}
    share = by_name(fitted(reading({"2x1": measured(**more)}, pages_served=1000, page_service_s=0.03)))["local-part.home-share"]
    assert (share.value, share.kind) == (pytest.approx(0.7, rel=1e-3), "fitted") and "computes" in share.how
    # A slow run is slow in both: two runs with the same share know it well, however far apart they are.
    runs = {"RUMR": [607040.0, 1107040.0], "RUMR.home": [70000.0, 420000.0]}
    share = by_name(fitted(reading({"2x1": {k: v * (1 if k in runs else 2) for k, v in measured(**runs).items()}}, rounds=2)))
    assert share["local-part.home-share"].value == pytest.approx(0.7, rel=1e-3)
    assert share["local-part.home-share"].standard_error < 0.001
    more["RUMR.home"] = [120000.0] * 3
    assert fitted(reading({"2x1": measured(**more)})).value("local-part.home-share") == 1


BARRIER_ALONE = reading({"2x1": {"barrier": [40000.0]}})
#: A base file's.
OTHER_COSTS = {f"fault.{kind}": "600us" for kind in fault_names()} | {"message.fixed": "50us", "message.per-byte": "0.1us/B", "lock.2x1": "200us"}
PARTS_OF_FAULTS = {"fault.cold": "WROH.cold", "fault.trap": "WROH.trap", "fault.first-copy": "RUMR.first-copy", "fault.first-write": "WROH.first-write"}


@pytest.mark.parametrize(("name", "quantity"), PARTS_OF_FAULTS.items())
def test_parts_of_faults_are_means_over_runs_and_the_base_files_only_where_no_fault_was_measured(name, quantity):
    found = by_name(fitted(of_runs(*(measured(**{quantity: [time]}) for time in (400.0, 500.0, 600.0)))))[name]
    assert (found.value, found.unit, found.kind) == (pytest.approx(0.5), "us", "measured")
    assert found.standard_error == pytest.approx(T3 * 0.1 / math.sqrt(3), rel=1e-3) and found.runs == pytest.approx((0.4, 0.5, 0.6))
    base = {name: "0.7us"}
    assert name not in by_name(fitted(reading({"2x1": measured()}), **base))
    stands_in = by_name(fitted(BARRIER_ALONE, **OTHER_COSTS, **base))[name]
    assert (stands_in.value, stands_in.kind) == (0.7, "assumed")


@pytest.mark.parametrize(("name", "quantity"), [one for one in PARTS_OF_FAULTS.items() if one[0] != "fault.trap"])
def test_a_difference_that_some_runs_have_below_0_is_the_mean_of_all_and_no_cost_is_below_0(name, quantity):
    def found(*times_ns: float) -> Any:
        return by_name(fitted(of_runs(*(measured(**{quantity: [time]}) for time in times_ns))))[name]

    assert found(-100.0, 200.0, 500.0).value == pytest.approx(0.2)
    assert found(-100.0, 200.0, 500.0).runs == pytest.approx((0.0, 0.2, 0.5))
    assert found(-500.0, -100.0, 300.0).value == 0


def test_outputs_whose_wumr_counts_the_memory_of_new_twins_are_named_beside_others():
    new = reading({"2x1": measured(**{"WROH.first-write": [3000.0]})}, "new.json")
    old = reading({"2x1": measured()}, "old.json")
    assert [note for note in fitted(new, old).notes if note.startswith("old.json: no WROH.first-write")]
    for alone in (fitted(new), fitted(old)):
        assert not [note for note in alone.notes if "first-write" in note]


def test_the_share_of_a_home_that_waits_is_what_a_fetch_then_takes_longer_or_shorter():
    # 100 us of processor time each, 70 of them the computing home's. From a home that waits a fetch takes 40 us less, or 60 more.
    more = {"RUMR": [607040.0, 607050.0, 607030.0], "RUMR.home": [70000.0, 70010.0, 69990.0]}
    for longer, share in ((-40000.0, 0.3), (60000.0, 1.3), (-90000.0, 0.0)):
        waiting = {"RUMR.waiting": [sample + longer for sample in more["RUMR"]]}
        found = by_name(fitted(reading({"2x1": measured(**more, **waiting)})))
        assert found["local-part.waiting-share"].value == pytest.approx(share, rel=1e-3)
        assert found["local-part.home-share"].value == pytest.approx(0.7, rel=1e-3)
    # A home that loses more than the whole fetch takes has the whole: so has one that waits, if the fetch takes as long.
    as_long = {"RUMR.home": [120000.0] * 3, "RUMR.waiting": more["RUMR"]}
    found = by_name(fitted(reading({"2x1": measured(**(more | as_long))})))
    assert found["local-part.home-share"].value == found["local-part.waiting-share"].value == 1
    assert "local-part.waiting-share" not in by_name(fitted(reading({"2x1": measured(**more)}), **{"local-part.waiting-share": "0.2"}))
    base = {"local-part.home-share": "0.4", "local-part.waiting-share": "0.2"}
    assert by_name(fitted(BARRIER_ALONE, **OTHER_COSTS, **base))["local-part.waiting-share"].value == 0.2


def test_noise_is_how_far_processors_are_apart_and_how_long_they_stay_so():
    """Two processors, of which one is 1.2 times as slow as the other, for 16 pieces each in turn."""
    pieces = [(1.2e6, 1e6) if piece // 16 % 2 else (1e6, 1.2e6) for piece in range(128)]
    times = [time for piece in pieces for time in piece]
    found = by_name(fitted(reading({"2x1": measured(**{"pace": times, "pace.every": [2e6]})})))
    logarithm = math.log(1.2) * math.sqrt(math.pi) / 2
    assert found["noise.deviation"].value == pytest.approx(math.sqrt(math.exp(logarithm**2) - 1))
    assert (found["noise.duration"].unit, found["noise.duration"].kind) == ("us", "fitted")
    assert found["noise.duration"].value > 1e3 * 16 * 2  # longer than a while of 16 pieces, 2 ms each
    # Where nothing but a network was measured, the base file's processors stay, with their noise.
    base = {"noise.deviation": "0.1", "noise.duration": "50ms"}
    assert not any(name.startswith("noise.") for name in by_name(fitted(reading({"2x1": measured()}), **base)))
    quiet = by_name(fitted(reading({"2x1": measured()})))
    assert not any(name.startswith("noise.") for name in quiet)


def test_the_memory_bus_is_the_loops_time_of_all_threads_of_a_node_by_its_time_alone():
    # 2 ms and 2.4 ms on 2x2, 3 ms alone and 3.6 on 1x2: 1.2 both times. Four threads a node: 2.5.
    streams = {"stream.alone": [2e6, 2.1e6, 1.9e6], "stream.together": [2.4e6, 2.5e6, 2.3e6]}
    others = {"stream.alone": [3e6, 3.2e6, 2.8e6], "stream.together": [3.6e6, 3.7e6, 3.5e6]}
    four = {"stream.alone": [2e6, 2.1e6, 1.9e6], "stream.together": [5e6, 5.1e6, 4.9e6]}
    found = fitted(reading({"2x1": measured(), "2x2": streams, "1x2": others, "1x4": four}))
    two = by_name(found)["memory-bus.2"]
    assert (two.value, two.unit, two.kind, two.samples) == (pytest.approx(1.2), "1", "fitted", 6)
    assert len(two.sources) == 2 and all(source.startswith("m.json:") for source in two.sources)
    assert found.value("memory-bus.4") == pytest.approx(2.5)
    (check,) = [check for check in found.checks if check.row == "memory-bus.4"]
    assert (check.measured.value, check.layout) == (pytest.approx(2500), Layout(1, 4))


def test_a_slowdowns_relative_error_is_that_of_both_times():
    alone, together = [2e6, 2.1e6, 1.9e6], [3e6, 3.3e6, 2.7e6]
    both = reading({"2x1": measured(), "1x2": {"stream.alone": alone, "stream.together": together}})
    found = by_name(fitted(both))["memory-bus.2"]
    relative = math.hypot(median(alone).standard_error / 2e6, median(together).standard_error / 3e6)
    assert found.standard_error == pytest.approx(1.5 * relative)


def test_threads_that_seem_to_make_each_other_faster_do_not_and_it_is_reported():
    streams = {"stream.alone": [2e6, 2.1e6, 1.9e6], "stream.together": [1.9e6, 2e6, 1.8e6]}
    found = fitted(reading({"2x1": measured(), "1x2": streams}))
    assert found.value("memory-bus.2") == 1
    assert any("memory-bus.2 came out as 0.95" in note for note in found.notes)


def test_a_memory_bus_that_no_file_measures_is_the_bases_or_none():
    one_thread = reading({"2x1": measured(**{"stream.alone": [2e6, 2.1e6, 1.9e6]})})
    assert not any(name.startswith("memory-bus") for name in by_name(fitted(one_thread)))
    given = by_name(fitted(one_thread, **{"memory-bus.4": "2.5"}))["memory-bus.4"]
    assert (given.value, given.kind) == (2.5, "assumed")
    both = reading({"2x1": measured(), "2x2": {"stream.alone": [2e6], "stream.together": [3e6]}})
    assert "memory-bus.4" not in by_name(fitted(both, **{"memory-bus.4": "2.5"}))


def test_jitter_is_that_of_a_single_fault_and_of_each_processor():
    # Means over 16 faults between 597.04 and 617.04 us: percentiles 16 and 84 are 13.6 us apart, a fault's deviation is
    # 6.8 us * 4; of 100 us of which half is the home's, sqrt(2) times as much for each part.
    data = collect([reading({"2x1": measured(RUMR=[597040.0 + 200 * i for i in range(101)])})])
    assert jitter(data, NETWORK, 0.5) == pytest.approx(6.8 * 4 / 100 * 2**0.5)
    assert jitter(collect([reading({"2x1": measured(RUMR=[600000.0] * 9)})]), NETWORK, 0.5) == 0.0
    # Timed one by one, each is off its own burst's median by -8 to 7 us: percentiles 16 and 84 are 10 us apart. That the
    # second burst is slower altogether is no jitter.
    singles = [597040.0 + 20000 * burst + 1000 * off for burst in (0, 1) for off in range(-8, 8)]
    both = measured(RUMR=[597040.0, 617040.0, 607040.0]) | {"RUMR.single": singles}
    ordered = sorted(2 * [off + 0.5 for off in range(-8, 8)])
    low, high = (ordered[int(p * 31)] + (p * 31 % 1) * (ordered[int(p * 31) + 1] - ordered[int(p * 31)]) for p in (0.16, 0.84))
    assert jitter(collect([reading({"2x1": both})]), NETWORK, 0.5) == pytest.approx((high - low) / 2 / 100 * 2**0.5)
    # Bursts are as long as the output says; one that says nothing had 64 pages where all nodes acted at once, else 16.
    every = [597040.0 + 20000 * burst + 1000 * off for burst in (0, 1) for off in range(-32, 32)]
    both_long = measured(RUMR=[597040.0, 617040.0, 607040.0]) | {"RUMR.single": every}
    whole = sorted(2 * [off + 0.5 for off in range(-32, 32)])
    low, high = (whole[int(p * 127)] + (p * 127 % 1) * (whole[int(p * 127) + 1] - whole[int(p * 127)]) for p in (0.16, 0.84))
    for reported in ({"burst": 64, "together": False}, {"together": True}):
        assert jitter(collect([reading({"2x1": both_long}, **reported)]), NETWORK, 0.5) == pytest.approx((high - low) / 2 / 100 * 2**0.5)
    short = collect([reading({"2x1": both}, burst=16, together=True)])
    assert jitter(short, NETWORK, 0.5) == jitter(collect([reading({"2x1": both})]), NETWORK, 0.5)
    means = [597040.0 + 200 * i for i in range(101)]
    assert jitter(collect([reading({"2x1": measured(RUMR=means)}, burst=64)]), NETWORK, 0.5) == pytest.approx(6.8 * 8 / 100 * 2**0.5)
    # Held-out samples take no fault out of its burst.
    kept, _ = split(collect([reading({"2x1": both})]), 0.5, 1)
    assert next(b for b in kept.batches if b.quantity == "RUMR.single").samples == tuple(s / 1000 for s in singles)


def test_what_a_group_lacks_comes_from_the_base_file_and_is_called_assumed():
    given = properties(parse(BASE))
    sync = reading({"2x1": {"barrier": [40000.0, 41000.0, 39000.0]}})
    found = by_name(fitted(sync, **given))
    assert found["barrier.2x1"].value == 40.0
    assert "barrier.4x1" not in found  # another machine's barriers do not mix with these
    for name, value in (
        ("fault.WUMR", 599),
        ("message.fixed", 61.66),
        ("lock.4x2", 204),
        ("barrier.dirty-home-page", 18.95),
    ):
        assert (found[name].value, found[name].kind) == (value, "assumed"), name
    with pytest.raises(CalibrationError, match="no page fault"):
        fitted(sync)


@pytest.mark.parametrize(
    ("samples", "what"),
    [
        ({"WROH": [1000.0]}, "fault WROR|fault WROL|WUMR"),
        ({kind: [1000.0] for kind in ("WROH", "RUMR", "WROR")}, "too few sizes"),
        ({k: v for k, v in measured().items() if k != "lock"}, "no lock"),
        ({k: v for k, v in measured().items() if k != "barrier"}, "no barrier"),
    ],
)
def test_what_is_missing_is_named(samples, what):
    with pytest.raises(CalibrationError, match=what):
        fitted(reading({"2x1": samples}))


def test_epcc_gives_barriers_and_locks_with_the_layout_reported():
    sync = readers.read(next(path for path in sorted((DATA / "epcc").iterdir()) if "sync" in path.name))
    overheads = [m for m in sync.measurements if m.quantity == "BARRIER overhead" and m.statistic == "mean"]
    threads = int(overheads[0].keys["threads"])
    data = collect([sync], [Layout(1, threads)])
    (barrier,) = [b for b in data.batches if b.quantity == "barrier" and b.layout == Layout(1, threads)]
    assert barrier.estimate.value == pytest.approx(statistics.mean(m.in_unit("us")[0] for m in overheads))
    assert barrier.estimate.standard_error is not None
    assert {b.layout for b in collect([sync]).batches} == {Layout(threads, 1)}


def test_microbench_goes_before_epcc_on_the_same_layout():
    sync = readers.read(next(path for path in sorted((DATA / "epcc").iterdir()) if "sync" in path.name))
    threads = int(next(m for m in sync.measurements if m.quantity == "BARRIER overhead").keys["threads"])
    layout = Layout(threads, 1)
    own = reading({"2x1": measured(), str(layout): measured()} if threads != 2 else {"2x1": measured()})
    found = fitted(own, sync)
    assert found.value(f"barrier.{layout}") == 40.0
    assert any(f"barrier.{layout}: sdsm microbench's samples are used" in note for note in found.notes)


def one_way(network: Network, sizes) -> str:
    rows = []
    for size in sizes:
        seconds = f"{network.idle_us(size) / 1e6:.9f}"
        rows.append(f"{size:8d} {size * 8 / 2**20 / float(seconds):12.6f} {seconds}")
    return "\n".join(rows) + "\n"


SIZES = sorted({(1 << k) + d for k in range(2, 22) for d in (-3, 0, 3) if (1 << k) + d > 0})


@pytest.mark.parametrize(("mbps", "latency_us", "links"), [(100, 5, 2), (10, 50, 2), (1000, 2, 1), (10_000, 10, 4)])
def test_netpipe_gives_latency_and_bandwidth_of_each_link(mbps, latency_us, links):
    network = Network(mbps / 8, latency_us, links)
    found = readers.read_text(Text("np.out", one_way(network, SIZES)))
    rate, latency = fit_network([found], Network(1.0, 1000.0, links))
    assert rate.estimate.value / 1e6 == pytest.approx(mbps, rel=0.01)
    assert latency.estimate.value == pytest.approx(latency_us, rel=0.01, abs=0.02)
    assert "BIC" in rate.how and rate.sources == ("np.out:1",)


def test_a_measured_network_is_the_reference_of_measured_costs_but_not_of_the_bases():
    network = readers.read_text(Text("np.out", one_way(Network(125.0, 3.0, 2), SIZES)))
    own = fitted(reading({"2x1": measured()}), network)
    assert own.value("reference.bandwidth") == pytest.approx(1000, rel=0.01)
    root = parse(BASE)
    alone = fitted(network, **properties(root))
    assert alone.value("reference.bandwidth") == 100
    text, _ = platform(root, BASE.name, alone, network_of(root, BASE.name), ["np.out"])
    written = ElementTree.fromstring(text)
    rates = {link.get("bandwidth") for link in written.iter("link")}
    assert len(rates) == 1 and float(rates.pop().removesuffix("Mbps")) == pytest.approx(1000, rel=0.01)
    assert {p.get("id"): p.get("value") for p in written.iter("prop")}["reference.bandwidth"] == "100Mbps"


@pytest.mark.parametrize(("rate", "others", "is_replaced"), [("100Mbps", True, True), ("1Gbps", False, True), ("1Gbps", True, False)])
def test_a_clusters_links_become_those_of_the_measured_network_if_they_are_the_references_or_all_alike(rate, others, is_replaced):
    root = parse(BASE)
    zone = root.find("zone")
    given = properties(root)
    for child in [child for child in zone if child.tag in ("host", "link", "route")]:
        zone.remove(child)
    cluster = {"id": "c", "radical": "0-3", "speed": "1Gf", "core": "1", "bw": rate, "lat": given["reference.latency"]}
    ElementTree.SubElement(zone, "cluster", cluster)
    if others:
        ElementTree.SubElement(zone, "cluster", cluster | {"id": "d", "bw": given["reference.bandwidth"], "lat": "1us"})
    found = fitted(readers.read_text(Text("np.out", one_way(Network(125.0, 3.0, 2), SIZES))), **given)
    text, notes = platform(root, BASE.name, found, network_of(root, BASE.name), ["np.out"])
    written = ElementTree.fromstring(text).find("zone").find("cluster")
    if is_replaced:
        assert float(written.get("bw").removesuffix("Mbps")) == pytest.approx(1000, rel=0.01)
        assert ["of p3-score.xml's 'd' stay" in note for note in notes] == [True] * others
    else:
        assert written.attrib == cluster and "of p3-score.xml's 'c' stay" in notes[0]


def test_iperf3_gives_bandwidth_on_the_wire():
    found = readers.read(DATA / "network" / "iperf3.loopback.json")
    intervals = [m.values[0] for m in found.measurements if m.quantity == "bandwidth"]
    rate, _ = fit_network([found], NETWORK)
    assert rate.estimate.value == pytest.approx(statistics.median(intervals) * 1538 / 1460)


def test_the_base_keeps_its_network_hosts_and_routes_and_each_cost_has_a_certificate():
    found = fitted(reading({"2x1": measured(), "2x2": measured()}))
    root = parse(BASE)
    text, notes = platform(root, BASE.name, found, NETWORK, ["m.json"])
    written = ElementTree.fromstring(text)
    given = {p.get("id"): p.get("value") for p in written.iter("prop")}
    assert given["reference.bandwidth"] == "100Mbps" and given["fault.WROH"] == "2us"
    assert "barrier.4x2" not in given and given["protocol.invalidation"] == "all"
    was = ElementTree.parse(BASE).getroot()
    for kind in ("host", "link", "route"):
        assert [e.attrib for e in written.iter(kind)] == [e.attrib for e in was.iter(kind)]
    assert "measured: median" in text and "m.json:" in text and "assumed: as WROH" in text
    assert notes == []


def test_text_of_a_file_cannot_break_the_xml():
    found = fitted(reading({"2x1": measured()}, file="a--b-->\n<x>-.json"))
    text, _ = platform(parse(BASE), "b--.xml", found, NETWORK, ["a--b-->-"])
    assert {p.get("id") for p in ElementTree.fromstring(text).iter("prop")} >= {"fault.WROH"}
    assert "--" not in commentable("a----b")


@pytest.mark.parametrize("value", [1e-7, 0.0, 123456.789, 5e9, 0.1819191919])
def test_numbers_are_written_without_exponents_to_six_digits(value):
    assert "e" not in plain(value)
    assert float(plain(value)) == pytest.approx(value, rel=1e-5)


def test_what_a_fit_at_its_bound_leaves_is_written_as_nothing():
    (parameter,) = [p for p in fitted(reading({"2x1": measured()})).parameters if p.name == "message.per-byte"]
    assert with_unit(replace(parameter, value=1.5e-21)) == "0us/B"
    assert with_unit(replace(parameter, value=1.5e-6)) == "0.0000015us/B"


def test_a_certificate_has_error_samples_kind_and_place():
    (parameter,) = [p for p in fitted(reading({"2x1": measured()})).parameters if p.name == "fault.WROH"]
    reported = certificate(parameter)
    for part in ("measured: median", "standard error", "us", "3 samples", "m.json:"):
        assert part in reported


def test_held_out_samples_are_not_fitted_on_and_none_is_lost():
    samples = [float(1000 + i) for i in range(10)]
    data = collect([reading({"2x1": measured(WROH=samples)})])
    kept, held = split(data, 0.3, seed=1)
    parts = [next(b.samples for b in part.batches if b.quantity == "WROH") for part in (kept, held)]
    assert [len(part) for part in parts] == [7, 3]
    assert sorted(parts[0] + parts[1]) == pytest.approx([sample / 1000 for sample in samples])
    assert split(data, 0.3, seed=1) == (kept, held)
    assert split(data, 0.3, seed=2) != (kept, held)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.5, math.nan])
def test_a_fraction_that_leaves_nothing_is_refused(fraction):
    with pytest.raises(ValueError):
        split(collect([reading({"2x1": measured()})]), fraction, 1)


def test_the_network_takes_of_a_fetch_what_the_simulator_says_it_does():
    # 32 bytes are 110 on the wire, 4096 in three frames 4330, the first of which is 1538; two cables of 5 us.
    network = network_of(parse(BASE), "p3")
    assert network.fetch_us == pytest.approx((2 * 110 + 4330 + 1538) * 0.08 + 4 * 5) == pytest.approx(WIRE_US)


@pytest.mark.parametrize("text", ["hello", "<platform/>", '<platform><zone id="a" routing="Full"/></platform>'])
def test_a_base_that_is_no_platform_is_refused(tmp_path, text):
    file = tmp_path / "base.xml"
    file.write_text(text)
    with pytest.raises(PlatformFileError):
        network_of(parse(file), str(file))


def test_layouts_of_more_threads_than_processors_give_their_own_barrier_alone():
    slow = measured(RUMR=[90000.0], WROL=[70000.0], barrier=[800000.0]) | {"barrier.dirty64": [50000.0 + 64 * 90000.0]}
    both = on_processors(2, {"2x1": measured(), "2x2": slow})
    found = fitted(both)
    assert found.value("fault.RUMR") == 2.0 and found.value("barrier.dirty-home-page") == 1.5
    assert (found.value("barrier.2x1"), found.value("barrier.2x2")) == (40.0, 800.0)
    assert next(p for p in found.parameters if p.name == "fault.WROL").kind == "assumed"
    (left_out,) = found.left_out
    assert left_out.startswith("m.json: 2x2 has more threads than the machine's 2 processors")
    assert f"{left_out}. --oversubscribed takes all" in found.notes
    # Unless told otherwise; where the network is emulated, processors wait for it; and where there are enough of them.
    for data in (
        collect([both], oversubscribed=True),
        collect([on_processors(2, {"2x1": measured(), "2x2": slow}, emulated="p.xml")]),
        collect([on_processors(4, {"2x1": measured(), "2x2": slow})]),
    ):
        assert fit(data, NETWORK).value("fault.WROL") == 70.0 and not data.left_out


def test_a_file_of_such_layouts_alone_gives_no_platform():
    with pytest.raises(CalibrationError, match=r"m\.json: every layout has more threads than the machine's 1 processor.*--oversubscribed"):
        collect([on_processors(1, {"2x1": measured()})])
