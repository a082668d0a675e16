"""Finds lines of the traced program, from its debug information."""

from __future__ import annotations

import linecache
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT_S = 60.0


@dataclass(frozen=True)
class Line:
    """A line of source. file: as debug information names it; text: its content, empty if the file cannot be read."""

    function: str
    file: str
    number: int
    text: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}"


def demangled(names: Iterable[str]) -> dict[str, str]:
    """Returns names of C++ and Fortran's modules (grid::field) as in the source, by those names whose first word is mangled.
    Without binutils' c++filt those of C++ stay unchanged."""
    found = {name: _MODULE.sub(r"\1::\2", name) for name in names}
    mangled = [name for name in found if name.startswith("_Z")]
    tool = shutil.which("c++filt")
    if not mangled or tool is None:
        return found
    # c++filt also knows the name in "name [size]"; each line of input gives one line of output.
    queries = "".join(f"{name}\n" for name in mangled)
    try:
        done = subprocess.run([tool], input=queries, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return found
    lines = done.stdout.splitlines()
    return found | dict(zip(mangled, lines, strict=True)) if len(lines) == len(mangled) else found


#: gfortran's names of what a module holds.
_MODULE = re.compile(r"^__(\w+?)_MOD_(\w+)")


def is_newer(file: str, time: float) -> bool:
    """Whether the file was changed after that time (s since 1970), so that it may not be the traced one."""
    try:
        return Path(file).stat().st_mtime > time
    except OSError:
        return False


def is_of_system(library: str) -> bool:
    """Whether a library lies in the system's folders, whose libraries have no debug information."""
    return library.startswith(("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"))


def frames_at(program: str, addresses: Iterable[int], traced: float) -> dict[int, tuple[Line, ...]]:
    """Returns the lines of each address of `program` that debug information knows (gcc -g): the innermost inlined
    call's first, last the line in the function that the code belongs to.

    addresses: the file's own, as its symbols' are. traced: when it was, s since 1970. Empty without binutils' addr2line, and
    of a program that has changed since; a source that has is not quoted.
    """
    wanted = sorted(set(addresses))
    tool = shutil.which("addr2line")
    if not wanted or tool is None or not Path(program).is_file() or is_newer(program, traced):
        return {}
    command = [tool, "-e", program, "-f", "-C", "-i", "-a", *(hex(address) for address in wanted)]
    try:
        printed = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return _parsed(printed.stdout, traced)


def _parsed(text: str, traced: float) -> dict[int, tuple[Line, ...]]:
    """Parses, for each address, its number, then pairs of lines, function and place, from the innermost inlined call outwards."""
    found: dict[int, tuple[Line, ...]] = {}
    for block in re.split(r"^(?=0x[0-9a-f]+$)", text, flags=re.MULTILINE):
        head, *pairs = block.splitlines() or [""]
        places = [(pairs[i], pairs[i + 1]) for i in range(0, len(pairs) - 1, 2)]
        known = [(_MODULE.sub(r"\1::\2", function), match) for function, place in places if (match := re.match(r"(.+):(\d+)", place)) and match[1] != "??"]
        if known:
            frames = ((function, match[1], int(match[2])) for function, match in known)
            found[int(head, 16)] = tuple(Line(*frame, _text_of(frame[1], frame[2], traced)) for frame in frames)
    return found


def line_of_touch(frames: Sequence[Line]) -> Line:
    """Returns the innermost line that is neither in a system's header nor in an accessor."""
    return next((frame for frame in frames if not is_passed_on(frame)), frames[-1])


def lines_of_calls(chains: Mapping[str, Sequence[Line]]) -> dict[str, Line]:
    """Returns, for calls that led to allocations, the one that asks for the array: not in a library, nor in a function that
    returns its allocation, nor at a line that allocates for several others."""
    left = {name: tuple(chain) for name, chain in chains.items() if chain}
    while True:
        callers: dict[Line, set[Line]] = defaultdict(set)
        for chain in left.values():
            callers[chain[0]].update(chain[1:2])
        passed = {
            name: chain[1:]
            for name, chain in left.items()
            if len(chain) > 1 and (is_passed_on(chain[0]) or len(callers[chain[0]]) > 1)
        }
        if not passed:
            return {name: chain[0] for name, chain in left.items()}
        left |= passed


#: Headers of the compiler and of libraries.
SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/local/include/")


def is_passed_on(frame: Line) -> bool:
    """Whether it is in a function of a library, in a constructor, in a function that returns a pointer, a reference or a
    container, or in one of another type that returns what the line makes. Only the source has a function's type, as addr2line
    does not print it."""
    if frame.file.startswith(SYSTEM):
        return True
    # A template's name has its type in front.
    *scopes, name = re.sub(r"<.*>", "", frame.function.partition("(")[0]).split(" ")[-1].split("::")
    if scopes and (name == scopes[-1] or name.startswith("operator")):
        return True
    if not name or not frame.text:
        return False
    # Search up to the function's head: `double* name(`, `std::vector<double> name(`; the last match before the line is
    # its own.
    above = "".join(linecache.getlines(frame.file)[: frame.number])
    heads = re.findall(rf"^([\w:<>,*& \t]*?[\s*&>])(?:\w+::)*{re.escape(name)}\s*\(", above, re.MULTILINE)
    if not heads:
        return False
    if re.search(r"([*&>]|\bauto)\s*$", heads[-1]):
        return True
    return not _NO_OBJECT.search(heads[-1]) and _returns_what_is_made(frame)


#: Types that hold no memory.
_NO_OBJECT = re.compile(r"\b(void|bool|char|short|int|long|float|double|signed|unsigned|(std::)?\w+_t)\s*$")
_DECLARED = re.compile(r"(?!return\b|delete\b)(?:const )?[\w:]+(?:<.*>)?[\s*&]+(\w+)\s*(?:[({=;]|$)")


def _returns_what_is_made(frame: Line) -> bool:
    """Whether a line in C or C++ makes the returned value: `return Grid(n);`, or the declaration of a variable that the
    function returns below."""
    if re.search(r"(^|[{;])\s*return\b", frame.text):
        return True
    declared = _DECLARED.match(frame.text)
    below = "".join(linecache.getlines(frame.file)[frame.number :])
    body = re.split(r"^}", below, maxsplit=1, flags=re.MULTILINE)[0]
    return declared is not None and re.search(rf"\breturn\s+(std::move\()?{declared[1]}\)?\s*;", body) is not None


def _text_of(file: str, number: int, traced: float) -> str:
    if not Path(file).is_file() or is_newer(file, traced):
        return ""
    return "".join(sign if sign.isprintable() else " " for sign in linecache.getline(file, number)).strip()


_OBJECT = r"[A-Za-z_][\w]*(?:(?:\.|->|%|::)[A-Za-z_]\w*|\[[^\]]*\])*"
#: How a line gives new memory to a variable, the surest first: by Fortran's ALLOCATE, by a call for a pointer's address, by a
#: member function, by `=`, by a declaration with a constructor.
_ALLOCATE = re.compile(rf"(?:^|[;)])\s*allocate\s*\((?:[^:]*::)?\s*({_OBJECT})\s*[(\[]", re.IGNORECASE)
_GIVEN = (
    re.compile(rf"posix_memalign\s*\([^&]*&\s*({_OBJECT})"),
    re.compile(rf"({_OBJECT})(?:\.|->)(?:resize|assign|reserve|emplace_back|push_back|insert|reset)\s*\("),
    re.compile(rf"(?:^|[\s;{{(*])({_OBJECT})\s*=(?![=>])[^&]*$"),
    re.compile(rf"<.*>\s+({_OBJECT})\s*[({{]"),
)
#: What is no code, and conditions, whose assignments are of a loop's counters and of states.
_NO_CODE = re.compile(r"//.*|/\*.*?\*/|\s!(?!\$).*|\"[^\"]*\"|^\s*for\s*\([^;]*;[^;]*;[^)]*\)")


def variable_of(text: str) -> str:
    """Returns the variable to which a line of source gives new memory, as it is written there; empty if the text does not say,
    or says several."""
    code = _NO_CODE.sub("", text)
    if re.search(r"(?:^|[;)])\s*allocate\s*\(", code, re.IGNORECASE):
        found = _ALLOCATE.findall(code)
        # The list goes on behind the first.
        return found[0] if len(found) == 1 and not re.search(r"\)\s*,\s*[A-Za-z_]\w*[%\w]*\s*\(", code) else ""
    if re.search(r"\bcall\b", code, re.IGNORECASE):
        return ""
    for number, pattern in enumerate(_GIVEN):
        # Several statements, or several variables of one.
        given = {one for part in code.split(";") for one in pattern.findall(part)}
        several = len(given) > 1 or (number >= 2 and re.search(r"[)=\w]\s*,\s*\*?\w+\s*[=({]", re.sub(r"\([^()]*\)|<[^<>]*>", "()", code)))
        if given:
            return "" if several else given.pop()
    return ""
