"""Reads a program's symbol table: variables that share pages, and critical sections."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdsm.explain.source import TIME_LIMIT_S, is_newer

PAGE_BYTES = 4096
#: gcc makes a variable for each named critical section; its address identifies the section.
CRITICAL = ".gomp_critical_user_"
_LOADED, _WRITABLE = 1, 2


@dataclass(frozen=True)
class Variable:
    """begin, end: in the file's own addresses."""

    name: str
    begin: int
    end: int


@dataclass(frozen=True)
class Symbols:
    """end: of the pages of the program's variables, in the file's own addresses."""

    variables: tuple[Variable, ...]
    end: int

    def criticals(self) -> tuple[str, ...]:
        """Names of critical sections."""
        return tuple(sorted(one.name.removeprefix(CRITICAL) for one in self.variables if one.name.startswith(CRITICAL)))

    def on_page(self, page: int, pages: int) -> tuple[str, ...]:
        """Names variables that lie there, if only in part, by address. page: among the `pages` pages of the program's globals."""
        begin = self.end - (pages - page) * PAGE_BYTES
        there = (one for one in self.variables if one.begin < begin + PAGE_BYTES and one.end > begin)
        return tuple(one.name for one in there if not one.name.startswith(CRITICAL))

    def at(self, byte: int, pages: int) -> str:
        """Names the variable at this byte of the program's globals, which have `pages` pages; empty if no symbol has it."""
        address = self.end - pages * PAGE_BYTES + byte
        return next((one.name for one in self.variables if one.begin <= address < one.end), "")


def symbols_of(program: str, traced: float) -> Symbols | None:
    """traced: when it was, s since 1970. None without binutils' nm, of a program that has changed since or has no symbols."""
    tool = shutil.which("nm")
    if tool is None or not Path(program).is_file() or is_newer(program, traced):
        return None
    try:
        end = _end_of_variables(Path(program).read_bytes())
        done = subprocess.run(
            [tool, "-C", "-S", "-n", "--defined-only", program], capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S, check=False
        )
    except (OSError, struct.error, subprocess.TimeoutExpired):
        return None
    found = tuple(_variables(done.stdout))
    return Symbols(found, end) if found and end else None


def _variables(text: str) -> Iterator[Variable]:
    for line in text.splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) [bBdDuvV] (.+)", line)
        if match:
            begin = int(match[1], 16)
            yield Variable(match[3], begin, begin + int(match[2], 16))


def _end_of_variables(elf: bytes) -> int:
    """Of the writable segments' pages; 0 of what is no ELF file of 64 bits. Raises struct.error for a damaged one."""
    if elf[:5] != b"\x7fELF\x02":
        return 0
    (first,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    end = 0
    for number in range(count):
        kind, flags, _, address, _, _, memory_bytes, _ = struct.unpack_from("<IIQQQQQQ", elf, first + number * size)
        if kind == _LOADED and flags & _WRITABLE:
            end = max(end, address + memory_bytes)
    return (end + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES
