"""`sdsm microbench`: does what it measures reach its document, and is a failure reported?"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from run_results import native, thread
from sdsm.microbench import command as microbench

FAKE = """#!/bin/sh
for argument; do
  [ "$previous" = --json ] && json=$argument
  previous=$argument
done
echo "$*" >>"$0.called"
cp "${0%/*}/run.json" "$json"
case "$*" in
  *own-writes) echo '{"burst": 16, "WROH": [5000, 7000, 6000]}' ;;
  *together) echo '{"burst": 64, "barrier": [80000]}' ;;
  *) echo '{"burst": 64, "WROH": [5000, 7000, 6000], "barrier": [80000]}' ;;
esac
"""


@pytest.fixture()
def build(tmp_path: Path) -> Path:
    served = [thread(i, i, {}, pages_served=p, page_service_s=s) for i, (p, s) in enumerate(((3, 0.25), (1, 0.5)))]
    run = native(2, 1.0, whole_run={"makespan_s": 1.0, "threads": served})
    (tmp_path / "run.json").write_text(json.dumps(run))
    (tmp_path / "sdsm-run").write_text(FAKE)
    (tmp_path / "sdsm-run").chmod(0o755)
    (tmp_path / "system_bench").write_text("#!/bin/sh\necho \"$*\" >\"$0.called\"\necho '{\"twin\": [200, 300]}'\n")
    (tmp_path / "system_bench").chmod(0o755)
    return tmp_path


def test_every_sample_and_the_homes_service_are_kept(build, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sdsm.microbench.command.processors", lambda: 2)
    output = tmp_path / "m.json"
    assert microbench.main(["--build", str(build), "--layouts", "2x1,2x2", "--samples", "3", "-o", str(output)]) == 0
    document = json.loads(output.read_text())
    assert document["format"] == "sdsm-microbench"
    assert set(document["layouts"]) == {"2x1", "2x2"}
    layout = document["layouts"]["2x2"]
    assert layout["samples_ns"] == {"WROH": [5000, 7000, 6000], "barrier": [80000]}
    assert (layout["pages_served"], layout["page_service_s"], layout["burst"]) == (4, 0.75, 64)
    assert document["system"]["samples_ns"] == {"twin": [200, 300]}
    assert (build / "system_bench.called").read_text() == "3 3000\n"  # samples, and traps of which 1000 make one
    called = (build / "sdsm-run.called").read_text().splitlines()
    assert "--nodes 2 --threads-per-node 2" in called[-1] and called[-1].endswith("microbench 2 3 streams")


def test_more_threads_than_processors_are_warned_of(build, monkeypatch, capsys):
    monkeypatch.setattr("sdsm.microbench.command.processors", lambda: 2)
    assert microbench.main(["--build", str(build), "--layouts", "2x1,2x2,4x1", "--no-system"]) == 0
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "processors" in line]
    assert warning.startswith("sdsm: 2x2 and 4x1 have more threads than this machine's 2 processors") and "calibrate" in warning
    assert microbench.main(["--build", str(build), "--layouts", "2x1", "--no-system"]) == 0
    assert "processors" not in capsys.readouterr().err


def test_what_a_trap_leaves_cold_is_the_faults_time_less_what_the_runs_account_has_for_it():
    # 8.5 us a fault by the program's clock on average; 3 faults of 24 us in all, and 1 of 8 us, in the account.
    threads = [SimpleNamespace(faults={"WROH": n}, time_s=SimpleNamespace(fault={"WROH": s})) for n, s in ((3, 24e-6), (1, 8e-6))]
    assert microbench._cold_ns([8300.0, 8400.0, 8800.0], threads) == pytest.approx(500)
    assert microbench._cold_ns([7000.0], threads) == pytest.approx(-1000)


def test_a_first_copy_or_write_takes_what_first_ones_take_longer_and_a_trap_what_the_runs_processes_measured():
    assert microbench._first_longer_ns([50e3, 52e3, 90e3], [39e3, 40e3, 41e3]) == pytest.approx(12e3)
    assert microbench._first_longer_ns([39e3], [40e3]) == pytest.approx(-1e3)
    assert microbench._trap_ns([SimpleNamespace(trap_s=4e-6), SimpleNamespace(trap_s=5e-6)]) == pytest.approx(4500)


def test_nodes_act_together_where_every_thread_has_a_processor_and_nothing_is_emulated(build, tmp_path, monkeypatch):
    monkeypatch.setattr("sdsm.microbench.command.processors", lambda: 2)
    output = tmp_path / "m.json"
    arguments = ["--build", str(build), "--samples", "3", "--no-system", "-o", str(output)]
    assert microbench.main([*arguments, "--layouts", "2x1,2x2"]) == 0
    assert microbench.main([*arguments, "--layouts", "2x1", "--emulate", str(output)]) == 2  # its own output
    assert {name: part["together"] for name, part in json.loads(output.read_text())["layouts"].items()} == {"2x1": True, "2x2": False}
    network = tmp_path / "network.xml"
    network.write_text("")
    assert microbench.main([*arguments, "--layouts", "2x1", "--emulate", str(network)]) == 0
    assert json.loads(output.read_text())["layouts"]["2x1"]["together"] is False
    called = (build / "sdsm-run.called").read_text().splitlines()
    own_writes = "1 1 own-writes", "1 2 own-writes"  # by the nodes of 2x1, before and after all else
    assert [line.split("microbench ")[-1] for line in called] == [own_writes[0], "1 3 together", own_writes[1], "2 3 streams", "1 3"]


def test_own_writes_of_awake_nodes_have_runs_of_their_own_whose_accounts_tell_their_parts(build, tmp_path, monkeypatch):
    """Two runs whose samples are 6 us on average. Their region's account has 4 us a fault, of which a trap takes 2 and 3 us; the
    whole run's account, of other faults, is left alone."""
    monkeypatch.setattr("sdsm.microbench.command.processors", lambda: 2)

    def threads(account_s: float) -> list[dict]:
        faults = {"WROH": 10}
        return [thread(i, i, {"fault": {"WROH": account_s}}, faults=faults, trap_s=t, traps=10) for i, t in enumerate((2e-6, 3e-6))]

    run = native(2, 1.0) | {"threads": threads(40e-6), "whole_run": {"makespan_s": 1.0, "threads": threads(90e-6)}}
    (build / "run.json").write_text(json.dumps(run))
    output = tmp_path / "m.json"
    arguments = ["--build", str(build), "--no-system", "--layouts", "2x1", "-o", str(output)]
    assert microbench.main([*arguments, "--samples", "3"]) == 0
    samples_ns = json.loads(output.read_text())["layouts"]["2x1"]["samples_ns"]
    assert samples_ns["WROH"] == 2 * [5000, 7000, 6000]
    assert samples_ns["WROH.cold"] == [pytest.approx(2000)]
    assert samples_ns["WROH.trap"] == [pytest.approx(2500)]
    run |= {"threads": threads(70e-6)}
    (build / "run.json").write_text(json.dumps(run))
    assert microbench.main([*arguments, "--samples", "1"]) == 0
    samples_ns = json.loads(output.read_text())["layouts"]["2x1"]["samples_ns"]
    assert (samples_ns["WROH"], samples_ns["WROH.cold"]) == ([5000, 7000, 6000], [pytest.approx(-1000)])  # one run: by chance below 0


def test_runs_begin_evenly_over_the_minutes_given(build, monkeypatch, capsys):
    """Four runs over two minutes are due at 0, 30, 60 and 90 s. The second takes 40 s, so the third begins at 70 s, and the last waits for 20 s."""
    clock, waits, takes = [1000.0], [], iter([0.0, 40.0, 0.0, 0.0])

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock[0] += seconds

    real = microbench.measure_round

    def measured(*arguments):
        clock[0] += next(takes)
        return real(*arguments)

    monkeypatch.setattr("sdsm.microbench.command.time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    monkeypatch.setattr("sdsm.microbench.command.measure_round", measured)
    arguments = ["--build", str(build), "--layouts", "2x1", "--no-system"]
    assert microbench.main([*arguments, "--samples", "40", "--over", "2"]) == 0
    assert waits == [30.0, 20.0]
    assert "run 2 of 4 begins in 30 s" in capsys.readouterr().err
    for minutes, samples, why in (("nan", "40", "not from 0 to 1440"), ("-1", "40", "not from 0"), ("2", "10", "larger multiple of 10")):
        assert microbench.main([*arguments, "--samples", samples, "--over", minutes]) == 2
        assert why in capsys.readouterr().err


def test_the_table_tells_microseconds(build, monkeypatch, capsys):
    monkeypatch.setattr("sdsm.microbench.command.processors", lambda: 1)
    assert microbench.main(["--build", str(build), "--layouts", "2x1", "--no-system"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "WROH" in line)
    samples_of_ten_runs = str(3 * 10)
    assert row.split() == ["WROH", samples_of_ten_runs, "5.00", "5.00", "6.00", "7.00", "7.00"]


def test_samples_come_from_runs_of_ten_layout_by_layout_in_turn(build, tmp_path, monkeypatch):
    monkeypatch.setattr("sdsm.microbench.command.processors", lambda: 1)
    output = tmp_path / "m.json"
    arguments = ["--build", str(build), "--layouts", "2x1,2x2", "--samples", "20", "--no-system", "-o", str(output)]
    assert microbench.main(arguments) == 0
    called = (build / "sdsm-run.called").read_text().splitlines()
    assert [line.split("microbench ")[-1] for line in called] == ["1 10", "2 10", "1 10", "2 10"]
    layout = json.loads(output.read_text())["layouts"]["2x1"]
    assert layout["rounds"] == 2
    assert layout["samples_ns"] == {"WROH": [5000, 7000, 6000] * 2, "barrier": [80000] * 2}
    assert (layout["pages_served"], layout["page_service_s"]) == (2 * 4, 2 * 0.75)


def test_to_stdout_goes_the_document_alone(build, capsys):
    assert microbench.main(["--build", str(build), "--layouts", "2x1", "-o", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == microbench.VERSION


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--layouts", "2"], "'2' is no layout"),
        (["--layouts", "2x1,"], "is no layout"),
        (["--layouts", "2x1,2x1"], "twice"),
        (["--layouts", "2x1,999x1"], "256 threads"),
        (["--layouts", "1x1"], "no faults"),
        (["-o", "/no/such/folder/m.json"], "/no/such/folder/m.json"),
        (["--samples", "0"], "--samples 0"),
        (["--emulate", "none/nowhere.xml"], "nowhere.xml"),
    ],
)
def test_slips_are_reported_in_a_line(build, capsys, arguments, what):
    assert microbench.main(["--build", str(build), *arguments]) == 2
    reported = capsys.readouterr().err
    assert what in reported
    assert len(reported.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("#!/bin/sh\necho 'sdsm: node 1 is gone' >&2\nexit 1\n", "node 1 is gone"),
        ("#!/bin/sh\nexit 3\n", "it said nothing"),
    ],
)
def test_a_failed_measurement_is_reported_with_its_reason(build, capsys, program, what):
    (build / "sdsm-run").write_text(program)
    assert microbench.main(["--build", str(build), "--layouts", "2x1"]) == 1
    assert what in capsys.readouterr().err


def test_what_has_not_been_built_is_reported(tmp_path, capsys):
    assert microbench.main(["--build", str(tmp_path), "--layouts", "2x1"]) == 1
    assert "Build it first" in capsys.readouterr().err
