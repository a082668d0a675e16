"""Does a program print on the simulated cluster what its clock would show there?"""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SDSM = ROOT / "build" / "sdsm"
CLOCK_READER = ROOT / "build" / "tests" / "traced" / "clock_reader"
READS_INPUT = (ROOT / "build" / "tests" / "traced" / "ending", "sum")
CLUSTER = ("--platform", ROOT / "platforms" / "p3-score.xml", "-n", 2, "-q")


def sdsm(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [str(part) for part in (SDSM, *arguments)]
    options = {"stdin": subprocess.DEVNULL, **options} if "input" not in options else options
    return subprocess.run(command, capture_output=True, text=True, timeout=280, **options)


def trace_of(folder: Path, *program: object, options: tuple[object, ...] = ("-q", "--passes", 1), **more) -> Path:
    trace = folder / "a.trace"
    done = sdsm("trace", *options, "-n", 2, "-o", trace, "--", *program, **more)
    assert done.returncode == 0, done.stderr
    return trace


def simulate(trace: Path, *options: object, status: int = 0, **more) -> subprocess.CompletedProcess[str]:
    done = sdsm("simulate", trace, *CLUSTER, "--compute-factor", 1, *options, **more)
    assert done.returncode == status, done.stderr
    return done


def test_the_clock_of_a_traced_program_shows_the_readings_that_it_is_given_and_goes_on_from_the_last(tmp_path):
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


def test_a_program_that_chooses_its_repetitions_by_its_clock_is_run_until_it_does_what_is_predicted(tmp_path):
    trace = trace_of(tmp_path, CLOCK_READER, "rounds")
    done = simulate(trace, "--output", tmp_path / "out")
    # Fork, barrier and join take 2 ms there.
    assert (tmp_path / "out").read_text().splitlines()[1] == "1 barriers"
    assert "the program does other things than in" in done.stderr
    assert "settled in round 2 of at most 5" in done.stderr
    assert done.stdout.startswith(f"{trace}  on ")


def test_a_program_that_changes_what_it_does_in_every_round_is_refused_and_the_decision_named(tmp_path):
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


def test_times_that_no_simulation_predicts_are_told_by_the_functions_that_took_them(tmp_path):
    trace = trace_of(tmp_path, ROOT / "build" / "tests" / "traced" / "unseen")
    three = [3 if word == 2 else word for word in CLUSTER]  # the program asks for as many threads
    done = sdsm("simulate", trace, *three, "--compute-factor", 1, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "warning: the program also read clock_gettime: what it prints of that is this machine" in done.stderr


def test_whose_clock_a_traced_program_reads_is_told_once_and_only_of_programs_that_read_it(tmp_path):
    for program, times in ((CLOCK_READER, 1), (ROOT / "build" / "tests" / "traced" / "critical", 0)):
        done = sdsm("trace", "--passes", 1, "-n", 2, "-o", tmp_path / "a.trace", "--", program)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("are the tracer's, without what a cluster costs") == times
