"""Does a program print on the simulated cluster what its clock would show there?"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED

ROOT = Path(__file__).resolve().parents[2]
SDSM = ROOT / "build" / "sdsm"
TRACED = ROOT / "build" / "tests" / "traced"
CLOCK_READER, CLOCKS_C = TRACED / "clock_reader", TRACED / "clocks"
READS_INPUT = (TRACED / "ending", "sum")
CLUSTER = ("--platform", ROOT / "platforms" / "p3-score.xml", "-n", 2, "-q")


def sdsm(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [str(part) for part in (SDSM, *arguments)]
    options = {"stdin": subprocess.DEVNULL, **options} if "input" not in options else options
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


def trace_of(folder: Path, *program: object, options: tuple[object, ...] = ("-q", "--passes", 1), **more) -> Path:
    trace = folder / "a.trace"
    done = sdsm("trace", *options, "-n", 2, "-o", trace, "--", *program, **more)
    assert done.returncode == 0, done.stderr
    return trace


def simulate(trace: Path, *options: object, status: int = 0, **more) -> subprocess.CompletedProcess[str]:
    done = sdsm("simulate", trace, *CLUSTER, "--compute-factor", 1, *options, **more)
    assert done.returncode == status, done.stderr
    return done


def test_a_traced_programs_clock_shows_given_readings_and_goes_on(tmp_path):
    readings = tmp_path / "readings.csv"
    lines = ["thread,reading,clock,time_s", "0,0,omp_get_wtime,1.000000000000", "1,0,omp_get_wtime,1.250000000499"]
    readings.write_text("\n".join([*lines, ""]))
    options = ("-q", "--passes", 2, "--readings", readings)
    for more in ([], ["0,1,omp_get_wtime,2.500000000000"]):
        readings.write_text("\n".join([*lines[:2], *more, lines[2], ""]))
        done = sdsm("trace", *options, "-n", 2, "-o", tmp_path / "a.trace", "--", CLOCK_READER)
        assert done.returncode == 0, done.stderr
        begin, end, other = done.stdout.split()
        assert (begin, other) == ("1.000000000", "1.250000000")
        assert end == "2.500000000" if more else 1 < float(end) < 1.9
    readings.write_text("\n".join([*lines, "1,5,omp_get_wtime,2.000000000000"]))
    done = sdsm("trace", *options, "-n", 2, "-o", tmp_path / "b.trace", "--", CLOCK_READER)
    assert done.returncode == 2
    assert f"{readings}:4: the thread's readings are not in order" in done.stderr


def test_what_a_program_prints_is_what_the_clock_shows_on_the_cluster(tmp_path):
    trace = trace_of(tmp_path, CLOCK_READER)
    printed = simulate(trace, "--output", "-", "--json", tmp_path / "result.json")
    assert printed.stderr == ""
    readings = list(csv.DictReader(io.StringIO(simulate(trace, "--readings", "-").stdout)))
    times = {(int(row["thread"]), int(row["reading"])): float(row["time_s"]) for row in readings}
    expected = [times[0, 0], times[0, 1], times[1, 0]]
    assert [float(word) for word in printed.stdout.split()] == pytest.approx(expected, abs=1.1e-9)
    # Between the first two: fork and join, a barrier, and the region's page, which the other thread reads.
    assert times[0, 1] - times[0, 0] > 1e-6 * (8 + 661 + 587 + 661 + 661)


def test_repetitions_chosen_by_the_clock_are_run_until_they_are_as_predicted(tmp_path):
    trace = trace_of(tmp_path, CLOCK_READER, "rounds")
    done = simulate(trace, "--output", tmp_path / "out")
    # Fork, barrier and join take 2 ms there.
    assert (tmp_path / "out").read_text().splitlines()[1] == "1 barriers"
    assert "the program does other things than in" in done.stderr
    assert "settled in round 2 of at most 5" in done.stderr
    assert done.stdout.startswith(f"{trace}  on ")


def test_the_readings_beside_an_output_are_those_that_it_was_written_by(tmp_path):
    trace = trace_of(tmp_path, ASKED / "steered")
    done = simulate(trace, "--output", tmp_path / "out", "--readings", tmp_path / "readings.csv")
    assert "settled in round 2 of at most 5" in done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "readings.csv").read_text())))
    printed = [float(word) for word in (tmp_path / "out").read_text().split()[:3]]
    assert printed == pytest.approx([float(row["time_s"]) for row in rows], abs=1.1e-9)


def test_the_speed_that_scales_computing_is_the_traces_own(tmp_path):
    for arguments, is_anew in ((("rounds",), True), ((), False)):
        trace = trace_of(tmp_path, CLOCK_READER, *arguments)
        done = sdsm("simulate", trace, *CLUSTER, "--from-host-speed", "--output", tmp_path / "out", "--json", tmp_path / "result.json")
        assert done.returncode == 0, done.stderr
        assert ("round 2 of at most 5" in done.stderr) == is_anew
        source = f"the trace that was made anew of what {trace} traces" if is_anew else str(trace)
        (note,) = [line for line in done.stderr.splitlines() if "computing takes" in line]
        options = json.loads((tmp_path / "result.json").read_text())["options"]
        assert options["compute_factor"] == pytest.approx(options["traced_flops"] / options["host_flops"])
        reported = f"times as long as in {source}: the machine that traced did {options['traced_flops'] * 1e-9:.4g} Gf"
        assert reported in note and f"computing takes {options['compute_factor']:.4g} times" in note


def test_a_suite_that_chooses_delays_by_its_clock_prints_a_readable_table(tmp_path):
    """As EPCC's original: the clock decides in the delay, in the reference and in each directive, one behind another."""
    trace = trace_of(tmp_path, TRACED / "suite_by_clock", 300)
    printed, result = tmp_path / "suite.out", tmp_path / "result.json"
    done = sdsm("simulate", trace, *CLUSTER[:4], "--compute-factor", 1, "--output", printed, "--json", result)
    assert done.returncode == 0, done.stderr
    rounds = re.findall(r"round (\d) of at most 5: by the predicted clock thread 0 comes to", done.stderr)
    assert f"settled in round {len(rounds) + 1} of at most 5" in done.stderr
    # Under the tracer's clock a directive is repeated hundreds of times; here none needs more than its first ten.
    text = printed.read_text()
    assert [int(word) for word in re.findall(r"(?:PARALLEL|BARRIER|CRITICAL) time using (\d+)", text)] == [10, 10, 10]
    table = sdsm("epcc", printed, "--csv", tmp_path / "table.csv")
    assert table.returncode == 0, table.stderr
    with (tmp_path / "table.csv").open() as file:
        rows = {row["directive"]: float(row["time_us"]) for row in csv.DictReader(file)}
    # 661 us, a tenth of the region around the ten barriers, and what they compute.
    assert 661 < rows["BARRIER"] < 2 * 661


def test_a_program_that_changes_in_every_round_is_refused_with_the_decision(tmp_path):
    trace = trace_of(tmp_path, CLOCK_READER, "chain")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    done = simulate(trace, "--output", tmp_path / "out", status=1, env=environment)
    assert not any(scratch.iterdir())
    assert "still changed it in round 5: thread 0 comes to fork" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_program_that_cannot_be_run_as_it_was_traced_is_refused(tmp_path):
    program = tmp_path / "program"
    shutil.copy(CLOCK_READER, program)
    trace = trace_of(tmp_path, program)
    os.truncate(program, program.stat().st_size + 1)
    done = simulate(trace, "--output", "-", status=2)
    assert "the program is not the one that was traced (its SHA-256 differs)" in done.stderr
    program.unlink()
    done = simulate(trace, "--output", "-", status=2)
    assert done.stderr.startswith(f"sdsm: {program}: the program cannot be found")
    assert len(done.stderr.splitlines()) == 1


def test_a_program_that_read_standard_input_is_refused(tmp_path):
    done = simulate(trace_of(tmp_path, *READS_INPUT, input="2"), "--output", "-", status=2)
    assert "the program read standard input" in done.stderr
    simulate(trace_of(tmp_path, *READS_INPUT), "--output", "-")


# What a clock cannot show of a time, in seconds; and whether it shows a date. Of CLOCK_REALTIME and the like the name
# says nothing: RESOLUTION's rows are in the order of the programs' readings.
DATE = 1_000_000_000
EXACT, MICRO, TICK = 1e-9, 1e-6, 1e-2
CLOCKS: dict[str, list[tuple[str, float, bool]]] = {
    "clocks": [
        ("clock_gettime", EXACT, True),
        ("clock_gettime", EXACT, False),
        ("clock_gettime", EXACT, False),
        ("clock_gettime", EXACT, False),
        ("gettimeofday", MICRO, True),
        ("timespec_get", EXACT, True),
        ("time", 1, True),
        ("clock", MICRO, False),
        ("times", TICK, False),
        ("getrusage", MICRO, False),
        ("clock_gettime", EXACT, False),
        ("gettimeofday", MICRO, True),
    ],
    "clocks_cxx": [
        ("std::chrono::system_clock", EXACT, True),
        ("std::chrono::steady_clock", EXACT, False),
        ("std::chrono::system_clock", EXACT, True),
    ],
    "clocks_fortran": [
        ("omp_get_wtime", EXACT, False),
        ("system_clock", EXACT, False),
        ("cpu_time", MICRO, False),
        ("date_and_time", 1e-3, True),
    ],
}


@pytest.mark.parametrize("name", CLOCKS)
def test_every_clock_shows_the_prediction_in_c_cxx_and_fortran(tmp_path, name):
    program = TRACED / name
    if name == "clocks_fortran" and not program.exists():
        pytest.skip("there is no Fortran compiler")
    utc = {**os.environ, "TZ": "UTC"}
    trace = trace_of(tmp_path, program, options=("-q", "--passes", 2, "--date", DATE), env=utc)
    printed = simulate(trace, "--output", "-", "--readings", tmp_path / "readings.csv", env=utc)
    assert printed.stderr == ""
    with (tmp_path / "readings.csv").open() as file:
        readings = [(row["clock"], float(row["time_s"])) for row in csv.DictReader(file) if row["thread"] == "0"]
    shown = [float(line) for line in printed.stdout.split()]
    clocks = 2 * CLOCKS[name]
    assert [clock for clock, _ in readings] == [clock for clock, _, _ in clocks]
    assert len(shown) == len(clocks)
    for (clock, resolution, is_date), (_, time), value in zip(clocks, readings, shown, strict=True):
        date = DATE % 86400 if clock == "date_and_time" else DATE
        expected = time + (date if is_date else 0)
        # A double holds a date to the quarter of a microsecond.
        slack = 3e-7 if is_date else 1.1e-9
        assert expected - resolution - slack < value <= expected + slack, clock
    # The readings lie apart as fork, barrier and join do there.
    assert readings[len(clocks) // 2][1] - readings[0][1] > 3 * 661e-6


@pytest.mark.parametrize("speed", [1, 100])
def test_a_traced_programs_clock_goes_faster_on_request(tmp_path, speed):
    done = sdsm("trace", "-q", "--clock-speed", speed, "-n", 2, "-o", tmp_path / "a.trace", "--", CLOCK_READER, "sleep")
    assert speed * 1e-3 <= float(done.stdout.split()[-1]) < 100 * speed * 1e-3


@pytest.mark.long
def test_who_repeats_work_until_a_time_has_passed_learns_of_the_faster_clock(tmp_path):
    command = [SDSM, "trace", "-q", "-n", "2", "-o", tmp_path / "a.trace", "--", CLOCK_READER, "repeat"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracing:
        lines = iter(tracing.stderr.readline, "")
        note = next(line for line in lines if "has read its clock" in line)
        tracing.terminate()
    assert "trace with --clock-speed 100" in note


def test_a_seed_does_not_widen_a_region_measured_by_another_clock(tmp_path):
    trace = trace_of(tmp_path, CLOCKS_C, "once")
    assert simulate(trace, "--output", tmp_path / "out", "--json", tmp_path / "result.json").stderr == ""
    begin, end = (float(line) for line in (tmp_path / "out").read_text().split())
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["makespan_s"] == pytest.approx(end - begin, abs=3e-6)
    assert result["makespan_s"] < result["whole_run"]["makespan_s"]
    # Both clocks are read around the same region. Another program may get the processor in between.
    differences_s = []
    for _ in range(5):
        run = sdsm("run", "-n", 2, "--json", tmp_path / "run.json", "--", CLOCKS_C, "once")
        assert run.returncode == 0, run.stderr
        begin, end = (float(line) for line in run.stdout.split())
        differences_s.append(abs(json.loads((tmp_path / "run.json").read_text())["makespan_s"] - (end - begin)))
    assert min(differences_s) < 1e-4


def test_waits_for_a_time_end_when_the_program_s_clock_shows_it(tmp_path):
    trace = trace_of(tmp_path, CLOCKS_C, "waits")
    events = json.loads(sdsm("trace", "info", trace, "--json", "-").stdout)["threads"][0]["events"]
    assert events["clock"] < 1100
    times = [float(line) for line in simulate(trace, "--output", "-").stdout.split()]
    # The clock goes on by a hundredth of a long wait at each look; sleeps last as long as was asked for, at least.
    assert 0.5 <= times[0] < 0.51
    assert 0.02 <= times[1] < 0.03
    assert all(time >= 0.0199 for time in times[2:])
    assert len(times) == 6


def test_a_clock_that_no_prediction_answers_is_named(tmp_path):
    done = sdsm("trace", "--passes", 1, "-n", 2, "-o", tmp_path / "a.trace", "--", TRACED / "cycles")
    assert "has rdtsc: that clock is this machine's, which no prediction answers" in done.stderr
    assert "the program has rdtsc: what it prints" in simulate(tmp_path / "a.trace", "--output", "-").stderr


def test_the_clock_of_a_traced_program_is_named_once_if_read(tmp_path):
    for program, times in ((CLOCK_READER, 1), (TRACED / "critical", 0)):
        done = sdsm("trace", "--passes", 1, "-n", 2, "-o", tmp_path / "a.trace", "--", program)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("are the tracer's, without what a cluster costs") == times


def test_a_command_before_each_pass_puts_files_back_that_the_program_changes(tmp_path):
    program = ASKED / "once"
    tracing = ("trace", "-q", "--passes", 2, "-n", 2, "-o", "a.trace")
    done = sdsm(*tracing, "--", program, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "--before 'rm -f FILE'" in done.stderr
    put_back = "echo a line of its own; rm -f out.dat restart"
    done = sdsm(*tracing, "--before", put_back, "--", program, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "499500\n", "a line of its own\n" * 3)
    printing = (tmp_path / "a.trace", "--output", "-")
    assert "ended with status 3" in simulate(*printing, cwd=tmp_path).stderr
    assert simulate(*printing, "--before", put_back, cwd=tmp_path).stdout == "499500\n"


def test_a_command_before_a_pass_that_fails_ends_the_trace(tmp_path):
    program = ASKED / "once"
    (tmp_path / "a.trace").write_text("an earlier one")
    for command, end in (("exit 4", "ended with status 4"), ("kill -9 $$", "was killed by signal 9")):
        done = sdsm("trace", "-q", "-n", 2, "-o", "a.trace", "--before", command, "--", program, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"sdsm: --before '{command}' {end} before pass 1; no trace is written\n"
    assert (tmp_path / "a.trace").read_text() == "an earlier one"
    assert not (tmp_path / "out.dat").exists()
