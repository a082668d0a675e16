"""`import sdsm`: do its functions say what the commands say, as tables, and refuse in the same words?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sdsm
from sdsm.api.options import words

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PROGRAM = [str(BUILD / "workloads" / "laplace"), "--impl", "4", "--size", "64", "--iterations", "3", "--no-check"]


@pytest.fixture(scope="session")
def traced(tmp_path_factory) -> sdsm.Trace:
    return sdsm.trace(PROGRAM, tmp_path_factory.mktemp("traced") / "a.trace", threads=2, passes=1)


def command(*words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(BUILD / "sdsm"), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def test_a_trace_tells_its_threads_and_memory(traced):
    info = json.loads(command("trace", "info", traced, "--json", "-").stdout)
    assert traced.threads == 2 and list(traced.regions.index) == [one["id"] for one in info["regions"]]
    assert list(traced.regions["name"]) == [one["name"] for one in info["regions"]]


def test_a_prediction_is_the_commands_as_tables(traced, tmp_path):
    options = {"sequential_time": "1s", "set": {"network.bandwidth": "1Gbps", "fault.WROH": "x2"}, "full_page_diffs": True}
    reported = sdsm.simulate(traced, "p3-score", nodes=2, pages=True, **options)
    words = ["--sequential-time", "1s", "--set", "network.bandwidth=1Gbps", "--set", "fault.WROH=x2", "--full-page-diffs"]
    command("simulate", "-q", traced, "-p", "p3-score", "-n", 2, "-t", 1, *words, "--json", tmp_path / "a.json")
    assert reported.text == (tmp_path / "a.json").read_text()
    document = reported.document
    assert reported.makespan_s == document["makespan_s"] and list(reported.times_s) == [reported.makespan_s]
    assert list(reported.threads.index) == [0, 1] and list(reported.threads["node"]) == [0, 1]
    assert list(reported.threads["compute_s"]) == [one["time_s"]["compute"] for one in document["threads"]]
    assert list(reported.threads["faults_RUMR"]) == [one["faults"]["RUMR"] for one in document["threads"]]
    assert list(reported.threads.filter(regex="_s$").sum(axis=1)) == pytest.approx([reported.makespan_s] * 2)
    assert reported.account_s.sum() == pytest.approx(reported.makespan_s)
    fetches = reported.pages.groupby("process")["fetches"].sum()
    assert [fetches.get(n, 0) for n in (0, 1)] == list(reported.threads["faults_RUMR"] + reported.threads["faults_WUMR"])
    reported.save(tmp_path / "b.json")
    assert sdsm.load(tmp_path / "b.json").document == document


def test_a_run_tells_all_its_times_and_what_the_program_printed():
    reported = sdsm.run(PROGRAM, nodes=2, repeat=2)
    assert len(reported.times_s) == 2 and reported.makespan_s in list(reported.times_s)
    assert len(reported.threads) == 2 and reported.printed.count("laplace") == 2


def test_an_explanation_and_a_comparison_are_the_commands(traced, tmp_path):
    fast, slow = (sdsm.simulate(traced, "p3-score", 2, set={"network.latency": latency}) for latency in ("1us", "1ms"))
    for name, one in (("fast.json", fast), ("slow.json", slow)):
        one.save(tmp_path / name)
    reported = sdsm.compare(fast, tmp_path / "slow.json")
    assert reported.verdict == command("compare", tmp_path / "fast.json", tmp_path / "slow.json").stdout.splitlines()[0]
    assert list(reported.times["time_s"]) == [fast.makespan_s, slow.makespan_s]
    assert reported.account_s.loc["barrier", 1] > reported.account_s.loc["barrier", 0] and (reported.counts[0] == reported.counts[1]).all()

    explained = sdsm.explain(traced, "p3-score", nodes=2, sequential_time="1s", set={"network.latency": "1ms"})
    printed = command("explain", "-q", traced, "-p", "p3-score", "-n", 2, "--sequential-time", "1s", "--set", "network.latency=1ms").stdout
    assert f"{explained}\n" == printed and explained.verdict == printed.splitlines()[0]
    assert list(explained.memory["cost_s"]) == sorted(explained.memory["cost_s"], reverse=True)
    assert "--placement block" in list(explained.alternatives["what"])


def test_a_sweep_of_a_mapping_is_that_of_a_file(traced, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"traces": [str(traced.path)], "platform": "p3-score", "nodes": 2, "placement": ["block", "as-asked"],
             "set": {"network.bandwidth": ["100Mbps", "1Gbps"]}, "find": "placement at which time is least"}  # fmt: skip
    reported = sdsm.sweep(asked, "one")
    lines = [f"{name} = {json.dumps(value)}" for name, value in asked.items() if name != "set"]
    Path("s.toml").write_text("\n".join([*lines, "[set]", '"network.bandwidth" = ["100Mbps", "1Gbps"]']))
    printed = command("sweep", "-q", "s.toml", "-o", "two").stdout
    assert Path("one/points.csv").read_bytes() == Path("two/points.csv").read_bytes()
    assert list(reported.points["placement"]) == ["block", "block", "as-asked", "as-asked"]
    assert printed.endswith("".join(f"{answer}\n" for answer in reported.answers)) and len(reported.answers) == 2
    direct = sdsm.simulate(traced, "p3-score", 2, placement="block", set={"network.bandwidth": "1Gbps"})
    assert reported.points["makespan_s"][1] == direct.makespan_s
    assert sdsm.sweep("s.toml", "two").points.equals(reported.points)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda trace: sdsm.simulate(trace, "p3-score", nodes=3), ["simulate", "-q", "a.trace", "-p", "p3-score", "-n", "3", "-t", "1"]),
        (lambda trace: sdsm.simulate(trace, "none.xml", nodes=2), ["simulate", "-q", "a.trace", "-p", "none.xml", "-n", "2", "-t", "1"]),
        (
            lambda trace: sdsm.simulate(trace, "p3-score", nodes=2, nonsense=3),
            ["simulate", "-q", "a.trace", "-p", "p3-score", "-n", "2", "-t", "1", "--nonsense", "3"],
        ),
        (lambda trace: sdsm.trace(["./none"], "b.trace", threads=2), ["trace", "-q", "-n", "2", "-o", "b.trace", "--", "./none"]),
        (lambda trace: sdsm.run(["./none"], nodes=2), ["run", "-q", "--nodes", "2", "--", "./none"]),
        (lambda trace: sdsm.run("./none", nodes=2), ["run", "-q", "--nodes", "2", "--", "./none"]),
        (lambda trace: sdsm.explain(trace, "p3-score", nodes=3), ["explain", "-q", "a.trace", "-p", "p3-score", "-n", "3"]),
        (lambda trace: sdsm.load("none.json"), None),
        (lambda trace: sdsm.compare("a.trace"), None),
        (lambda trace: sdsm.compare("a.trace", "a.trace"), None),
        (lambda trace: sdsm.sweep({"platform": "p3-score"}, "swept"), None),
        (lambda trace: sdsm.simulate(trace, "p3-score", 2, json="a.json"), None),
        (lambda trace: sdsm.simulate(trace, "", 2), None),
    ],
)
def test_bad_input_is_refused_in_the_commands_own_words(traced, tmp_path, monkeypatch, call, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.trace").symlink_to(traced.path)
    with pytest.raises(sdsm.BadInput) as refused:
        call("a.trace")
    assert "\n" not in str(refused.value)
    if words:
        assert command(*words, status=2).stderr == f"sdsm: {refused.value}\n"


def test_what_is_no_result_is_refused_with_what_to_name(traced, tmp_path):
    (tmp_path / "text").write_bytes(b"\xff")
    (tmp_path / "empty").write_bytes(b"")
    for file, why in ((traced.path, "a trace"), (tmp_path / "text", "not text (byte 0xff)"), (tmp_path / "empty", "empty"), ("/dev/null", "neither")):
        for call in (sdsm.load, lambda name: sdsm.compare(name, name)):
            with pytest.raises(sdsm.BadInput) as refused:
                call(file)
            assert why in str(refused.value)
            assert str(refused.value).endswith(". Name what sdsm simulate --json or sdsm run --json wrote")
            assert "benchmark" not in str(refused.value)


def test_a_program_that_fails_is_no_bad_input():
    with pytest.raises(sdsm.RunFailed, match="status 2"):
        sdsm.run([PROGRAM[0], "--nonsense"], nodes=1)


def test_arguments_become_options():
    assert words({"threads_per_node": 2, "quiet": True, "json": None, "pages": False, "set": {"a": 1, "b": "x2"}, "seed": 0}) == [
        "--threads-per-node", "2", "--quiet", "--set", "a=1", "--set", "b=x2", "--seed", "0",
    ]  # fmt: skip


def imported(folder: Path, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, *options, "-c", "import sdsm; sdsm.load"], cwd=folder, env={"PYTHONPATH": f"{folder}:{ROOT / 'python'}"}, capture_output=True, text=True
    )
    assert done.returncode != 0
    return done.stderr.splitlines()[-1]


def test_what_is_in_the_way_is_reported_in_one_line(tmp_path):
    (tmp_path / "pandas.py").write_text("raise ModuleNotFoundError(\"No module named 'pandas'\", name='pandas')\n")
    assert imported(tmp_path) == "ModuleNotFoundError: the Python package pandas is missing. scripts/setup installs it"


def test_a_checkout_may_lie_just_below_the_root():
    source = (ROOT / "python" / "sdsm" / "base" / "places.py").read_text()
    exec(source, places := {"__file__": "/sdsm/python/sdsm/base/places.py", "__name__": "places"})
    assert places["PACKAGE"] == Path("/sdsm/python/sdsm")
