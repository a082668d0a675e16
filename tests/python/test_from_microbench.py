"""Is a platform file what microbench measured?"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from calibration import from_microbench

BASE = Path(__file__).resolve().parents[2] / "platforms" / "p3-score.xml"


def measured(**more: list[float]) -> dict[str, list[float]]:
    """Nanoseconds. A message of b bytes takes 10 us + b * 0.1 us beside the 5 us of an empty release."""
    samples = {kind: [1000.0, 3000.0, 2000.0] for kind in ("WROH", "RUMR", "WUMR", "WROR")}
    samples["release.0"] = [5000.0]
    for words in (1, 4, 16, 64, 256):
        samples[f"release.{words}"] = [5000.0 + 10000.0 + 100.0 * (12 + 4 * words)]
    samples |= {"barrier": [40000.0], "lock": [7000.0], "barrier.dirty0": [50000.0], "barrier.dirty64": [50000.0 + 64 * 1500.0]}
    return samples | more


def properties(text: str) -> dict[str, str]:
    return {p.get("id", ""): p.get("value", "") for p in ElementTree.fromstring(text).iter("prop")}


def test_costs_are_medians_and_a_line_through_the_messages():
    costs = {name: value for name, (value, _) in from_microbench.costs({"2x1": measured()}).items()}
    assert costs["fault.RUMR"] == "2.000us"
    assert costs["message.fixed"] == "10.000us"
    assert costs["message.per-byte"] == "0.100000us/B"
    assert costs["barrier.2x1"] == "40.000us"
    assert costs["lock.2x1"] == "7.000us"
    assert costs["barrier.dirty-home-page"] == "1.500us"


def test_faults_among_companions_come_from_a_layout_that_has_them_else_are_called_assumed():
    alone = from_microbench.costs({"2x1": measured()})
    assert alone["fault.RROR"] == ("2.000us", "assumed: as WROH")
    together = from_microbench.costs({"2x1": measured(), "2x2": measured(RROR=[9000.0])})
    assert together["fault.RROR"] == ("9.000us", "measured")


def test_the_network_is_that_of_the_base_file():
    written = properties(from_microbench.platform(BASE, from_microbench.costs({"2x1": measured()})))
    assert written["reference.bandwidth"] == "100Mbps"
    assert written["fault.WROH"] == "2.000us"
    assert "barrier.4x2" not in written


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["four.json"], "LAYOUT=FILE"),
        (["4x1=nowhere.json"], "nowhere.json"),
        (["4x1=text.json"], "not JSON"),
        (["4x1=other.json"], "not what microbench prints"),
        (["1x2=good.json"], "several nodes"),
    ],
)
def test_unusable_input_gives_one_line_and_status_2(tmp_path, monkeypatch, capsys, arguments, what):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.json").write_text("hello")
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "good.json").write_text(json.dumps(measured()))
    assert from_microbench.main(["--base", str(BASE), "-o", "out.xml", *arguments]) == 2
    told = capsys.readouterr().err
    assert what in told
    assert len(told.strip().splitlines()) == 1
    assert not (tmp_path / "out.xml").exists()
