"""Plan, lines and tables: which runs are made, what stands beside what, and errors by hand."""

import contextlib
import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from run_results import simulation, thread
from sdsm.base import published
from sdsm.base.children import CommandFailed
from sdsm.base.run_result import mean_account_s
from sdsm.report.main_job import plan, report, tables
from sdsm.report.main_job.plan import Configuration, Layout
from sdsm.report.main_job.simulation import parse_result


def result(makespan_s, threads=1):
    return parse_result(json.dumps(simulation(threads, makespan_s)), Layout(threads, 1))


def test_the_job_makes_19_laplace_and_17_fft_traces_and_each_layout_once():
    traces = plan.trace_runs(plan.configurations())
    assert len([t for t in traces if t.program == "laplace"]) == 1 + 6 * 3
    assert len([t for t in traces if t.program == "fft"]) == 1 + 4 * 4  # 1x2 and 2x1 share the trace of two threads
    assert len(plan.configurations()) == (1 + 6 * 3) + (1 + 4 * 5)


def test_laplace_1_and_2_get_every_seed_on_several_nodes_and_all_else_the_first():
    runs = plan.simulation_runs(plan.configurations(), seeds=20)
    assert len(runs) == 40 + 4 * 19
    many = {run.configuration.name for run in runs if run.seed == 20}
    assert many == {"laplace-1-2x1", "laplace-1-4x1", "laplace-2-2x1", "laplace-2-4x1"}
    assert [run.seed for run in runs] == sorted(run.seed for run in runs)


def test_a_simulation_command_says_everything_that_its_result_depends_on():
    run = plan.SimulationRun(Configuration("laplace", 4, Layout(4, 1)), seed=3, sequential_time_s=7.5)
    command = run.command(Path("build/sdsm"), Path("a.trace"), Path("p3.xml"))
    assert " ".join(command) == (
        "build/sdsm simulate a.trace --platform p3.xml --nodes 4 --threads-per-node 1 --sequential-time 7.5s "
        "--network queue --seed 3 --jitter 0.05 --draws 1 --json -"
    )


def test_sequential_times_are_implementation_0s_for_laplace_and_each_ones_own_for_fft():
    assert [plan.sequential_time_s("laplace", i) for i in range(7)] == [7.5] * 7
    assert [plan.sequential_time_s("fft", i) for i in range(5)] == [1.5, 3.4, 1.6, 3.3, 1.6]


def test_no_comparison_figure_reaches_a_command_of_the_job(tmp_path):
    folder = shutil.copytree(published.FOLDER, tmp_path / "published")
    for path in folder.glob("*.csv"):
        rows = list(csv.DictReader(path.open()))
        for row in rows:
            if row["use"] == "comparison":
                row.update({column: "999" for column in row if column.endswith(("_s", "_us"))})
        out = io.StringIO()
        writer = csv.DictWriter(out, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(out.getvalue())

    def commands(source):
        runs = plan.simulation_runs(plan.configurations(), 20, source)
        return [run.command(Path("sdsm"), Path(run.configuration.trace.name), Path("p.xml")) for run in runs]

    assert commands(folder) == commands(published.FOLDER)
    changed = report.line(Configuration("laplace", 3, Layout(2, 1)), [result(6.9, 2)], folder)
    assert changed.published_s == 999  # the change is seen where it may be


def test_a_line_by_hand():
    line = report.line(Configuration("laplace", 3, Layout(4, 1)), [result(5.46, 4)])
    assert (line.published_s, line.published_source, line.calibrated_by, line.status) == (5.2, "WR-opt", "", "done")
    assert line.time_error_percent == pytest.approx(5.0)  # 5.46 / 5.2
    assert line.predicted_speedup == pytest.approx(7.5 / 5.46)
    assert line.published_speedup == pytest.approx(7.5 / 5.2)
    assert line.speedup_error_percent == pytest.approx(100 / 1.05 - 100)


def test_a_distribution_is_its_minimum_mean_and_sample_standard_deviation():
    line = report.line(Configuration("laplace", 1, Layout(2, 1)), [result(t, 2) for t in (66.0, 64.0, 68.0)])
    assert line.predicted_s == 64.0
    assert line.predicted_mean_s == pytest.approx(66.0)
    assert line.predicted_standard_deviation_s == pytest.approx(2.0)
    assert (line.published_mean_s, line.published_standard_deviation_s) == (92.8, 16.96)


def test_an_unpublished_time_leaves_its_columns_empty():
    line = report.line(Configuration("fft", 2, Layout(4, 2)), [result(1.2, 8)])
    assert line.published_s is None and line.time_error_percent is None and line.published_speedup is None
    assert line.predicted_speedup == pytest.approx(1.5 / 1.2)  # over implementation 0's 1.5 s
    row = tables.times_table([line]).splitlines()[2]
    assert row.split() == ["2", "4x2", "1.20", "5.83", "1.25"]  # 5.83: predicted blind


def test_a_blind_prediction_stands_beside_todays_and_stays_as_it_was():
    line = report.line(Configuration("fft", 4, Layout(1, 2)), [result(1.4, 2)])
    assert (line.predicted_s, line.published_s, line.blind_predicted_s) == (1.4, 1.4, 1.02)
    header, _, row = tables.times_table([line]).splitlines()
    assert "blind (e0bb375) s" in header
    assert row.split()[2:8] == ["1.40", "1.4", "+0.0", "%", "1.02", "-27.1"]  # 1.02 / 1.4
    assert report.line(Configuration("laplace", 3, Layout(2, 1)), [result(6.9, 2)]).blind_predicted_s is None


def test_one_failed_seed_keeps_the_others_and_shows_why():
    outcomes = [result(66.0, 2), "exit status 1: lost", result(64.0, 2)]
    line = report.line(Configuration("laplace", 1, Layout(2, 1)), outcomes)
    assert line.predicted_s == 64.0
    assert line.status == "2 of 3 seeds; exit status 1: lost"
    assert tables.times_table([line]).splitlines()[2].endswith("INCOMPLETE")
    assert tables.incomplete_list([line]) == "  2 of 3 seeds; exit status 1: lost: laplace 1 2x1"


def test_what_was_calibrated_is_told_from_what_was_predicted():
    for by, lines in {
        "sequential time": (("laplace", 0, (1, 1)), ("laplace", 6, (1, 1)), ("fft", 4, (1, 1))),
        "dirty-page cost": (("laplace", 4, (2, 1)), ("laplace", 4, (4, 1))),
        "": (("laplace", 3, (4, 1)), ("laplace", 1, (2, 1)), ("fft", 4, (1, 2))),
    }.items():
        found = [plan.calibrated_by(Configuration(program, number, Layout(*on))) for program, number, on in lines]
        assert found == [by] * len(lines)


def test_the_accuracy_is_over_the_six_predictions_and_no_others():
    times_s = {(3, 2): 6.9, (3, 4): 5.46, (5, 2): 6.9, (5, 4): 4.9, (6, 2): 6.8, (6, 4): 4.14}  # +5 % and -10 % in them
    lines = [report.line(Configuration("laplace", i, Layout(n, 1)), [result(t, n)]) for (i, n), t in times_s.items()]
    lines.append(report.line(Configuration("laplace", 4, Layout(4, 1)), [result(42.0, 4)]))
    lines.append(report.line(Configuration("laplace", 3, Layout(1, 1)), [result(42.0)]))
    accuracy = report.laplace_accuracy(lines)
    assert (accuracy.predictions, accuracy.missing) == (6, 0)
    assert accuracy.median_percent == pytest.approx(0.0)
    assert accuracy.largest_percent == pytest.approx(10.0)
    assert report.laplace_accuracy(lines[6:]) is None
    missing = report.line(Configuration("laplace", 3, Layout(2, 1)), ["not run"])
    assert "(5 predictions; 1 missing)" in tables.accuracy_sentence(report.laplace_accuracy([missing, *lines[1:]]))


def test_an_error_that_rounds_to_nothing_has_no_minus():
    assert [tables.percent(value) for value in (-0.04, 0.04, -0.06, None)] == ["+0.0 %", "+0.0 %", "-0.1 %", ""]


def test_the_second_series_is_reported_with_its_own_sequential_time():
    assert report.second_series() == (
        "Another series on the same cluster [WR-env]: implementation 0 on 1x1 8.2 s, "
        "implementation 4 on 2x1 6.7 s, implementation 4 on 4x1 4.3 s"
    )


def test_a_text_table_aligns_figures_to_the_right_and_words_to_the_left():
    text = tables.text_table(("impl", "layout", "error"), [("1", "2x1", "+10.4 %"), ("12", "4x12", "")])
    head = ["impl  layout    error", "----  ------  -------"]
    assert text.splitlines() == [*head, "   1  2x1     +10.4 %", "  12  4x12"]


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_the_time_error_and_the_speedup_error_undo_each_other(predicted, measured):
    time = report.error_percent(predicted, measured)
    speedup = report.error_percent(1 / predicted, 1 / measured)
    assert (1 + time / 100) * (1 + speedup / 100) == pytest.approx(1)


SPENT_S = [{"compute": 1.0 + i, "fault": {"RUMR": 1.5 - i, "WROH": 0.25}, "idle": 0.25} for i in range(2)]
THREADS = [thread(i, i, SPENT_S[i], faults={"RUMR": 5 - i, "WROH": 7}, messages=10, bytes=640) for i in range(2)]
DOCUMENT = simulation(2, 3.0, threads=THREADS)


def test_a_result_is_read_with_its_faults_flattened_and_averaged_over_threads():
    read = parse_result(json.dumps(DOCUMENT), Layout(2, 1))
    assert read.makespan_s == 3.0
    spent = {term: time for term, time in mean_account_s(read.threads).items() if time}
    assert spent == {"compute": 1.5, "fault RUMR": 1.0, "fault WROH": 0.25, "idle": 0.25}
    rows = report.thread_rows({Configuration("fft", 1, Layout(2, 1)): read})
    assert [row["remote_reads"] for row in rows] == [5, 4]
    assert [row["remote_writes"] for row in rows] == [0, 0]
    assert rows[1]["fault_RUMR_s"] == 0.5 and rows[1]["faults_WROH"] == 7


def test_further_counts_of_a_simulation_become_columns_of_every_threads_row():
    threads = [{**THREADS[0], "served": 4, "messages_by_kind": {"diff": 3}}, THREADS[1]]
    read = parse_result(json.dumps({**DOCUMENT, "threads": threads}), Layout(2, 1))
    rows = report.thread_rows({Configuration("fft", 1, Layout(2, 1)): read})
    assert [(row["served"], row["messages_diff"]) for row in rows] == [(4, 3), (0, 0)]


def changed(**fields):
    return json.dumps({**DOCUMENT, **fields})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(kind="native"), "kind 'native' is not 'simulation'"),
        (changed(nodes=1, threads_per_node=2), "another layout"),
        (changed(makespan_s=3.1), "times sum to 3.000000 s, but the makespan is 3.100000 s"),
        (changed(makespan_s=0.0, threads=[thread(i, i, {}) for i in range(2)]), "makespan of 0"),
        (changed(makespan_s=float("nan")), "NaN is no JSON number"),
        (changed(threads=THREADS[:1]), "1 threads, but nodes x threads_per_node is 2"),
        (changed(threads=[THREADS[0], {}]), "threads.1: Object missing required field"),
    ],
)
def test_a_result_that_is_not_one_is_refused_with_the_reason(text, message):
    with pytest.raises(CommandFailed, match=message):
        parse_result(text, Layout(2, 1))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(DOCUMENT)), json_values)
def test_a_result_with_any_field_replaced_is_read_or_refused_but_never_crashes(field, value):
    with contextlib.suppress(CommandFailed):
        parse_result(json.dumps({**DOCUMENT, field: value}), Layout(2, 1))


def test_a_summary_written_is_the_summary_read(tmp_path):
    lines = [
        report.line(Configuration("laplace", 1, Layout(2, 1)), [result(t, 2) for t in (66.0, 64.0)]),
        report.line(Configuration("fft", 0, Layout(1, 1)), ["not run"]),
    ]
    tables.write_summary(tmp_path, lines, {})
    assert tables.read_summary(tmp_path) == lines


@pytest.mark.parametrize("content", ["", "[]", '{"format": 9}', '{"format": 1}', '{"format": 1, "lines": [{"x": 1}]}'])
def test_a_foreign_summary_is_refused(tmp_path, content):
    (tmp_path / "summary.json").write_text(content)
    with pytest.raises(ValueError):
        tables.read_summary(tmp_path)
