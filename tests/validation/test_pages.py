"""Do the pages tell the truth? Every command that a page shows is run, every file and function that a page or a comment
cites is there.

A fenced block says in its first line what it is:

    ```sh                        run as it stands, blocks of a page in order, in one folder; sizes are made small
    ```sh not run: REASON        only its commands' options are looked up in their --help
    ```text output               what the block before printed; figures with a decimal point are not compared
    ```c, ```xml, ```text ...    no commands
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
DATA = ROOT / "tests" / "python" / "data"
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder, pattern in ((ROOT, "*.md"), (ROOT / "docs", "**/*.md"), (ROOT / "calibration", "*.md"))
    for path in folder.glob(pattern)
    if path.name != "CHANGELOG.md"  # it tells of files and options that were
)

#: What makes a page's commands quick. The README's run as they are: their output is compared.
SMALLER = [
    (r"--size 1024", "--size 64"),
    (r"--iterations 100", "--iterations 5"),
    (r"--points 2\^19", "--points 2^10"),
    (r"--repeat 10", "--repeat 2"),
    (r"--uncertainty 100", "--uncertainty 10"),
    (r"seq 1 20", "seq 1 2"),
    (r"microbench --layouts \S+", "microbench --no-system --samples 2 --layouts 2x1"),
]

#: What the pages call a program and its parts.
PROGRAM = """
#include <omp.h>
#include <stdio.h>
static double sums[4096];
int main(void) {
  double begin = omp_get_wtime();
#pragma omp parallel for
  for (int i = 0; i < 4096; ++i) sums[i] += i;
  printf("%.6f s\\n", omp_get_wtime() - begin);
  return 0;
}
"""


@dataclass(frozen=True)
class Block:
    page: str
    line: int  #: of the opening fence
    info: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    opened, info, held = 0, "", []
    for number, line in enumerate((ROOT / page).read_text().splitlines(), start=1):
        if not line.lstrip().startswith("```"):
            held.append(line)
        elif opened:
            yield Block(page, opened, info, "\n".join(held) + "\n")
            opened = 0
        else:
            opened, info, held = number, line.strip().removeprefix("```").strip(), []


def masked(line: str) -> str:
    """The line without what differs from run to run: times, which have a decimal point, and the width of columns."""
    return " ".join(re.sub(r"\d+\.\d+", "#", line).split())


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder that looks like a checkout with a user's files in it. Outputs of commands go there."""
    for name in ("build", "scripts", "calibration", "platforms", "workloads", "docs", ".venv"):
        (tmp_path / name).symlink_to((ROOT / name).resolve())
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", "program", "program.c"], cwd=tmp_path, check=True)
    machine = (ROOT / "platforms" / "one-machine.xml").read_text()
    uncertain = '<prop id="fault.RUMR.standard-error" value="0.1us"/>'
    (tmp_path / "machine.xml").write_text(re.sub(r'(?=<prop id="fault.RUMR")', uncertain, machine, count=1))
    for name in ("m.json", "m1.json", "m2.json", "m3.json"):
        shutil.copy(DATA / "sdsm" / "microbench.system.json", tmp_path / name)
    for threads in (1, 2):
        shutil.copy(DATA / "epcc" / f"v31.syncbench.gcc.{threads}.out", tmp_path / f"syncbench.gcc.{threads}.out")
    shutil.copy(DATA / "network" / "netpipe.loopback.out", tmp_path / "netpipe.out")
    return tmp_path


def environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    return clean | {"PATH": f"{BUILD}:{clean['PATH']}", "PYTHONPATH": f"{ROOT}/python"}


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.info in ("sh", "python") for b in blocks(page))])
def test_a_pages_commands_end_well_and_print_what_it_shows(page: str, desk: Path):
    printed = ""
    for block in blocks(page):
        if block.info == "text output":
            ahead = iter(masked(line) for line in printed.splitlines())
            for line in filter(None, map(masked, block.text.splitlines())):
                assert line in ahead, f"{block}: not printed, or not in this place: {line}\n{printed}"
        elif block.info in ("sh", "python"):
            text = block.text
            for pattern, small in SMALLER if page != "README.md" else []:
                text = re.sub(pattern, small, text)
            command = ["bash", "-euo", "pipefail"] if block.info == "sh" else [ROOT / ".venv" / "bin" / "python"]
            ended = subprocess.run(
                [*command, "-c", text],
                check=False,
                stdin=subprocess.DEVNULL,
                cwd=desk,
                env=environment(),
                capture_output=True,
                text=True,
                timeout=600,
            )
            assert ended.returncode == 0, f"{block}: {ended.stdout}\n{ended.stderr}"
            printed = ended.stdout + ended.stderr


@cache
def help_of(command: str, *subcommand: str) -> str:
    """What a command of this project says of itself; empty for others' commands."""
    if command == "sdsm" and subcommand:
        call = [str(BUILD / "sdsm"), *subcommand, "--help"]
    elif (
        command.startswith(("scripts/", "tests/", "build/workloads/"))
        and os.access(ROOT / command, os.X_OK)
        and (ROOT / command).is_file()
    ):
        call = [str(ROOT / command), "--help"]
    else:
        return ""
    return subprocess.run(call, capture_output=True, text=True, timeout=600, env=environment(), check=True).stdout


def unknown_options(line: str) -> list[str]:
    """Options in a line of shell that the project's command in front of them does not know."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    found, reported = [], ""
    for place, word in enumerate(words):
        name = word.removeprefix("build/") if word in ("build/sdsm", "sdsm") else word
        following = words[place + 1] if place + 1 < len(words) else ""
        if name == "sdsm" and re.fullmatch(r"[a-z]+", following):
            inner = (
                words[place + 2]
                if following == "trace" and words[place + 2 : place + 3] in (["info"], ["dump"])
                else ""
            )
            reported = help_of("sdsm", following, *filter(None, [inner]))
        elif name.startswith(("scripts/", "build/workloads/", "tests/")):
            reported = help_of(name)
        elif word in ("|", "&&", ";", "||") or word == "--" or word.endswith(";"):
            reported = ""
        elif reported and re.fullmatch(r"-[a-z]|--[a-z][a-z-]*(=.*)?", word):
            option = word.split("=")[0]
            if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", reported):
                found.append(f"{option} in: {line}")
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_options_that_a_page_names_are_those_of_the_command(page: str):
    """In blocks that are not run, and in the running text (`sdsm COMMAND ... --option`)."""
    found = []
    for block in blocks(page):
        if block.info.startswith("sh"):
            for line in block.text.replace("\\\n", " ").splitlines():
                found += [f"{block}: {what}" for what in unknown_options(line)]
        assert block.info, f"{block}: the block does not say what it is (```sh, ```text, ...)"
        if block.info.startswith("sh") and block.info != "sh":
            assert re.fullmatch(r"sh not run: .+", block.info), f"{block}: ```sh not run: REASON"
    for number, line in enumerate((ROOT / page).read_text().splitlines(), start=1):
        for code in re.findall(r"`([^`]+)`", line):
            found += [f"{page}:{number}: {what}" for what in unknown_options(code)]
    assert not found


# ---- what is cited is there


@cache
def tracked() -> tuple[str, ...]:
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True
    )
    return tuple(name for name in listed.stdout.splitlines() if (ROOT / name).is_file())


def is_there(cited: str, citing: str) -> bool:
    """Whether a file stands at that path, from the root or the citing file's folder, or ends in it below some folder."""
    cited = cited.split("#")[0]
    if (ROOT / cited).exists() or (ROOT / citing).parent.joinpath(cited).exists():
        return True
    return any(name.endswith("/" + cited) for name in tracked())


SOURCE = {".cpp", ".hpp", ".c", ".h", ".inc", ".py", ".sh", ".cmake", ".txt", ".xml", ".jinja", ".toml", ".yml"}
#: A file of the repository, as pages and comments cite one.
CITED_FILE = re.compile(r"(?<![\w./~$*{<-])((?:[\w.-]+/)*[\w-][\w.-]*\.(?:md|hpp|cpp|csv|inc|py))(?![\w*/-])")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
#: Names that stand for files of a user or of a run, and the publications' own.
EXAMPLES = {"directives.csv", "pages.csv", "points.csv", "protocols.csv", "times.csv", "threads.csv", "seeds.csv", "swim.csv", "v1280.csv", "epcc.csv", "program.cpp", "a.csv", "options.csv"}


def comments(name: str) -> Iterator[tuple[int, str]]:
    """Lines of a file that people read: all of a page, the comments and texts of a source. Tests make up files in their
    texts, so of them the comments alone."""
    text = (ROOT / name).read_text(errors="replace")
    sign = re.compile(r'//|/\*|^\s*\*|#|<!--|"') if Path(name).suffix != ".md" else None
    if name.startswith("tests/"):
        sign = re.compile(r"^\s*(//|#)")
    in_text = False
    for number, line in enumerate(text.splitlines(), start=1):
        if name.endswith(".py") and line.count('"""') % 2:
            in_text = not in_text
        if sign is None or in_text or sign.search(line):
            yield number, line


def test_the_files_that_pages_and_comments_cite_are_in_the_repository():
    found = []
    for name in tracked():
        path = Path(name)
        if path.suffix not in SOURCE | {".md", ""} or "data" in path.parts or name == "CHANGELOG.md":
            continue
        for number, line in comments(name):
            if re.match(r"\s*#\s*include|\s*add_|\s*(import|from) ", line):
                continue
            cited = set(CITED_FILE.findall(line)) | (set(LINK.findall(line)) if path.suffix == ".md" else set())
            found += [
                f"{name}:{number}: {what}"
                for what in sorted(cited)
                if what not in EXAMPLES and not is_there(what, name)
            ]
    assert not found, "\n".join(found)


def test_the_way_through_the_code_names_existing_files_and_functions():
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    steps = re.findall(r"^\| \d+ \| `([^`]+)` \| `(?:(\w+)::)?(\w+)\(\)` \|", page, re.MULTILINE)
    assert len(steps) >= 10
    names = re.findall(r"`([A-Z]\w+)(?:::\w+\(\))?`", page)
    assert set(names) - code_names() <= {"SIGSEGV"}
    for path, owner, function in steps:
        text = (ROOT / path).read_text()
        assert re.search(rf"\b{owner}::{function}\(" if owner else rf"\b{function}\(", text), (
            f"{path}: {owner}::{function}"
        )


def anchors(page: str) -> set[str]:
    """What links may point to in a page: its headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_headings_that_links_point_to_exist():
    found = []
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", (ROOT / page).read_text()):
            pointed = (Path(page).parent / target).as_posix() if target else page
            if anchor not in anchors(pointed):
                found.append(f"{page}: {target}#{anchor}")
    assert not found


@cache
def code_names() -> frozenset[str]:
    """Every name in a source outside of comments."""
    held: set[str] = set()
    for name in tracked():
        if Path(name).suffix in {".cpp", ".hpp", ".c", ".h", ".inc", ".py", ".f90"} and not name.startswith("docs/"):
            text = (ROOT / name).read_text(errors="replace")
            text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
            held.update(re.findall(r"[A-Za-z_]\w*", text))
    return frozenset(held)


def exists(function: str) -> bool:
    library = ctypes.CDLL(None)
    return function in code_names() or hasattr(library, function)


def test_the_functions_that_pages_and_comments_name_exist():
    found = []
    for name in tracked():
        suffix = Path(name).suffix
        if suffix not in {".md", ".cpp", ".hpp", ".c", ".h"} or name == "CHANGELOG.md" or name.startswith("tests/"):
            continue
        for number, line in enumerate((ROOT / name).read_text().splitlines(), start=1):
            said = line if suffix == ".md" else "".join(re.findall(r"//.*", line))
            pattern = r"`(?:\w+::)*(\w+)\(\)?[^`]*`" if suffix == ".md" else r"\b(?:\w+::)*(\w+)\(\)"
            found += [f"{name}:{number}: {what}()" for what in re.findall(pattern, said) if not exists(what)]
    assert not found, "\n".join(found)
