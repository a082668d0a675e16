"""Does platforms/p3-score.xml come from the published tables, to the byte?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sdsm.base.published import FOLDER
from sdsm.calibrate import p3_score
from sdsm.calibrate.command import main

PLATFORM = Path(__file__).resolve().parents[2] / "platforms" / "p3-score.xml"


def changed(tmp_path, table, old, new):
    folder = tmp_path / "published"
    shutil.copytree(FOLDER, folder)
    file = folder / f"{table}.csv"
    assert file.read_text().count(old) == 1
    file.write_text(file.read_text().replace(old, new), errors="surrogateescape")
    return folder


def differences(text):
    was, is_now = PLATFORM.read_text().splitlines(), text.splitlines()
    assert len(was) == len(is_now)
    return [new.strip() for old, new in zip(was, is_now, strict=True) if old != new]


def test_the_command_writes_the_platform_file_byte_for_byte(tmp_path, capsysbinary):
    out = tmp_path / "p3.xml"
    assert main(["p3-score", "-o", str(out)]) == 0
    assert out.read_bytes() == PLATFORM.read_bytes()
    assert b"18.95 +-0.59 us" in capsysbinary.readouterr().out
    assert main(["p3-score"]) == 0
    assert capsysbinary.readouterr().out == PLATFORM.read_bytes()


def test_a_published_number_changes_its_property_alone(tmp_path):
    folder = changed(tmp_path, "scash_faults", "WROL,yes,no,yes,44,", "WROL,yes,no,yes,45.5,")
    assert differences(p3_score.platform(folder).text) == ['<prop id="fault.WROL" value="45.5us"/>']


def test_what_the_fit_rests_on_changes_what_is_fitted(tmp_path):
    # Two threads take 6.8 s: 1000 us more per iteration over 1022 pages, weighted with the other equation.
    folder = changed(tmp_path, "laplace_times", "WR-opt,4,1024,100,2,1,6.7,", "WR-opt,4,1024,100,2,1,6.8,")
    more = 1022 * 1000 / (1022**2 + 512**2)
    expected = round((1022 * 19489.0 + 512 * 9464.3) / (1022**2 + 512**2) + more, 2)
    fitted = f'<prop id="barrier.dirty-home-page" value="{expected:.2f}us"/>'
    assert differences(p3_score.platform(folder).text) == [fitted]


def test_every_number_has_a_source_and_the_fitted_one_its_error():
    parameters = {p.name: p for p in p3_score.platform().parameters}
    assert all(p.sources and p.sources[0] for p in parameters.values())
    dirty = parameters["barrier.dirty-home-page"]
    assert (dirty.kind, dirty.samples) == ("fitted", 2)
    assert dirty.standard_error == pytest.approx(0.59, abs=0.005)
    assert parameters["local-part.home-share"].kind == "assumed"


def test_a_comparison_figure_is_never_used(tmp_path):
    folder = changed(tmp_path, "laplace_times", "WR-opt,3,1024,100,2,1,6.9,", "WR-opt,3,1024,100,2,1,99,")
    assert p3_score.platform(folder).text == PLATFORM.read_text()


@pytest.mark.parametrize(
    ("table", "old", "new"),
    [
        ("laplace_times", "1,1,7.5,0.05,minimum,calibration", "1,1,7.5,0.05,minimum,comparison"),
        ("scash_messages", "Send2,61.66", "Send3,61.66"),
        ("scash_faults", "WROH,no,no,no,8,", "WROH,no,no,no,eight,"),
        ("scash_faults", "WROH,no,no,no,8,", "WROH,no,no,no,-8,"),
        ("scash_faults", "WROH,no,no,no,8,", "WRXH,no,no,no,8,"),
        ("scash_faults", "WROH,no,no,no,8,", "WR\udcffH,no,no,no,8,"),
        ("scash_faults", "time_us", "time_ms"),
    ],
)
def test_tables_that_lack_what_is_needed_are_reported_in_one_line(tmp_path, capsys, table, old, new):
    out = tmp_path / "p3.xml"
    folder = changed(tmp_path, table, old, new)
    assert main(["p3-score", "--published", str(folder), "-o", str(out)]) == 2
    reported = capsys.readouterr().err
    assert reported.startswith("sdsm: ") and len(reported.splitlines()) == 1 and str(folder) in reported
    assert not out.exists()
