"""platforms/p3-score.xml says what the published tables and the calibration say: no figure was mistyped or tuned."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from sdsm.base import published
from sdsm.calibrate import dirty_page

PLATFORM = Path(__file__).resolve().parents[2] / "platforms" / "p3-score.xml"


@pytest.fixture(scope="module")
def props() -> dict[str, str]:
    return {prop.attrib["id"]: prop.attrib["value"] for prop in ElementTree.parse(PLATFORM).iter("prop")}


def microseconds(text: str) -> float:
    match = re.fullmatch(r"([0-9.]+)us(?:/B)?", text)
    assert match, text
    return float(match.group(1))


def test_each_of_the_ten_faults_costs_what_was_published(props):
    rows = published.calibration_rows("scash_faults")
    assert {name for name in props if name.startswith("fault.")} == {f"fault.{row['name']}" for row in rows}
    for row in rows:
        assert microseconds(props[f"fault.{row['name']}"]) == published.number(row, "time_us")


@pytest.mark.parametrize(("construct", "prefix"), [("BARRIER", "barrier"), ("LOCK/UNLOCK", "lock")])
def test_barriers_and_locks_cost_what_was_published_on_each_layout(props, construct, prefix):
    rows = published.calibration_rows("scash_synchronisation", construct=construct)
    layouts = {f"{prefix}.{row['nodes']}x{row['threads_per_node']}": row for row in rows}
    assert {name for name in props if re.fullmatch(rf"{prefix}\.\d+x\d+", name)} == set(layouts)
    for name, row in layouts.items():
        assert microseconds(props[name]) == published.number(row, "overhead_us")


def test_a_message_costs_what_was_published(props):
    (row,) = published.calibration_rows("scash_messages", operation="Send2")
    assert microseconds(props["message.fixed"]) == published.number(row, "fixed_us")
    assert microseconds(props["message.per-byte"]) == published.number(row, "per_byte_us")


def test_a_dirty_home_page_costs_what_the_calibration_gives(props):
    assert microseconds(props["barrier.dirty-home-page"]) == dirty_page.dirty_home_page_us()
