"""The programs of tests/native/programs-whole that this compiler built."""

from __future__ import annotations

from pathlib import Path

from tests.validation.native_runs import BUILD

SOURCE = Path(__file__).resolve().parents[2]

#: Arguments with which a program is short.
ARGUMENTS = {
    "lu_flags.c": (24, 6, 1),
    "nas_is.c": (16384, 512, 3),
}
PROGRAMS = sorted(
    path.name
    for path in (SOURCE / "tests" / "native" / "programs-whole").iterdir()
    if path.suffix in (".c", ".cpp", ".f90") and (BUILD / "tests" / "whole" / path.name).exists()
)
