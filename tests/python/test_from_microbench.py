"""Is a platform file what microbench measured?"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from calibration import from_microbench

#: A request and a page on cable, switch, cable: 28 + 479 us.
WIRE_US = 507.04
BASE = Path(__file__).resolve().parents[2] / "platforms" / "p3-score.xml"


def measured(**more: list[float]) -> dict[str, list[float]]:
    """Nanoseconds. A message of b bytes takes 10 us + b * 0.1 us beside the 5 us of an empty release."""
    samples = {kind: [1000.0, 3000.0, 2000.0] for kind in ("WROH", "RUMR", "WUMR", "WROR")}
    samples["release.0"] = [5000.0]
    for words in (1, 4, 16, 64, 256):
        samples[f"release.{words}"] = [5000.0 + 10000.0 + 100.0 * (12 + 4 * words)]
    samples |= {"barrier": [40000.0], "lock": [7000.0], "barrier.dirty0": [50000.0], "barrier.dirty64": [50000.0 + 64 * 1500.0]}
    return samples | more


def document(layouts: dict[str, dict[str, list[float]]], **more: float) -> dict:
    return {
        "format": "sdsm-microbench",
        "version": 1,
        "layouts": {name: {"samples_ns": samples, **more} for name, samples in layouts.items()},
    }


def properties(text: str) -> dict[str, str]:
    return {p.get("id", ""): p.get("value", "") for p in ElementTree.fromstring(text).iter("prop")}


def test_costs_are_medians_and_a_line_through_the_messages():
    costs = {name: value for name, (value, _) in from_microbench.costs(document({"2x1": measured()}), WIRE_US).items()}
    assert costs["fault.RUMR"] == "2.000us"
    assert costs["message.fixed"] == "10.000us"
    assert costs["message.per-byte"] == "0.100000us/B"
    assert costs["barrier.2x1"] == "40.000us"
    assert costs["lock.2x1"] == "7.000us"
    assert costs["barrier.dirty-home-page"] == "1.500us"


def test_faults_among_companions_come_from_a_layout_that_has_them_else_are_called_assumed():
    alone = from_microbench.costs(document({"2x1": measured()}), WIRE_US)
    assert alone["fault.RROR"] == ("2.000us", "assumed: as WROH")
    together = from_microbench.costs(document({"2x1": measured(), "2x2": measured(RROR=[9000.0])}), WIRE_US)
    assert together["fault.RROR"] == ("9.000us", "measured")


def test_the_network_is_that_of_the_base_file():
    written = properties(from_microbench.platform(BASE, from_microbench.costs(document({"2x1": measured()}), WIRE_US)))
    assert written["reference.bandwidth"] == "100Mbps"
    assert written["fault.WROH"] == "2.000us"
    assert "barrier.4x2" not in written


def test_the_network_takes_of_a_fetch_what_the_simulator_says_it_does():
    # 32 bytes are 110 on the wire, 4096 in three frames 4330, the first of which is 1538; two cables of 5 us.
    assert from_microbench.fetch_wire_us(BASE) == pytest.approx((2 * 110 + 4330 + 1538) * 0.08 + 4 * 5)


def test_the_homes_share_is_its_service_beside_the_whole_processor_time():
    # 607.04 us in all, 100 us of them processors', 30 us of these the home's.
    served = document({"2x1": measured(RUMR=[607040.0])}, pages_served=1000, page_service_s=0.03)
    assert from_microbench.home_share(served, WIRE_US) == pytest.approx(0.3)
    assert from_microbench.costs(served, WIRE_US)["local-part.home-share"][0] == "0.300"
    assert from_microbench.home_share(document({"2x1": measured()}), WIRE_US) is None


def test_jitter_is_that_of_a_single_fault_and_of_each_processor():
    # Means over 16 faults between 597.04 and 617.04 us: percentiles 16 and 84 are 13.6 us apart, a fault's deviation is
    # 6.8 us * 4; of 100 us of which half is the home's, sqrt(2) times as much for each part.
    samples = [597040.0 + 200 * i for i in range(101)]
    served = document({"2x1": measured(RUMR=samples)}, pages_served=1000, page_service_s=0.05)
    assert from_microbench.jitter(served, WIRE_US) == pytest.approx(6.8 * 4 / 100 * 2**0.5)
    assert from_microbench.jitter(document({"2x1": measured(RUMR=[600000.0] * 9)}), WIRE_US) == 0.0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nowhere.json"], "nowhere.json"),
        (["text.json"], "not JSON"),
        (["other.json"], "not what `sdsm microbench"),
        (["later.json"], "version 2"),
        (["empty.json"], "no layout"),
        (["negative.json"], "2x1"),
        (["alone.json"], "several nodes"),
        (["little.json"], "'RUMR' was not measured"),
    ],
)
def test_unusable_input_gives_one_line_and_status_2(tmp_path, monkeypatch, capsys, arguments, what):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.json").write_text("hello")
    (tmp_path / "other.json").write_text('{"a": 1}')
    without = measured()
    del without["RUMR"]
    for name, content in {
        "later": document({"2x1": measured()}) | {"version": 2},
        "empty": document({}),
        "negative": document({"2x1": measured(RUMR=[-1.0])}),
        "alone": document({"1x2": measured()}),
        "little": document({"2x1": without}),
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    assert from_microbench.main(["--base", str(BASE), "-o", "out.xml", *arguments]) == 2
    told = capsys.readouterr().err
    assert what in told
    assert len(told.strip().splitlines()) == 1
    assert not (tmp_path / "out.xml").exists()
