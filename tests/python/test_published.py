"""The published tables: complete, well formed, and calibration kept apart from comparison."""

import shutil

import pytest

from sdsm.base import published
from sdsm.calibrate import dirty_page

TABLES = sorted(path.stem for path in published.FOLDER.glob("*.csv"))


def test_every_table_is_read_and_says_source_and_use_for_every_row():
    assert len(TABLES) == 12
    for table in TABLES:
        rows = published.all_rows(table)
        assert rows
        assert {row["source"] for row in rows} <= {"WR-opt", "WR-env", "HY", "KB"}


@pytest.mark.parametrize("table", TABLES)
def test_every_figure_with_a_unit_is_a_positive_number_or_absent(table):
    units = ("_s", "_us", "_fraction")
    for row in published.all_rows(table):
        for column, text in row.items():
            if column.endswith(units) and text and column != "per_byte_us":
                assert published.number(row, column) > 0


def test_the_fault_table_has_the_ten_kinds_and_a_name_spells_its_row():
    rows = published.all_rows("scash_faults")
    assert len({row["name"] for row in rows}) == 10
    letters = {"read-only": "RO", "read-write": "RW", "unmapped": "UM"}
    for row in rows:
        assert row["name"] == row["access"][0].upper() + letters[row["permission_before"]] + row["owner"][0].upper()


def test_the_rb3d_fraction_is_the_ratio_of_its_two_times_to_the_two_printed_digits():
    for row in published.all_rows("rb3d_iteration"):
        ratio = published.number(row, "communication_s") / published.number(row, "step_s")
        assert ratio == pytest.approx(published.number(row, "communication_fraction"), abs=0.006)


def test_a_calibration_value_is_found_by_its_columns():
    assert published.calibration_value("scash_faults", "time_us", name="WUMR") == 599
    assert published.calibration_value("fft_times", "time_s", implementation=3) == 3.3


def test_a_comparison_figure_is_never_given_as_a_calibration_value():
    with pytest.raises(published.PublishedDataError, match="0 rows for calibration"):
        published.calibration_value("laplace_times", "time_s", source="WR-opt", implementation=6, nodes=4)


def test_only_implementation_0_and_the_two_times_of_4_calibrate_laplace():
    rows = published.calibration_rows("laplace_times")
    assert [(r["implementation"], r["nodes"], r["time_s"]) for r in rows] == [
        ("0", "1", "7.5"),
        ("4", "2", "6.7"),
        ("4", "4", "4.2"),
    ]


def test_an_ambiguous_or_unknown_choice_is_an_error_that_says_so():
    with pytest.raises(published.PublishedDataError, match="2 rows for calibration"):
        published.calibration_value("laplace_times", "time_s", implementation=4)
    with pytest.raises(published.PublishedDataError, match="no column colour"):
        published.all_rows("laplace_times", colour="red")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source,time_s,use\nWR-opt,7.5\n", "number of fields"),
        ("source,time_s,use\nWR-opt,7.5,comparison,more\n", "number of fields"),
        ("source,time_s,use\nWR-opt,7.5,calibrate\n", "expected one of calibration, comparison"),
        ("source,time_s,use\n,7.5,calibration\n", "no source"),
        ("source,time_s,use\nWR-opt,fast,calibration\n", "not a number"),
    ],
)
def test_a_damaged_table_is_an_error_that_names_the_trouble(tmp_path, content, message):
    (tmp_path / "times.csv").write_text(content)
    with pytest.raises(published.PublishedDataError, match=message):
        published.calibration_value("times", "time_s", tmp_path)


def test_a_missing_table_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(published.PublishedDataError, match=r"nothing\.csv"):
        published.all_rows("nothing", tmp_path)


def test_the_fit_follows_a_changed_calibration_figure_and_ignores_a_changed_comparison_figure(tmp_path):
    folder = shutil.copytree(published.FOLDER, tmp_path / "published")
    times = folder / "laplace_times.csv"
    text = times.read_text()
    times.write_text(text.replace("WR-opt,6,1024,100,2,1,6.8", "WR-opt,6,1024,100,2,1,9.9"))
    assert dirty_page.dirty_home_page_us(folder) == 18.95
    # 0.1 s more on two threads is 1 ms per iteration: (1022 x 20489 + 512 x 9464.3) / 1 306 628 = 19.73
    times.write_text(text.replace("WR-opt,4,1024,100,2,1,6.7", "WR-opt,4,1024,100,2,1,6.8"))
    assert dirty_page.dirty_home_page_us(folder) == 19.73
