"""Does `sdsm epcc` put together what belongs together, and print what a hand gets?"""

from __future__ import annotations

import base64
import csv
import html.parser
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from benchmark_files import DATA, EPCC
from legends import data_under_legends
from sdsm.epcc.clock import megahertz
from sdsm.epcc.command import main
from sdsm.epcc.groups import collect
from sdsm.epcc.plots import draw
from sdsm.readers import epcc
from sdsm.readers.text import Text, load

ROOT = Path(__file__).resolve().parents[2]
EPCC_31 = str(DATA / "epcc" / "v31.syncbench.gcc.2.out")


def run_text(
    reference: tuple[float, float], barrier: tuple[float, float, float, float], threads: int = 2, samples: int = 5
) -> str:
    """A run of 3.1: mean and standard deviation of the reference, and of a barrier with its minimum and maximum."""
    mean, sd, low, high = barrier
    separator = "-" * 56
    head = "Sample_size       Average     Min         Max          S.D.          Outliers"
    return (
        f"Running OpenMP benchmark version 3.0\n\t{threads} thread(s)\n\t{samples} outer repetitions\n\n{separator}\n"
        f"Computing reference time 1 time using 10 reps\n\n{head}\n"
        f" {samples} {reference[0]:.6f} {reference[0] - reference[1]:.6f} {reference[0] + reference[1]:.6f} "
        f"{reference[1]:.6f} 0\n\n"
        f"reference time 1 time     = {reference[0]:.6f} microseconds +/- {1.96 * reference[1]:.6f}\n\n{separator}\n"
        f"Computing BARRIER time using 10 reps\n\n{head}\n {samples} {mean:.6f} {low:.6f} {high:.6f} {sd:.6f} 1\n\n"
        f"BARRIER time     = {mean:.6f} microseconds +/- {1.96 * sd:.6f}\n"
        f"BARRIER overhead = {mean - reference[0]:.6f} microseconds +/- {1.96 * (sd + reference[1]):.6f}\n"
    )


RUN_1 = run_text((1.0, 0.2), (2.0, 0.3, 1.6, 2.5))
RUN_2 = run_text((1.1, 0.1), (2.6, 0.4, 2.1, 3.1))


def results(capsys, *arguments: str) -> list[dict]:
    """The records of --json -."""
    assert main([*arguments, "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)["results"]


def one(found: list[dict], **wanted: object) -> dict:
    (record,) = [record for record in found if all(record[name] == value for name, value in wanted.items())]
    return record


def test_two_runs_print_what_a_hand_gets(tmp_path, capsys):
    """Two runs of 5 samples.

    Barrier: means 2.0 and 2.6, standard deviations 0.3 and 0.4. N = 10, m = (5 x 2.0 + 5 x 2.6) / 10 = 2.3.
      sums of squares   0.3^2 x 4 + 5 x 2.0^2 = 20.36 and 0.4^2 x 4 + 5 x 2.6^2 = 34.44
      over samples      sigma^2 = (20.36 + 34.44 - 10 x 2.3^2) / 9 = (54.80 - 52.90) / 9 = 0.21111..; sigma = 0.459468
      over runs         ((2.0 - 2.3)^2 + (2.6 - 2.3)^2) / 1 = 0.18; 0.424264
      half-width        1.96 x 0.4594683 = 0.900558
    Reference: means 1.0 and 1.1, standard deviations 0.2 and 0.1; m = 1.05.
      over samples      (0.04 x 4 + 5 + 0.01 x 4 + 5 x 1.21 - 10 x 1.1025) / 9 = 0.225 / 9 = 0.025; 0.158114
      half-width        1.96 x 0.1581139 = 0.309903
    Overhead: (5 x 1.0 + 5 x 1.5) / 10 = 1.25; half-width 1.96 x (0.4594683 + 0.1581139) = 1.210461.
    """
    (tmp_path / "1.out").write_text(RUN_1)
    (tmp_path / "2.out").write_text(RUN_2)
    assert main([str(tmp_path / "1.out"), str(tmp_path / "2.out")]) == 0
    title, heads, reference, barrier = capsys.readouterr().out.splitlines()
    assert title == "2 threads"
    assert heads.count("[µs]") == 9
    times = "2.300000 0.900558 1.250000 1.210461 0.459468 0.424264 0.400000 1.600000 3.100000"
    assert " ".join(barrier.split()) == f"BARRIER {times} 2 2 10"
    assert reference.split("  ")[0] == "reference time 1 (syncbench)"
    times = "1.050000 0.309903 – – 0.158114 0.070711 0.200000 0.800000 1.200000"
    assert " ".join(reference.split()[-12:]) == f"{times} 0 2 10"


def test_concatenated_runs_and_files_of_one_run_give_the_same(tmp_path, capsys):
    parts = [RUN_1, RUN_2, run_text((1.2, 0.1), (2.2, 0.2, 2.0, 2.4))]
    names = [tmp_path / name for name in ("1.out", "2.out", "3.out", "all.out")]
    for name, text in zip(names, [*parts, "".join(parts)], strict=True):
        name.write_text(text)
    *apart, together = map(str, names)
    assert results(capsys, *apart) == results(capsys, together)


def test_cycles_are_microseconds_times_the_clock(capsys):
    plain = one(results(capsys, EPCC_31), directive="BARRIER")
    cycles = one(results(capsys, EPCC_31, "--clock", "500MHz"), directive="BARRIER")
    assert cycles["overhead_cycles"] == pytest.approx(500 * plain["overhead_us"], abs=1e-6)
    assert cycles["sd_samples_cycles"] == pytest.approx(500 * plain["sd_samples_us"], abs=1e-6)
    assert (cycles["outliers"], cycles["samples"], cycles["clock"]) == (plain["outliers"], plain["samples"], "500MHz")
    assert "overhead_us" in results(capsys, EPCC_31, "--clock", "500MHz", "--unit", "us")[0]


def test_a_clock_is_a_number_with_its_unit():
    assert [megahertz(text) for text in ("500MHz", "0.5 GHz", "500000 kHz", "500000000Hz")] == [500.0] * 4
    for text in ("500", "fast", "-1MHz", "0Hz", "1e3MHz", "5000GHz", "٥MHz"):
        with pytest.raises(ValueError):
            megahertz(text)


def test_chunks_array_sizes_threads_and_versions_are_kept_apart(capsys):
    found = results(capsys, *map(str, EPCC))
    keys = ("suite", "threads", "program", "directive", "chunk", "array_size", "occurrence")
    assert len({tuple(record[key] for key in keys) for record in found}) == len(found)
    barrier = sorted((r["suite"], r["threads"], r["runs"]) for r in found if r["directive"] == "BARRIER")
    assert barrier == [("EPCC 3.1", 1, 1), ("EPCC 3.1", 2, 1), ("EPCC 4.0", 2, 2)]
    assert one(found, suite="EPCC 4.0", threads=2, directive="BARRIER")["samples"] == 10
    assert one(found, suite="EPCC 4.0", threads=2, directive="GUIDED", chunk=64)["samples"] == 5
    assert one(found, suite="EPCC 4.0", threads=2, directive="COPYIN", array_size=59049)["samples"] == 5
    # Each program has a reference of its own under the same name.
    references = [r for r in found if r["directive"] == "reference time 1"]
    assert len([r for r in references if (r["suite"], r["threads"]) == ("EPCC 4.0", 2)]) == 3


def test_machines_reported_in_the_files_are_kept_apart_and_an_option_tells_the_rest(tmp_path, capsys):
    (tmp_path / "a.out").write_text("# compiler: gcc 12\n" + RUN_1 + "# compiler: clang 14\n" + RUN_2)
    found = results(capsys, str(tmp_path / "a.out"), "--platform", "two cores")
    barriers = [(r["compiler"], r["platform"], r["runs"]) for r in found if r["directive"] == "BARRIER"]
    assert barriers == [("gcc 12", "two cores", 1), ("clang 14", "two cores", 1)]
    assert main([str(tmp_path / "a.out"), "--compiler", "icc"]) == 2
    assert "a.out:2: the file says compiler 'gcc 12', the option 'icc'" in capsys.readouterr().err


def test_files_that_differ_too_much_to_be_put_together_are_told(tmp_path, capsys):
    names = [str(DATA / "epcc" / f"syncbench.{compiler}.2.out") for compiler in ("gcc", "clang")]
    assert main(names) == 0
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "whose overheads differ" in line]
    assert re.search(r"\([A-Z_ ]+, 2 threads: [\d.]+ us in \S+, [\d.e+]+ us in \S+\)", warning) and "--apart" in warning
    assert main([*names, "--apart"]) == 0 and "differ" not in capsys.readouterr().err


def test_files_apart_are_joined_over_their_numbers_of_threads(tmp_path):
    text = (DATA / "epcc" / "v31.schedbench.gcc.1.out").read_text(), (DATA / "epcc" / "v31.schedbench.gcc.2.out").read_text()
    files = {f"run2/{compiler}.{threads}.out": epcc.runs(Text("x", text[threads - 1])) for compiler in ("gcc2", "clang") for threads in (1, 2)}
    collection = collect(files, {}, apart=True)
    assert [one.file for one in collection.environments] == ["run2/gcc2.*.out", "run2/clang.*.out"]
    # Files of several numbers of threads, or of one and the same, stay apart, whatever their names.
    both = {f"host{number}.out": [*files["run2/gcc2.1.out"], *files["run2/gcc2.2.out"]] for number in (1, 2)}
    twice = {f"{name}.out": files["run2/gcc2.1.out"] for name in ("run1", "run01", "a1")}
    assert [one.file for one in collect(both, {}, apart=True).environments] == list(both)
    assert [one.file for one in collect(twice, {}, apart=True).environments] == list(twice)
    # Alone each keeps its name.
    alone = collect({name: runs for name, runs in files.items() if name.endswith(".1.out")}, {}, apart=True)
    assert [one.file for one in alone.environments] == ["run2/gcc2.1.out", "run2/clang.1.out"]


def test_a_single_runs_bar_is_what_epcc_prints():
    name = str(DATA / "epcc" / "syncbench.gcc.2.out")
    collection = collect({name: epcc.runs(load(name))}, {})
    (plot,) = draw(collection, "us")
    (bars,) = plot.figure.axes[0].containers[0].lines[2]
    (low, _), (high, _) = bars.get_segments()[0]
    parallel = next(group for group in collection.groups if group.key.directive == "PARALLEL")
    assert parallel.overhead_half_width and high - low == pytest.approx(2 * parallel.overhead_half_width)


def test_files_can_be_kept_apart(capsys):
    names = [str(DATA / "epcc" / f"syncbench.{compiler}.2.out") for compiler in ("gcc", "clang")]
    assert [r["runs"] for r in results(capsys, *names) if r["directive"] == "BARRIER"] == [2]
    apart = [(r["file"], r["runs"]) for r in results(capsys, *names, "--apart") if r["directive"] == "BARRIER"]
    assert apart == [(names[0], 1), (names[1], 1)]


def test_an_assumed_clock_is_used_and_called_assumed(capsys):
    assert main([str(DATA / "described" / "epcc2.schedbench.c.out"), "--unit", "cycles", "--csv", "-"]) == 0
    printed = capsys.readouterr()
    rows = csv.DictReader(io.StringIO(printed.out))
    (static,) = [row for row in rows if row["directive"] == "STATIC" and not row["chunk"]]
    assert float(static["overhead_cycles"]) == pytest.approx(0.61 * 1500)
    assert "is what schedbench was built to assume" in printed.err
    assert "untried on a real output" in printed.err


def test_settings_that_differ_among_pooled_runs_are_reported(tmp_path, capsys):
    (tmp_path / "1.out").write_text(RUN_1.replace("\t5 outer", "\t0.100000 delay time (microseconds)\n\t5 outer"))
    (tmp_path / "2.out").write_text(RUN_2.replace("\t5 outer", "\t0.500000 delay time (microseconds)\n\t5 outer"))
    assert main([str(tmp_path / "1.out"), str(tmp_path / "2.out")]) == 0
    assert f"differ in delay time: 0.1 ({tmp_path}/1.out:1), 0.5 ({tmp_path}/2.out:1)" in capsys.readouterr().err


class Page(html.parser.HTMLParser):
    """What a page is made of, and that its elements nest."""

    EMPTY = frozenset({"meta", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.images: list[str] = []
        self.links: list[str] = []
        self.cells = 0
        self.words = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.cells += tag == "td"
        self.images += [value or "" for name, value in attrs if name == "src"]
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page_needs_no_other_file_and_holds_every_result(tmp_path, capsys):
    target = tmp_path / "page.html"
    nasty = tmp_path / "<b>&.out"
    more = run_text((1.0, 0.2), (3.0, 0.3, 2.6, 3.5), threads=4)
    nasty.write_text("# platform: <script>alert(1)</script>\n" + RUN_1 + more)
    assert main([str(nasty), "--html", str(target), "--clock", "550MHz"]) == 0
    text = target.read_text()
    page = Page(text)
    assert "<script>" not in text and "<script>alert(1)</script>" in page.words
    assert page.links == []
    assert len(page.images) == 1
    assert all(uri.startswith("data:image/svg+xml;base64,") for uri in page.images)
    drawing = base64.b64decode(page.images[0].partition(",")[2]).decode()
    ElementTree.fromstring(drawing)
    assert "overhead [cycles]" in drawing and "BARRIER" in drawing
    assert page.cells == 5 + 4 * 13
    assert "550.000" in page.words and "[cycles]" in page.words and "[µs]" not in page.words


def test_the_same_inputs_give_the_same_bytes(tmp_path):
    assert main([EPCC_31, "-o", str(tmp_path / "a")]) == 0
    subprocess.run([sys.executable, str(ROOT / "python"), "epcc", EPCC_31, "-o", str(tmp_path / "b")], check=True)
    first = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert set(first) == {"index.html", "epcc.csv", "epcc.json", "syncbench-threads.svg", "syncbench-threads.png"}
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}


def test_overheads_are_drawn_against_chunks_array_sizes_or_threads():
    kinds = ("v31.schedbench.gcc.1", "v31.schedbench.gcc.2", "arraybench_1.gcc.2", "arraybench_59049.gcc.2")
    collection = collect({name: epcc.runs(load(DATA / "epcc" / f"{name}.out")) for name in kinds}, {})
    plots = {plot.name: plot.figure for plot in draw(collection, "us")}
    assert set(plots) == {"schedbench-threads", "schedbench-chunk", "arraybench-array-size"}
    static = next(axes for axes in plots["schedbench-chunk"].axes if axes.get_title(loc="left") == "STATIC")
    assert [container.get_label() for container in static.containers] == ["1 thread, EPCC 3.1", "2 threads, EPCC 3.1"]
    line = static.containers[1].lines[0]
    assert list(line.get_xdata()) == [1, 2, 4, 8, 16, 32, 64, 128]
    assert line.get_ydata()[3] == 5.676602  # STATIC 8 overhead, as the file prints it
    assert static.get_ylabel() == "overhead [µs]"
    by_threads = {plot.name: plot.figure for plot in draw(collection, "us", "threads")}
    static = next(axes for axes in by_threads["schedbench-threads"].axes if axes.get_title(loc="left") == "STATIC")
    eight = next(c for c in static.containers if c.get_label() == "chunk 8, EPCC 3.1")
    assert list(eight.lines[0].get_xdata()) == [1, 2]
    assert draw(collection, "us", "array_size")[0].name == "arraybench-array-size"


def test_what_was_measured_at_one_point_is_drawn_side_by_side_with_what_tells_it_apart():
    files = {str(DATA / "epcc" / f"syncbench.{compiler}.2.out"): compiler for compiler in ("gcc", "clang")}
    (plot,) = draw(collect({file: epcc.runs(load(file)) for file in files}, {}, apart=True), "us")
    (axes,) = plot.figure.axes
    assert [container.get_label() for container in axes.containers] == ["syncbench.gcc.2.out", "syncbench.clang.2.out"]
    assert [label.get_text() for label in axes.get_yticklabels()][:3] == ["PARALLEL", "FOR", "PARALLEL FOR"]
    assert axes.containers[0].lines[0].get_xdata()[0] == 3040.918046  # PARALLEL overhead, as the file prints it
    low, high = axes.get_xlim()
    assert low < -0.032794 and high > 3040.918046


@pytest.mark.parametrize("by", ["auto", "threads"])
def test_no_legend_covers_data(by):
    names = [str(path) for path in (DATA / "epcc").glob("*.out")]
    for plot in draw(collect({name: epcc.runs(load(name)) for name in names}, {"compiler": "$x"}, apart=True), "us", by):
        assert not data_under_legends(plot.figure), plot.name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "FILE"),
        (["nothing.out"], "nothing.out: No such file"),
        (["."], ".: a folder. Name the files in it"),
        (["/dev/zero"], "/dev/zero: neither a file nor a pipe"),
        (["empty.out"], "empty.out:1: empty"),
        (["binary.out"], "binary.out:1: not text"),
        (["latency.out"], "latency.out:1: no output of the EPCC"),
        (["cut.out"], "cut.out:20: the file ends before BARRIER (line 14) has its overhead line"),
        (["good.out", "good.out"], "good.out:1: named twice"),
        (["good.out", "./good.out"], "named twice"),
        (["good.out", "--unit", "cycles"], "Give --clock"),
        (["good.out", "--clock", "500"], "'500' is no clock frequency with its unit"),
        (["good.out", "--os", " "], "empty"),
        (["threadless.out"], "number of threads is not known"),
    ],
)
def test_bad_input_is_one_line_and_status_2(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    good = RUN_1
    for name, content in {
        "empty.out": b"",
        "binary.out": b"\x00\x01",
        "latency.out": b"# OSU MPI Latency Test v5\n",
        "good.out": good.encode(),
        "cut.out": good.rsplit("BARRIER overhead", 1)[0].encode(),
        "threadless.out": good[good.index("-" * 56) :].encode(),
    }.items():
        (tmp_path / name).write_bytes(content)
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = ended.code
    printed = capsys.readouterr()
    assert status == 2
    assert printed.out == ""
    assert words in printed.err and printed.err.startswith("sdsm: ")
    assert printed.err.count("\n") == 1
    assert (tmp_path / "good.out").read_text() == good


@pytest.mark.parametrize(
    ("second", "words"),
    [(RUN_1 + "\n", "first.out and second.out are one output, given twice"), (RUN_2 + RUN_2, "second.out has one output twice"), (RUN_2, "")],
)
def test_a_run_that_is_there_twice_is_named(tmp_path, monkeypatch, capsys, second, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.out").write_text(RUN_1)
    (tmp_path / "second.out").write_text(second)
    assert main(["first.out", "second.out"]) == 0
    said = capsys.readouterr().err
    assert words in said and said.count("count twice") == bool(words)


def test_standard_input_is_read_and_help_teaches(capsys):
    command = [sys.executable, str(ROOT / "python"), "epcc"]
    text = Path(EPCC_31).read_bytes()
    ended = subprocess.run(
        [*command, "-"], input=text, stdout=subprocess.PIPE, check=True, env=os.environ | {"PYTHONIOENCODING": "utf-8"}
    )
    assert b"BARRIER" in ended.stdout
    help_text = subprocess.run([*command, "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
    for words in ("examples:", "--clock 550MHz", "# compiler:", "Exit status"):
        assert words in help_text


def test_predicted_files_stand_beside_the_measured_ones(tmp_path, capsys):
    names = {
        "one.out": RUN_1,
        "two.out": run_text((1.1, 0.1), (2.5, 0.4, 2.1, 3.1)),
        "predicted.out": RUN_2,
    }
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    one, two, predicted = (str(tmp_path / name) for name in names)
    assert main([one, two, "--predicted", predicted, "--plots", str(tmp_path / "plots"), "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    barriers = {row["file"]: float(row["overhead_us"]) for row in rows if row["directive"] == "BARRIER"}
    # 1.0 and 1.4 were measured; 1.5 is the prediction.
    assert barriers == pytest.approx({"measured": 1.2, "predicted": 1.5})
    drawn = (tmp_path / "plots" / "syncbench-threads.svg").read_text()
    assert "measured" in drawn
    assert "predicted" in drawn
    assert main([one, two, "--predicted", predicted]) == 0
    printed = capsys.readouterr().out
    table = printed[printed.index("predicted beside measured overheads") :].splitlines()
    assert table[2].split() == ["2", "BARRIER", "1.200", "1.500", "0.300", "+25.0"]
    assert table[-1] == "median difference: 25.0 %"
    assert main([one, "--apart", "--predicted", predicted]) == 2
    assert "Leave --apart out" in capsys.readouterr().err
