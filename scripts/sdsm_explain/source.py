"""Lines of the traced program, from its debug information."""

from __future__ import annotations

import linecache
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT_S = 60.0


@dataclass(frozen=True)
class Line:
    """A line of source. file: as debug information names it; text: what stands there, empty if the file cannot be read."""

    function: str
    file: str
    number: int
    text: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}"


def is_newer(file: str, time: float) -> bool:
    """Whether it was changed after that time (s since 1970), and so may be another one than was traced."""
    try:
        return Path(file).stat().st_mtime > time
    except OSError:
        return False


def lines_at(program: str, addresses: Iterable[int], traced: float) -> dict[int, Line]:
    """The line of each address of `program` that debug information knows (gcc -g). Of a call that the compiler has
    inlined it is the line that calls: that one tells apart what the same small function is called for.

    addresses: the file's own, as its symbols' are. traced: when it was, s since 1970. Empty without binutils' addr2line, and
    of a program that has changed since; a source that has is not quoted.
    """
    wanted = sorted(set(addresses))
    tool = shutil.which("addr2line")
    if not wanted or tool is None or not Path(program).is_file() or is_newer(program, traced):
        return {}
    command = [tool, "-e", program, "-f", "-C", "-i", "-a", *(hex(address) for address in wanted)]
    try:
        told = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return _parsed(told.stdout, traced)


def _parsed(text: str, traced: float) -> dict[int, Line]:
    """Of each address: its number, then pairs of lines, function and place, from the innermost inlined call outwards."""
    found: dict[int, Line] = {}
    for block in re.split(r"^(?=0x[0-9a-f]+$)", text, flags=re.MULTILINE):
        head, *pairs = block.splitlines() or [""]
        places = [(pairs[i], pairs[i + 1]) for i in range(0, len(pairs) - 1, 2)]
        known = [(function, match) for function, place in places if (match := re.match(r"(.+):(\d+)", place)) and match[1] != "??"]
        if known:
            function, match = known[-1]
            number = int(match[2])
            found[int(head, 16)] = Line(function, match[1], number, _text_of(match[1], number, traced))
    return found


def _text_of(file: str, number: int, traced: float) -> str:
    if not Path(file).is_file() or is_newer(file, traced):
        return ""
    return "".join(sign if sign.isprintable() else " " for sign in linecache.getline(file, number)).strip()
