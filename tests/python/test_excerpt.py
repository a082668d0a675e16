"""The timeline excerpt of `sdsm report`: does it show the costliest barrier, cut what it says, and tell whose timeline it is?"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from sdsm.base.command_line import BadInput
from sdsm.report import excerpt
from sdsm.report.command import main, window
from sdsm.report.excerpt import Arrow, Slice, Timeline
from sdsm.report.figure import draw_timeline

ROOT = Path(__file__).resolve().parents[2]
SDSM = ROOT / "build" / "sdsm"
COUNTERS = [ROOT / "build" / "tests" / "planted" / "planted", "counters"]


def timeline(*slices: tuple[int, str, float, float], arrows: int = 0, **more: object) -> Timeline:
    in_order = sorted((Slice(*one) for one in slices), key=lambda one: (one.begin_s, one.thread))
    sent = tuple(Arrow(0, 1, 1.0 + number * 1e-4, 1.0 + (number + 1) * 1e-4) for number in range(arrows))
    values = {"run": "simulated", "of": "a.trace", "nodes": 2, "threads_per_node": 1, "bounds_s": (None, None), "cut_from_s": None}
    return Timeline(**(values | {"slices": tuple(in_order), "arrows": sent} | more))  # type: ignore[arg-type]


#: Two barriers. At the second, thread 0 sends diffs amid it, while thread 1 waits.
TWO = (
    (0, "compute", 0.0, 1.0), (0, "barrier", 1.0, 1.1), (0, "compute", 1.1, 2.0), (0, "barrier", 2.0, 2.1), (0, "diff", 2.1, 2.9),
    (0, "barrier", 2.9, 3.0), (0, "compute", 3.0, 9.0),
    (1, "compute", 0.0, 0.9), (1, "barrier", 0.9, 1.1), (1, "compute", 1.1, 2.0), (1, "barrier", 2.0, 3.0), (1, "compute", 3.0, 9.0),
)  # fmt: skip


def test_without_a_window_it_is_the_costliest_barrier_and_its_surroundings():
    found = excerpt.excerpt(timeline(*TWO), None)
    # From 2 to 3 s, of which 0.4 before and 0.15 after; threads wait for 0.2 and 1 s there, for 0.3 s at the first.
    assert (found.begin_s, found.end_s) == (pytest.approx(1.6), pytest.approx(3.15))
    assert "wait for 1.2 s together, thread 0 least" in found.notes[0]
    # Beyond the measured region no barrier counts.
    early = excerpt.excerpt(timeline(*TWO, bounds_s=(0.5, 1.5)), None)
    assert "wait for 300 ms together, thread 0 least" in early.notes[0] and early.begin_s == pytest.approx(0.82)


def test_without_barriers_it_is_the_end():
    found = excerpt.excerpt(timeline((0, "compute", 0.0, 5.0), (0, "WROH", 5.0, 10.0)), None)
    assert (found.begin_s, found.end_s) == (9.0, 10.0) and "no barriers" in found.notes[0]


def test_what_is_more_than_a_picture_holds_is_cut_and_reported():
    many = excerpt.MOST_SLICES + 10
    waits = (1, "barrier", 0.0, 1.0)
    busy = [(0, "WROH" if number % 2 else "compute", number / many, (number + 1) / many) for number in range(many)]
    found = excerpt.excerpt(timeline(waits, *busy), (0.0, 2.0))
    # The end of the wait is kept, and who waits there, too.
    assert len(found.slices) == excerpt.MOST_SLICES + 1 and found.end_s == 1.0 and found.begin_s == pytest.approx(11 / many, rel=0.2)
    assert f"more than {excerpt.MOST_SLICES} slices, so the first 11 are left out" in found.notes[1]
    crowd = [(thread, "compute", 0.0, 1.0) for thread in range(20)]
    found = excerpt.excerpt(timeline(*crowd), (0.0, 1.0))
    assert found.threads == tuple(range(16)) and "The first 16 of 20 threads." in found.notes
    sent = excerpt.excerpt(timeline(*TWO, arrows=501), (0.0, 2.0))
    assert sent.arrows == () and "Its 501 messages are not drawn" in sent.notes[1]
    assert len(excerpt.excerpt(timeline(*TWO, arrows=500), (0.0, 2.0)).arrows) == 500
    assert "lacks events from 4 s on" in excerpt.excerpt(timeline(*TWO, cut_from_s=4.0), None).notes[-1]
    with pytest.raises(BadInput, match="no thread does anything"):
        excerpt.excerpt(timeline(*TWO), (10.0, 11.0))


def test_a_picture_has_a_row_for_each_thread_and_a_colour_for_each_state():
    axes = draw_timeline(excerpt.excerpt(timeline(*TWO, (0, "WROH", 9.0, 9.5)), (0.0, 9.5))).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["thread 0", "thread 1"]
    legend = axes.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["compute", "barrier", "diff", "faults"]


def test_a_window_is_two_times():
    assert window("1.2s:1500ms") == (pytest.approx(1.2), pytest.approx(1.5))
    for text in ("1s", "2s:1s", "1:2", ":"):
        with pytest.raises(ValueError):
            window(text)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a trace, a prediction of it, a measured result, and the timelines of both."""
    folder = tmp_path_factory.mktemp("excerpts")
    program = [str(word) for word in COUNTERS]
    for words in (
        ["trace", "-q", "--passes", "1", "-n", "2", "-o", "a.trace", "--", *program],
        ["simulate", "-q", "a.trace", "-p", "p3-score", "-n", "2", "--json", "predicted.json", "--timeline", "predicted-timeline.json"],
        ["run", "-q", "-n", "2", "--json", "measured.json", "--timeline", "measured-timeline.json", "--", *program],
    ):
        subprocess.run([str(SDSM), *words], cwd=folder, check=True, capture_output=True)
    return folder


def page(place: Path, *words: str) -> str:
    """The part on the timeline."""
    here = Path.cwd()
    os.chdir(place)
    try:
        assert main([*words, "-q", "--no-gains", "-o", "page.html"]) == 0
    finally:
        os.chdir(here)
    text = (place / "page.html").read_text()
    begin = text.index("What threads do when</h2>")
    return text[begin : text.index("<h2>", begin)]


def test_a_prediction_is_drawn_from_the_timeline_that_the_simulator_writes(place):
    plain = page(place, "predicted.json")
    assert "data:image/svg+xml" in plain and "The costliest barrier" in plain
    assert plain == page(place, "predicted.json", "--timeline", "predicted-timeline.json")
    end_s = json.loads((place / "predicted.json").read_text())["whole_run"]["makespan_s"]
    chosen = page(place, "predicted.json", "--window", f"{end_s / 2:.6f}s:{end_s * 0.6:.6f}s", "--anonymous")
    assert "The part that was asked for" in chosen and "data:image/svg+xml" in chosen


def test_what_cannot_be_explained_has_an_excerpt_too_unless_it_is_another_simulation_now(place):
    hardware = ["-p", "v1280", "-n", "1", "-t", "2", "--protocol", "hardware"]
    subprocess.run([str(SDSM), "simulate", "-q", "a.trace", *hardware, "--json", "shared.json"], cwd=place, check=True, capture_output=True)
    drawn = page(place, "shared.json")
    assert "data:image/svg+xml" in drawn and "The costliest barrier" in drawn
    document = json.loads((place / "shared.json").read_text())
    document["options"]["compute_from"], document["options"]["compute_factor"] = "compute-factor", 2.0
    (place / "shared.json").write_text(json.dumps(document))
    assert "There is no timeline" in page(place, "shared.json")


def test_a_measured_result_shows_its_timeline_or_says_that_there_is_none(place):
    assert "There is no timeline to show a part of: `sdsm run --timeline FILE.json` writes one" in page(place, "measured.json")
    drawn = page(place, "measured.json", "--timeline", "measured-timeline.json")
    assert "data:image/svg+xml" in drawn and "The costliest barrier" in drawn


def test_a_timeline_of_another_run_is_refused_in_one_line(place, capsys, monkeypatch):
    monkeypatch.chdir(place)
    (place / "other.json").write_text((place / "predicted-timeline.json").read_text().replace('"of":"a.trace"', '"of":"b.trace"'))
    for words, reported in (
        (["predicted.json", "--timeline", "measured-timeline.json"], "a timeline of another run (measured on 2 x 1)"),
        (["measured.json", "--timeline", "predicted-timeline.json"], "a timeline of another run (simulated on 2 x 1)"),
        (["predicted.json", "--timeline", "other.json"], "a timeline of b.trace, and the result is of"),
        (["predicted.json", "--timeline", "predicted.json"], "this is no timeline in Chrome's format"),
        (["predicted.json", "--timeline", "/dev/zero"], "neither a file nor a pipe. Name a timeline"),
        (["predicted.json", "--timeline", "none.json"], "none.json: No such file"),
        (["predicted.json", "--window", "1000s:1001s"], "the run ends at"),
        (["predicted.json", "measured.json", "--window", "0s:1s"], "of one result's page"),
    ):
        assert main([*words, "-q", "--no-gains"]) == 2
        errors = capsys.readouterr().err
        assert reported in errors and errors.count("\n") == 1, errors
