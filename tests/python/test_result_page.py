"""`sdsm report`: does its page say what the commands say, escape every name, tell none when asked, and need nothing else?"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from run_results import native, simulation, thread
from sdsm.base import run_result
from sdsm.explain.memory import Array
from sdsm.readers.text import Text
from sdsm.report import again, sections
from sdsm.report.command import main
from sdsm.report.figure import PARTS, cost_by_part

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SOURCE = """
#include <omp.h>
static double secret_array[65536];
int main(void) {
  const double begin = omp_get_wtime();
  for (int round = 0; round < 2; ++round) {
#pragma omp parallel for
    for (int i = 0; i < 65536; ++i) secret_array[i] += 1;
  }
  return omp_get_wtime() < begin;
}
"""


def sdsm(folder: Path, *words: object, status: int = 0) -> str:
    done = subprocess.run([str(BUILD / "sdsm"), *map(str, words)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


@pytest.fixture(scope="session")
def secret(tmp_path_factory) -> Path:
    """A folder with a program, a platform, traces of 1 and 2 threads, results 1.json and 2.json, and a sweep, whose names, and all
    that they call things, have "secret" in them."""
    folder = tmp_path_factory.mktemp("secretfolder")
    (folder / "secret.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O1", "-g", "-fopenmp", "-o", "secretprogram", "secret.c"], cwd=folder, check=True)
    platform = (ROOT / "platforms" / "p3-score.xml").read_text()
    platform = platform.replace("Measured, [WR-env].", "Measured on secrethost.").replace('zone id="', 'zone id="secret')
    (folder / "secretmachine.xml").write_text(platform)
    for n in (1, 2):
        sdsm(folder, "trace", "-q", "--lines", "--passes", 1, "-n", n, "-o", f"secret-{n}.trace", "--", "./secretprogram", "secretargument")
        sdsm(folder, "simulate", "-q", f"secret-{n}.trace", "-p", "secretmachine.xml", "-n", n, "--json", f"secret-{n}.json")
    (folder / "secret.toml").write_text(
        'traces = ["secret-1.trace", "secret-2.trace"]\nplatform = ["secretmachine.xml", "p3-score"]\nnodes = [1, 2]\n'
        'placement = ["block", "nowhere"]\nfind = "nodes at which time is least"\n'
    )
    sdsm(folder, "sweep", "-q", "secret.toml", "-o", "secretsweep")
    return folder


def page_of(folder: Path, *arguments: object) -> str:
    previous = Path.cwd()
    os.chdir(folder)
    try:
        assert main([*map(str, arguments), "-q", "-o", "page.html"]) == 0
    finally:
        os.chdir(previous)
    return (folder / "page.html").read_text()


class Reader(HTMLParser):
    """Tags, references, rows of tables and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.rows: list[list[str]] = []
        self._open = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.references += [value or "" for name, value in attributes if name in ("src", "href", "srcset", "data", "action")]
        assert not [name for name, _ in attributes if name.startswith("on")]
        if tag == "tr":
            self.rows.append([])
        self._open = tag in ("td", "th")
        if self._open:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data):
        if self._open:
            self.rows[-1][-1] += data

    def drawings(self) -> list[str]:
        heads = [one for one in self.references if one.startswith("data:image/svg+xml;base64,")]
        return [base64.b64decode(one.partition(",")[2]).decode() for one in heads]


def needs_nothing_else(page: str) -> Reader:
    reader = Reader(page)
    assert set(reader.tags).isdisjoint({"script", "iframe", "object", "embed", "form", "base"})
    assert all(one.startswith("data:") for one in reader.references)
    assert "url(" not in page and "@import" not in page
    for drawing in reader.drawings():
        for element in ElementTree.fromstring(drawing).iter():
            assert not element.tag.endswith("}script")
            links = [value for name, value in element.attrib.items() if name.rpartition("}")[2] == "href"]
            assert all(link.startswith(("#", "data:")) for link in links)
    return reader


def test_a_page_of_a_prediction_says_what_explains_it_and_how_it_was_made(secret):
    page = page_of(secret, "secret-2.json")
    reader = needs_nothing_else(page)
    reported = sdsm(secret, "explain", "-q", "secret-2.trace", "-p", "secretmachine.xml", "-n", 2)
    assert reported.splitlines()[0] in html.unescape(page)
    assert len(reader.drawings()) == 3 and "Which pages cost most" in reader.drawings()[1]
    explained = json.loads(sdsm(secret, "explain", "-q", "secret-2.trace", "-p", "secretmachine.xml", "-n", 2, "--json", "-"))
    array = next(row for row in reader.rows if row[0].startswith("secret_array") and len(row) == 9)
    assert any(row[0].startswith("parallel region at secret.c:") or row[0].startswith("parallel loop at secret.c:") for row in reader.rows)
    memory = next(one for one in explained["memory"] if one["name"].startswith("secret_array"))
    assert array[1:2] + array[3:4] + array[5:8] == [
        str(memory["pages"]), f"{memory['cost_s']:.4g}", str(memory["faults"]), str(memory["fetches"]), str(memory["diffs"]),
    ]  # fmt: skip
    assert "secret.c:8 for (int i" in array[8]
    for other in explained["alternatives"]:
        reported_of_it = ["", "", other["why_not"]] if other["time_s"] is None else [f"{other['time_s']:.4g}", f"{other['gain']:.2f}"]
        assert [other["what"], *reported_of_it] in [row[: 1 + len(reported_of_it)] for row in reader.rows], other
    result = json.loads((secret / "secret-2.json").read_text())
    for one, kind in zip(result["inputs"], ("trace", "platform"), strict=True):
        assert [one["path"], kind, one["sha256"], "unchanged"] in reader.rows
    assert ["fault.WROH", "8us", "", "Page faults, uncontended, trap to resumed access. Measured on secrethost."] in reader.rows
    commands = [shlex.split(line) for line in html.unescape(page).splitlines() if line.removeprefix("<pre>").startswith("sdsm simulate")]
    again = sdsm(secret, *commands[0][1:-1], "-")
    assert again.endswith((secret / "secret-2.json").read_text())


def test_a_page_of_several_results_holds_them_against_the_first(secret):
    page = page_of(secret, "secret-1.json", "secret-2.json")
    reader = needs_nothing_else(page)
    reported = sdsm(secret, "compare", "secret-1.json", "secret-2.json").splitlines()[0]
    assert reported in html.unescape(page)
    assert len(reader.drawings()) == 2 and "Speedup" in reader.drawings()[0]
    result = json.loads((secret / "secret-2.json").read_text())
    assert next(row for row in reader.rows if row[0] == "[2]")[6] == f"{result['makespan_s']:.4g}"


def test_a_page_of_a_sweep_answers_first_and_shows_each_point(secret):
    page = page_of(secret, "secretsweep")
    reader = needs_nothing_else(page)
    answers = json.loads((secret / "secretsweep" / "sweep.json").read_text())["answers"]
    assert answers and all(html.escape(answer, quote=False) in page for answer in answers)
    rows = [row for row in reader.rows if row[2:3] in (["block"], ["nowhere"])]
    assert len(rows) == 8 and all(bool(row[5]) == (row[2] == "nowhere") for row in rows)
    assert len(reader.drawings()) >= 1
    (secret / "secretsweep" / "sweep.json").rename(secret / "secretsweep" / "away.json")
    assert main([str(secret / "secretsweep")]) == 2
    (secret / "secretsweep" / "away.json").rename(secret / "secretsweep" / "sweep.json")


@pytest.mark.parametrize("inputs", [["secret-2.json"], ["secret-1.json", "secret-2.json"], ["secretsweep"]])
def test_an_anonymous_page_has_no_name_and_no_path(secret, inputs):
    assert "secret" in page_of(secret, *inputs, "--no-gains")
    page = page_of(secret, *inputs, "--anonymous")
    for text in (page, *needs_nothing_else(page).drawings()):
        found = re.search(r"[^\n]{0,80}(secret|/tmp/|p3-score|\.json|\.trace)[^\n]{0,40}", text, re.IGNORECASE)
        assert not found, found
    assert "program 1" in page or "trace 1" in page
    # What was measured is still reported, and by which contents.
    assert "measured" in page and json.loads((secret / "secret-2.json").read_text())["inputs"][0]["sha256"] in page


HOSTILE = "<script>alert(1)</script>\"'&amp;$\\frac{\x01\x1b[31m\udce9 {{7*7}}"


def test_whatever_things_are_called_the_page_is_text(tmp_path):
    clean = HOSTILE.replace("\udce9", "")
    for name, document in (
        ("a", simulation(2, 2.0, program=[clean, clean], inputs=[{"path": clean, "sha256": "0" * 64}, {"path": clean, "sha256": "1" * 64}],
                         options={clean: clean}, set=[clean], versions={"sdsm": clean, "network": clean})),
        ("b", simulation(1, 3.0, program=[clean], options={"placement": clean}, threads=[thread(0, 0, {"fault": {clean: 3.0}}, faults={clean: 1})])),
        ("c", native(2, 3.0, 4.0, program=[clean])),
    ):  # fmt: skip
        (tmp_path / f"{name}{clean.replace('/', '')}.json").write_text(json.dumps(document))
    files = sorted(tmp_path.glob("*.json"))
    for inputs in (files[:1], files[1:2], files[2:], files):
        page = page_of(tmp_path, *inputs)
        reader = needs_nothing_else(page)
        assert "\x01" not in page and "\x1b" not in page and not any("49" in cell for row in reader.rows for cell in row)
        assert "script>\"'&amp;$\\frac{\\x01\\x1b[31m" in html.unescape(page)


def test_a_program_of_any_name_is_explained(tmp_path):
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    program, trace = folder / "$\\frac{<b>&", folder / "<b>\x1b.trace"
    shutil.copy(BUILD / "tests" / "planted" / "planted", program)
    sdsm(folder, "trace", "-q", "--lines", "--passes", 1, "-n", 2, "-o", trace, "--", program, "parts")
    sdsm(folder, "simulate", "-q", trace, "-p", "p3-score", "-n", 2, "--json", "r.json")
    page = page_of(folder, "r.json")
    reader = needs_nothing_else(page)
    assert {"img src=x", "b"}.isdisjoint(reader.tags)
    assert any("planted.c:" in row[0] for row in reader.rows if row) and len(reader.drawings()) == 3


#: Each with what makes it another simulation than without.
OPTIONS = [
    ["--sequential-time", "1s"],
    ["--sequential-time", "1s", "--sequential-trace", "secret-1.trace"],
    ["--compute-factor", "3.1"],
    ["--memory-bound", "0.5", "--region", "whole"],
    ["--jitter", "0.2", "--seed", "7"],
    ["--placement", "first-touch", "--full-page-diffs"],
    ["--network", "simgrid"],
    ["--page-size", "16KiB"],
    ["--set", "network.bandwidth=1Gbps", "--set", "fault.*=x0.5"],
    ["-p", "p3-jiajia", "--protocol", "jiajia", "--scope", "lock", "--home-migration", "--adaptive-write-detection"],
]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_the_command_that_a_page_gives_makes_the_same_result(secret, options):
    platform = [] if "-p" in options else ["-p", "secretmachine.xml"]
    made = sdsm(secret, "simulate", "-q", "secret-2.trace", "-n", 2, *platform, *options, "--json", "-")
    made = made[made.index("{") :]
    result = run_result.read(Text("made", made), run_result.Simulation)
    reported = sdsm(secret, *again.point(result).command(), "--json", "-")
    assert reported[reported.index("{") :] == made


def test_the_size_of_a_page_is_an_option_where_it_is_another():
    def others(page_bytes: int) -> tuple[str, ...]:
        document = simulation(2, 2.0, options={"placement": "block", "page_bytes": page_bytes})
        return again.point(run_result.read(Text("made", json.dumps(document)), run_result.Simulation)).others

    assert (others(4096), others(16384)) == ((), ("--page-size", "16384"))


def test_the_command_of_a_run_names_what_it_ran_with():
    options = {"placement": "as-asked", "transport": "tcp", "atomics": "lock", "page_bytes": 8192, "prefetch": 2}
    document = native(2, 4.0, protocol="home-open", options=options)
    (command,) = again.commands(run_result.read(Text("made", json.dumps(document)), run_result.Native))
    words = " ".join(command)
    assert "--protocol home-open" in words and "--atomics lock" in words and "--transport tcp" in words
    assert "--page-size 8192" in words and "--prefetch 2" in words and "--invalidation" not in words
    document = native(2, 4.0, protocol="jiajia", options={"placement": "as-asked", "transport": "unix", "scope": "lock"})
    (command,) = again.commands(run_result.read(Text("made", json.dumps(document)), run_result.Native))
    assert "--protocol jiajia --scope lock" in " ".join(command)


def test_a_page_says_what_a_prediction_lacks():
    def lacking(*names: str) -> list[str]:
        document = simulation(2, 4.0, extrapolated=list(names))
        return sections._lacking(run_result.read(Text("made", json.dumps(document)), run_result.Simulation))

    assert lacking("barrier", "lock") == ["This is extrapolated: the platform has no costs of barriers and locks of this layout."]
    assert lacking() == []


def test_computing_by_host_speed_is_made_again_by_it():
    options = {"compute_from": "host-speed", "compute_factor": 4.0, "traced_flops": 2.2e9, "host_flops": 5.5e8, "placement": "as-asked"}
    document = simulation(2, 4.0, options=options)
    *_, command = again.commands(run_result.read(Text("made", json.dumps(document)), run_result.Simulation))
    words = " ".join(command)
    assert "--from-host-speed" in words and "flops" not in words and "--compute-factor" not in words


def test_what_cannot_be_made_again_is_not_explained_but_said(secret, tmp_path, capsys):
    document: dict[str, Any] = json.loads((secret / "secret-2.json").read_text())
    place = tmp_path / "r.json"
    document["inputs"][0]["sha256"] = "0" * 64
    place.write_text(json.dumps(document))
    page = page_of(secret, place)
    assert "cannot be made again" in page and ["secret-2.trace", "trace", "0" * 64, "changed"] in Reader(page).rows
    # A result that this simulator does not give is nobody's to explain.
    document = json.loads((secret / "secret-2.json").read_text())
    document["options"]["compute_from"], document["options"]["compute_factor"] = "compute-factor", 2.0
    place.write_text(json.dumps(document))
    assert "Simulated again it takes" in page_of(secret, place)


def test_what_is_no_result_is_refused_and_no_input_overwritten(secret, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(secret)
    before = (secret / "secret-2.trace").read_bytes()
    for arguments, reported in (
        (["none.json"], "none.json: No such file"),
        (["secret.c"], "secret.c:1: "),
        ([str(tmp_path)], "Name a folder that sdsm sweep wrote"),
        (["secretsweep", "secret-2.json"], "a sweep has a page of its own"),
        (["secret-2.json", "-o", "secret-2.trace"], "would overwrite the input"),
        (["secret-2.json", "-o", "secret-2.json"], "would overwrite the input"),
    ):
        assert main([*arguments, "-q", "--no-gains"]) == 2
        errors = capsys.readouterr().err
        assert reported in errors and errors.count("\n") == 1
    assert (secret / "secret-2.trace").read_bytes() == before


def test_the_heat_map_shows_the_mean_cost_of_the_pages_of_each_part():
    def array(pages: int, costs: dict[int, float]) -> Array:
        return Array("a", pages, "", 1, 0, 0, 1, 0, 0, None, 0, 0, 0, (), costs)

    # 128 pages in 64 parts: two each. 32 pages: two parts each.
    assert list(cost_by_part(array(2 * PARTS, {0: 1.0, 1: 3.0, 127: 4.0}))) == [2.0, *[0.0] * (PARTS - 2), 2.0]
    assert list(cost_by_part(array(PARTS // 2, {0: 1.0, 31: 4.0}))) == [1.0, 1.0, *[0.0] * (PARTS - 4), 4.0, 4.0]


def test_chromium_fetches_nothing_reports_no_error_and_prints_the_page(secret, tmp_path):
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no chromium")
    page = page_of(secret, "secret-2.json")

    def console(text: str, name: str) -> list[str]:
        """What it says of the page, whose policy makes each fetch and script a message. Prints it."""
        (tmp_path / f"{name}.html").write_text(text)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
                   "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}"]  # fmt: skip
        words = [browser, *options, "--enable-logging=stderr", f"--print-to-pdf={tmp_path / name}.pdf", (tmp_path / f"{name}.html").as_uri()]
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | {"HOME": str(tmp_path)}
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=600, env=environment, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    assert console(page, "page") == []
    printed = (tmp_path / "page.pdf").read_bytes()
    assert printed.startswith(b"%PDF") and len(printed) > 20_000
    wrong = console(page.replace("<h1>", '<img src="http://127.0.0.1:1/x.png"><script>alert(1)</script><h1>', 1), "wrong")
    assert len(wrong) == 2 and "x.png" in wrong[0]
