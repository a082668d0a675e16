"""scripts/swim: what is calibrated, what predicted, and how a whole run's time comes from short ones."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

from calibration import jiajia_alpha, published
from calibration.command_line import RunFailed
from calibration.places import PLATFORMS
from sdsm_swim import tables
from sdsm_swim.job import Simulated, fitted
from sdsm_swim.plan import VARIANTS, calibrated_s, published_swim

ROOT = Path(__file__).resolve().parents[2]
SIZE = 250


def test_the_platform_file_is_what_its_assumptions_and_its_fitted_value_make():
    assert (PLATFORMS / "jiajia-alpha.xml").read_text() == jiajia_alpha.platform()


def test_a_page_request_costs_a_trap_two_messages_and_the_bytes_of_both():
    text = jiajia_alpha.platform(message_fixed_us=50)
    # 20 us, twice 50 us, and 40 + 44 + 8192 bytes at 0.01 us; a written page has a twin of 20 us.
    assert 'id="jiajia.fault.RUMR" value="202.76us"' in text
    assert 'id="jiajia.fault.WIVR" value="222.76us"' in text


def test_computing_is_the_one_thread_time_of_each_variant():
    swim = published_swim()
    assert swim.iteration_s("none", 3802) == pytest.approx(0.995 * 267.67 / 300)
    assert swim.sequential_s("none", 3802) == pytest.approx(0.005 * 267.67)
    assert swim.iteration_s("page placement", 1901) == pytest.approx(0.995 * 248.27 / 300 / 4)


def test_no_comparison_figure_reaches_a_simulation_or_the_fit(tmp_path):
    folder = shutil.copytree(published.FOLDER, tmp_path / "published")
    table = folder / "swim_times.csv"
    lines = table.read_text().splitlines()
    changed = [line.replace(",153.8,", ",1,").replace(",132.13,", ",1,") if line.endswith("comparison") else line for line in lines]
    assert changed != lines
    table.write_text("\n".join(changed) + "\n")
    assert published_swim(folder) == published_swim()
    assert calibrated_s(folder) == calibrated_s() == 200.28
    line = tables.Line(VARIANTS[0], 4, 150.0)
    assert (tables.published_s(line), tables.published_s(line, folder)) == (153.8, 1.0)


def test_the_times_on_one_thread_and_on_two_before_the_optimisations_are_calibration():
    uses = {(v.name, n): tables.Line(v, n, 1.0).use for v in VARIANTS for n in (1, 2, 4, 8)}
    assert [key for key, use in uses.items() if use == "calibration"] == [
        ("none", 1),
        ("none", 2),
        ("page placement", 1),
        ("page placement and privatization", 1),
    ]
    known = {(row["optimisations"], int(row["threads"])) for row in published.calibration_rows("swim_times")}
    assert known == {key for key, use in uses.items() if use == "calibration"}


def test_further_iterations_cost_what_the_last_ones_did():
    few, more = Simulated(10, 100, 0, 7, 1, 5), Simulated(16, 130, 0, 7, 4, 8)
    # Three more iterations: 6 s and 30 faults. To 12 from 6: twice as much again.
    assert more.beyond(few, 2) == Simulated(28, 190, 0, 7, 10, 14)


def test_a_cost_is_fitted_where_a_curved_time_meets_the_wanted_one():
    tried = []

    def time_s(cost_us: float) -> float:
        tried.append(cost_us)
        return 100 + 0.001 * cost_us**2

    assert fitted(time_s, 101.6, 20, 60) == pytest.approx(40, abs=0.3)
    assert len(tried) < 8


def test_a_time_below_that_without_the_cost_is_refused():
    with pytest.raises(RunFailed, match="at no cost above zero"):
        fitted(lambda cost_us: 100 + cost_us, 90, 20, 60)


def swim(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "swim", "--size", str(SIZE), "--threads", "2,4", "--results", folder, *arguments],
        capture_output=True, text=True,
    )  # fmt: skip


def rows(folder: Path) -> dict[tuple[str, int], dict[str, str]]:
    with (folder / "swim.csv").open() as file:
        return {(row["optimisations"], int(row["threads"])): row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("swim")
    done = swim(folder)
    assert done.returncode == 0, done.stderr
    assert "The published times are of size 3802." in done.stdout
    assert done.stdout == (folder / "swim.txt").read_text()
    return folder


def test_a_longer_run_lies_on_the_line_through_two_short_ones(results):
    for key, row in rows(results).items():
        if key[1] > 1:
            assert float(row["check_extrapolated_s"]) == pytest.approx(float(row["check_simulated_s"]), rel=0.05), key


def test_placement_takes_page_requests_away_from_two_and_four_threads(results):
    found = rows(results)
    for threads in (2, 4):
        before, placed = (found[name, threads] for name in ("none", "page placement"))
        assert int(placed["page_requests"]) < int(before["page_requests"])
        assert float(placed["time_s"]) < float(before["time_s"])


def test_one_thread_takes_its_published_time_over_the_square_of_the_sizes(results):
    assert float(rows(results)["none", 1]["time_s"]) == pytest.approx(267.67 * (SIZE / 3802) ** 2, abs=0.001)


def test_a_second_job_goes_on_from_what_the_first_has_left(results):
    made = {path: path.stat().st_mtime_ns for path in results.rglob("*") if path.is_file() and path.parent != results}
    text = (results / "swim.txt").read_text()
    lost = next(path for path in made if path.parent.name == "simulations" and "12i-4t-none" in path.name)
    lost.unlink()
    again = swim(results)
    assert again.returncode == 0, again.stderr
    assert again.stdout == text
    assert again.stderr.count(": simulated") == 1
    assert again.stderr.count(": traced") == 0
    assert {path: path.stat().st_mtime_ns for path in made if path != lost} == {p: t for p, t in made.items() if p != lost}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--check", "6"), "is not more than --iterations"),
        (("--iterations", "6,3"), "no list of 2 ascending whole numbers"),
        (("--threads", "1"), "not a whole number from 2"),
        (("--platform", "nothing.xml"), "is no file"),
        (("--build", "nothing"), "does not exist"),
        (("--calibrate",), "is for the published size"),
    ],
)
def test_a_slip_is_told_in_one_line(tmp_path, arguments, words):
    slip = swim(tmp_path / "results", *arguments)
    assert slip.returncode == 2
    assert words in slip.stderr
    assert len(slip.stderr.splitlines()) == 1
    assert slip.stdout == ""
