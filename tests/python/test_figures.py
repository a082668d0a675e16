"""The figures: what they show, from lines made by hand."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import run_results
from benchmark_files import DATA
from legends import data_under_legends
from sdsm.base.run_result import Simulation
from sdsm.plot import style
from sdsm.report.main_job.figures import (
    OF_LINES,
    fft_speedup,
    fft_time,
    laplace_speedup,
    laplace_spread,
    laplace_time,
    protocols,
    time_account,
)
from sdsm.report.main_job.figures.__main__ import main
from sdsm.report.main_job.plan import Configuration, Layout
from sdsm.report.main_job.protocols import ProtocolRow, platform_of
from sdsm.report.main_job.report import line
from sdsm.report.main_job.rows import read_rows, write_rows
from sdsm.report.main_job.tables import write_summary

ROOT = Path(__file__).resolve().parents[2]
ALL = (laplace_speedup, laplace_time, laplace_spread, fft_speedup, fft_time)


def result(makespan_s, threads, **time_s):
    accounts = [run_results.thread(number, 0, time_s or {"compute": makespan_s}) for number in range(threads)]
    return msgspec.convert(run_results.simulation(threads, makespan_s, threads=accounts), Simulation)


def laplace(implementation, nodes, *times_s):
    return line(Configuration("laplace", implementation, Layout(nodes, 1)), [result(t, nodes) for t in times_s])


def fft(implementation, nodes, per_node, time_s):
    layout = Layout(nodes, per_node)
    return line(Configuration("fft", implementation, layout), [result(time_s, layout.threads)])


def markers(axes):
    return [(round(m.get_ydata()[0], 3), m.get_markerfacecolor()) for m in axes.lines if m.get_marker() == "o"]


def test_published_points_are_hollow_where_they_calibrated_and_filled_where_not():
    lines = [laplace(0, 1, 7.5), laplace(4, 1, 7.5), laplace(4, 2, 6.7), laplace(6, 1, 7.5), laplace(6, 2, 6.9)]
    axes = laplace_speedup.draw(lines).axes
    assert markers(axes[4]) == [(1.0, "white"), (round(7.5 / 6.7, 3), "white")]
    assert markers(axes[5]) == [(1.0, "white"), (round(7.5 / 6.8, 3), style.PUBLISHED)]


def test_the_predicted_line_is_the_speedup_of_the_predicted_times():
    axes = laplace_speedup.draw([laplace(0, 1, 7.5), laplace(3, 1, 7.5), laplace(3, 4, 5.0)]).axes[1]
    predicted = next(drawn for drawn in axes.lines if drawn.get_linewidth() == 2)
    assert list(predicted.get_xdata()) == [1, 4]
    assert list(predicted.get_ydata()) == pytest.approx([1.0, 1.5])


def test_every_second_of_an_account_is_in_a_bar():
    account = {"compute": 1.0, "fault RUMR": 2.0, "fault WRWL": 0.5, "fault RROR": 0.25, "idle": 0.125}
    account["unheard of"] = 3.0
    sums = time_account.grouped(account)
    assert sum(sums.values()) == sum(account.values())
    assert (sums["fault other"], sums["other"], sums["fault RUMR"]) == (0.75, 3.0, 2.0)


def test_a_bars_pieces_are_its_accounts_terms_end_to_end():
    run = line(Configuration("fft", 1, Layout(2, 1)), [result(3.0, 2, compute=1.0, fault={"RUMR": 1.5}, barrier=0.5)])
    axes = fft_time.draw([run]).axes[0]
    pieces = [(round(p.get_x(), 6), round(p.get_width(), 6)) for p in axes.patches]
    assert pieces == [(0.0, 1.0), (1.0, 1.5), (2.5, 0.5)]
    assert "3.00 s" in [text.get_text() for text in axes.texts]


def test_one_thread_runs_are_left_out_of_laplaces_account():
    assert laplace_time.draw([laplace(3, 1, 7.5)]) is None


def test_a_distribution_shows_every_seed_and_the_published_minimum():
    axes = laplace_spread.draw([laplace(2, 2, 61.0, 62.0, 66.0)]).axes[0]
    seeds, published = (drawn for drawn in axes.lines if drawn.get_marker() == "|")
    assert list(seeds.get_xdata()) == [61.0, 62.0, 66.0]
    assert list(published.get_xdata()) == [63.5]


def test_fft_bars_stand_at_their_speedup_over_the_sequential_program():
    axes = fft_speedup.draw([fft(2, 1, 1, 1.6), fft(4, 4, 2, 0.75)]).axes[0]
    assert [round(bar.get_height(), 4) for bar in axes.patches] == [0.9375, 2.0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1x1", "4x2"]


@pytest.mark.parametrize("module", ALL)
def test_a_figure_without_data_is_none_and_one_with_half_of_it_is_drawn(module):
    assert module.draw([]) is None
    nothing = [line(Configuration(p, 1, Layout(2, 1)), ["not run"]) for p in ("laplace", "fft")]
    assert module.draw(nothing) is None
    half = [laplace(0, 1, 7.5), laplace(1, 2, 64.0, 65.0), fft(3, 4, 1, 1.5), *nothing]
    assert not data_under_legends(module.draw(half))


def tables(folder, lines):
    write_summary(folder, lines, {})
    write_rows(folder / "protocols.csv", [])
    write_rows(folder / "directives.csv", [])


def test_figures_can_be_drawn_again_from_the_tables(tmp_path, capsys):
    tables(tmp_path, [laplace(0, 1, 7.5), laplace(1, 2, 64.0, 65.0), fft(3, 4, 1, 1.5)])
    assert main([str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    for name in OF_LINES:
        assert (tmp_path / f"{name}.png").stat().st_size > 1000
        assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
        assert str(tmp_path / f"{name}.png") in printed


def test_no_summary_is_status_2_and_an_empty_one_status_1(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert "summary.json" in capsys.readouterr().err
    tables(tmp_path, [])
    assert main([str(tmp_path)]) == 1
    assert "Run the main job" in capsys.readouterr().err


def test_each_protocol_is_a_line_of_its_own_speedups_and_one_without_costs_is_none(tmp_path):
    rows = [
        ProtocolRow("laplace", 4, nodes, protocol, f"p3-{protocol}.xml", "done", 7.5 / speedup, speedup)
        for protocol, speedups in (("scash", (1.0, 1.5)), ("jiajia", (1.0, 1.25)))
        for nodes, speedup in zip((1, 4), speedups, strict=True)
    ] + [ProtocolRow("laplace", 4, 1, "hardware", "p3-score.xml", "refused: it has one node")]
    write_rows(tmp_path / "rows.csv", rows)
    assert read_rows(tmp_path / "rows.csv", ProtocolRow) == rows
    (axes,) = protocols.draw(rows).axes
    drawn = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}
    assert drawn["scash (p3-scash.xml)"] == ([1, 4], [1.0, 1.5])
    assert drawn["jiajia (p3-jiajia.xml)"] == ([1, 4], [1.0, 1.25])
    assert set(drawn) == {"ideal", "scash (p3-scash.xml)", "jiajia (p3-jiajia.xml)"}
    assert protocols.draw(rows[-1:]) is None
    assert protocols.draw([]) is None


def test_a_protocols_costs_are_those_of_the_machines_file_beside_or_its_own(tmp_path):
    own, beside = tmp_path / "p3-score.xml", tmp_path / "p3-jiajia.xml"
    beside.write_text("")
    assert (platform_of("jiajia", own), platform_of("scash", own)) == (beside, own)


@pytest.mark.parametrize("backend", ["", "module://matplotlib_inline.backend_inline", "nonsense", "qtagg"])
def test_figures_are_drawn_by_our_own_settings_whatever_the_users(tmp_path, backend):
    rc = tmp_path / "matplotlibrc"
    rc.write_text("text.usetex: True\nsavefig.bbox: tight\naxes.facecolor: red\nlines.linewidth: 9\nbackend: qtagg\nfont.family: nowhere\n")
    file = DATA / "epcc" / "v31.syncbench.gcc.2.out"
    drawn = []
    for name, settings in (("own", {}), ("users", {"MPLBACKEND": backend, "MATPLOTLIBRC": str(rc)})):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MPL")} | settings
        command = [sys.executable, str(ROOT / "python"), "epcc", "--plots", str(tmp_path / name), str(file)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        drawn.append({one.name: one.read_bytes() for one in sorted((tmp_path / name).iterdir())})
    assert drawn[0] and drawn[0] == drawn[1]
