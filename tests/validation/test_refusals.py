"""What is refused when it is called is refused by its name, in a trace and in a run alike, and stands in the table of
docs/contract.md: each row has a program in tests/native/refused, and each entry point of libgomp that is missing a row."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = SOURCE / "build"
PROGRAMS = sorted(path for path in (SOURCE / "tests/native/refused").glob("*.c*") if path.stem != "entry_point")
MISSING = re.findall(r"^SDSM_MISSING_\w+\((\w+)\)", (SOURCE / "native/guest/openmp/missing.cpp").read_text(), re.M)


def table() -> set[str]:
    """Names in backticks in the first column."""
    text = (SOURCE / "docs/contract.md").read_text()
    rows = text.split("| refused when called |")[1].split("\n\n")[0].splitlines()[2:]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


def head(program: Path) -> tuple[str, str, bool]:
    """Name in the table, what the message says, and whether only a run refuses it."""
    found = re.match(r"// `(.+?)`: (.+?)( \(run only\))?\n", program.read_text())
    assert found, f"{program} does not begin with what is refused"
    return found[1], found[2], bool(found[3])


def said(folder: Path, command: str, program: str, *arguments: str) -> str:
    options = ["-o", folder / "p.trace", "--passes", "1"] if command == "sdsm-trace" else []
    words = [BUILD / command, "-q", "-n", "2", *options, "--", BUILD / "tests/refused" / program, *arguments]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_refused_program_is_reported_by_name(tmp_path, program):
    _, message, run_only = head(program)
    for command in ("sdsm-run",) if run_only else ("sdsm-run", "sdsm-trace"):
        assert message in said(tmp_path, command, program.stem)


def test_the_table_and_the_programs_name_each_other():
    entry_points = {"acc_*", "GOACC_*", "GOMP_*", "omp_*"}
    assert table() == {head(program)[0] for program in PROGRAMS} | entry_points


@pytest.mark.parametrize(("command", "each"), [("sdsm-run", 4), ("sdsm-trace", 1)])
def test_missing_entry_points_are_reported_by_name(tmp_path, command, each):
    """Both have them of one table, so a run, which takes longer to start, need not meet every one."""
    of_openacc = [name for name in MISSING if "acc_" in name or name.startswith("GOACC_")]
    others = [name for name in MISSING if name not in of_openacc]
    assert len(of_openacc) > 100 and len(others) > 20
    for name in (others + of_openacc[::10])[::each]:
        assert f"the program calls {name}: " in said(tmp_path, command, "entry_point", name)


@pytest.mark.parametrize("command", ["sdsm-run", "sdsm-trace"])
@pytest.mark.parametrize("program, is_reported", [("task_depend", True), ("task_reductions", False)])
def test_a_note_says_where_one_thread_runs_all_tasks(tmp_path, command, program, is_reported):
    options = ["-o", tmp_path / "p.trace", "--passes", "1"] if command == "sdsm-trace" else []
    words = [BUILD / command, "-n", "4", *options, "--", BUILD / "tests/constructs/c", program]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, check=True)
    assert done.stderr.count("share no work") == (1 if is_reported else 0)


@pytest.mark.parametrize("command", ["sdsm-run", "sdsm-trace"])
@pytest.mark.parametrize("asked, answers", [("true", 1), ("false", 0)])
def test_asking_for_cancellation_is_answered_once_that_nothing_is_cancelled(tmp_path, command, asked, answers):
    options = ["-o", tmp_path / "p.trace", "--passes", "1"] if command == "sdsm-trace" else []
    words = [BUILD / command, "-n", "4", *options, "--", BUILD / "tests/constructs/c", "cancel"]
    environment = os.environ | {"OMP_CANCELLATION": asked}
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, check=True, env=environment)
    assert done.stderr.count("nothing is cancelled here") == answers


def test_a_program_with_transactions_is_refused_before_it_starts(tmp_path):
    """It hung in a run: libitm's locks are in each process's own memory. This library stands for it."""
    (tmp_path / "itm.c").write_text("void _ITM_beginTransaction(void) {}\n")
    (tmp_path / "program.c").write_text(
        "void _ITM_beginTransaction(void);\nint main(void) {\n#pragma omp parallel\n  _ITM_beginTransaction();\n  return 0;\n}\n"
    )
    (tmp_path / "library.c").write_text("void _ITM_beginTransaction(void);\nvoid add(void) { _ITM_beginTransaction(); }\n")
    (tmp_path / "caller.c").write_text("void add(void);\nint main(void) {\n#pragma omp parallel\n  add();\n  return 0;\n}\n")
    for words in (
        ("-shared", "-fPIC", "-o", "libitm.so", "itm.c"),
        ("-fopenmp", "-o", "program", "program.c", "./libitm.so"),
        ("-shared", "-fPIC", "-o", "library.so", "library.c", "-L.", "-litm", "-Wl,-rpath,$ORIGIN"),
        ("-fopenmp", "-o", "caller", "caller.c", "./library.so", "-Wl,-rpath,$ORIGIN"),
    ):
        subprocess.run(["gcc", *words], cwd=tmp_path, check=True)
    tried = [(command, program) for command in ("sdsm-run", "sdsm-trace") for program in ("./program", "./caller")]
    for command, program in tried:
        options = ("-o", "p.trace") if command == "sdsm-trace" else ()
        words = [BUILD / command, "-n", "2", *options, "--", program]
        done = subprocess.run([str(word) for word in words], cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 2 and "has transactions (gcc -fgnu-tm)" in done.stderr
