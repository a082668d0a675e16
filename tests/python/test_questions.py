"""docs/questions.md: does each command still print, and draw, what the page shows?

    PYTHONPATH=.:python:tests/python .venv/bin/python tests/python/test_questions.py [WORD]    writes what they do now

A block ```text answer holds lines as they are printed, `...` what is left out. Pictures are the same but for the last digits of
places; where another matplotlib draws, they have the same words.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

from sdsm.base.output_file import write_output
from sdsm.plot import style

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "questions.md"
FILES = ROOT / "docs" / "questions"
QUESTION = re.compile(r"^## ([^\n]*)\n\n```sh [^\n]*\nsdsm ([^\n]*)\n```\n\n```text answer\n(.*?)```\n.*?\(questions/([^)]*\.svg)\)", re.MULTILINE | re.DOTALL)
MOST_ANSWERS = 5
DRAWN_BY = re.compile(r"<!-- drawn by matplotlib (\S+) -->")


@dataclass(frozen=True)
class Question:
    asked: str
    command: str
    answer: str
    picture: str


def questions() -> list[Question]:
    return [Question(*match.groups()) for match in QUESTION.finditer(PAGE.read_text())]


@contextlib.contextmanager
def answered(question: Question, draws: bool = True) -> Iterator[tuple[str, Path | None]]:
    """What its command prints, and where its picture is, if it draws."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        for file in FILES.iterdir():
            if file.suffix in (".trace", ".toml", ".xml", ".json"):
                shutil.copy(file, folder)
        command, *arguments = shlex.split(question.command)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
            # Of a sweep's pictures the page has one; each takes a while.
            def shown(figure: Figure, path: Path) -> None:
                if draws and _is_shown(path, question):
                    write_output(path, style.drawing(figure, "svg"))

            patch.setattr(style, "write_figure", shown)
            assert importlib.import_module(f"sdsm.{command}.command").main(arguments) == 0
        yield printed.getvalue(), next((path for path in folder.rglob("*.svg") if _is_shown(path, question)), None)


def _is_shown(path: Path, question: Question) -> bool:
    """nodes-time.svg is nodes-sweep/time.svg."""
    return question.picture in (path.name, f"{path.parent.name.removesuffix('-sweep')}-{path.name}")


def excerpt(printed: str) -> str:
    """Of a long answer the verdict, the costliest array, what stands out and the best two choices."""
    lines = [line.rstrip() for line in printed.splitlines()]
    if not printed.startswith(("4 nodes", "[2]")):
        answers = [line for line in lines if ": " in line and "points.csv" not in line]
        return "\n".join([*answers[:MOST_ANSWERS], *(["..."] if len(answers) > MOST_ANSWERS else [])]) + "\n"
    shown = lines[:1]
    for title, count in (("Which memory", 2), ("What stands out", 2), ("What else", 3)):
        at = next((number for number, line in enumerate(lines) if line.startswith(title)), None)
        if at is not None:
            shown += ["...", *lines[at : at + count]]
    return "\n".join([*shown, "..."]) + "\n"


def same_words(first: str, second: str) -> bool:
    def words(text: str) -> list[str]:
        return [element.text or "" for element in ElementTree.fromstring(text).iter() if element.tag.endswith("}text")]

    return words(first) == words(second)


def same_drawing(first: str, second: str) -> bool:
    """But for a twentieth of a pixel: other processors round otherwise."""
    number = re.compile(r"-?\d+\.\d+")
    if number.sub("#", first) != number.sub("#", second):
        return False
    return all(abs(float(a) - float(b)) < 0.05 for a, b in zip(number.findall(first), number.findall(second), strict=True))


def test_there_are_enough_questions_from_small_traces():
    assert len(questions()) >= 14
    assert all(trace.stat().st_size < 200_000 for trace in FILES.glob("*.trace"))


@pytest.mark.parametrize("question", questions(), ids=lambda question: question.command)
def test_a_question_is_answered_as_the_page_says(question):
    with answered(question, draws=False) as (printed, _):
        lines = [line.rstrip() for line in printed.splitlines()]
        at = 0
        for part in re.split(r"^\.\.\.\n", question.answer, flags=re.MULTILINE):
            wanted = part.splitlines()
            found = next((n for n in range(at, len(lines) + 1) if lines[n : n + len(wanted)] == wanted), None)
            assert found is not None, f"{part}\nis not in, or not in this place:\n{printed}"
            at = found + len(wanted)


@pytest.mark.parametrize(
    "question",
    [pytest.param(one, id=one.command, marks=[pytest.mark.long] if number % 5 != 1 else []) for number, one in enumerate(questions())],
)
def test_a_picture_is_drawn_as_the_page_has_it(question):
    with answered(question) as (_, picture):
        assert picture is not None
        kept, drawn = (FILES / question.picture).read_text(), picture.read_text()
    version = DRAWN_BY.search(PAGE.read_text())
    assert version is not None
    assert kept == drawn or same_drawing(kept, drawn) if version[1] == matplotlib.__version__ else same_words(kept, drawn)


def write(named: str) -> None:
    """Of questions whose command has `named` in it."""
    text = PAGE.read_text()
    for question in (one for one in questions() if named in one.command):
        with answered(question) as (printed, picture):
            assert picture is not None
            shutil.copy(picture, FILES / question.picture)
            command = f"sdsm {question.command}\n```\n\n```text answer\n"
            text = text.replace(f"{command}{question.answer}```", f"{command}{excerpt(printed)}```")
    PAGE.write_text(DRAWN_BY.sub("", text).rstrip() + f"\n\n<!-- drawn by matplotlib {matplotlib.__version__} -->\n")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    write(sys.argv[1] if len(sys.argv) > 1 else "")
