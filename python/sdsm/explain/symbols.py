"""Reads a program's symbol table: variables that share pages, and critical sections."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import P_FLAGS, SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from sdsm.explain.debug_names import Named, names_in
from sdsm.explain.source import demangled, is_newer

PAGE_BYTES = 4096
#: gcc makes a variable for each named critical section; its address identifies the section.
CRITICAL = ".gomp_critical_user_"


#: gcc numbers a function's own static variables: `calls.1`.
_COPY = re.compile(r"\.\d+$")
#: Variables of compilers and run-time libraries, which no source has.
_OF_COMPILER = re.compile(r"completed(\.\d+)?$|DW\.ref\.|(vtable|typeinfo|guard variable)\b|.*\b__(vtab|def_init)_")


@dataclass(frozen=True)
class Variable:
    """begin, end: in the file's own addresses. named: its entry in debug information, if there is one."""

    name: str
    begin: int
    end: int
    named: Named | None = None


@dataclass(frozen=True)
class Symbols:
    """end: of the pages of the program's variables, in the file's own addresses. spelt: names in the source by symbol."""

    variables: tuple[Variable, ...]
    end: int
    spelt: Mapping[str, str] = field(default_factory=dict)

    def criticals(self) -> tuple[str, ...]:
        """Names of critical sections."""
        return tuple(sorted(one.name.removeprefix(CRITICAL) for one in self.variables if one.name.startswith(CRITICAL)))

    def on_page(self, page: int, pages: int) -> tuple[str, ...]:
        """Names variables that lie there, if only in part, by address. page: among the `pages` pages of the program's globals."""
        begin = self.end - (pages - page) * PAGE_BYTES
        there = (one for one in self.variables if one.begin < begin + PAGE_BYTES and one.end > begin)
        return tuple(one.name for one in there if not one.name.startswith(CRITICAL) and not _OF_COMPILER.match(one.name))

    def at(self, byte: int, pages: int) -> str:
        """Names the variable at this byte of the program's globals, which have `pages` pages, and its element or member; empty
        if no symbol has it."""
        address = self.end - pages * PAGE_BYTES + byte
        one = next((one for one in self.variables if one.begin <= address < one.end), None)
        if one is None:
            return ""
        return one.name + (one.named.member(address - one.begin) if one.named else "")

    def named(self, name: str) -> str:
        """Returns a name of a trace, whose first word may be a symbol, with that in the source's spelling."""
        symbol, blank, rest = name.partition(" ")
        return self.spelt.get(symbol, symbol) + blank + rest


def symbols_of(program: str, traced: float) -> Symbols | None:
    """traced: when it was, s since 1970. None of a program that has changed since, has no symbols or is damaged."""
    if not Path(program).is_file() or is_newer(program, traced):
        return None
    try:
        with Path(program).open("rb") as file:
            elf = ELFFile(file)
            written = [one for one in elf.iter_segments("PT_LOAD") if one["p_flags"] & P_FLAGS.PF_W]
            end = max((one["p_vaddr"] + one["p_memsz"] for one in written), default=0)
            found = sorted(_symbols(elf), key=lambda one: one.begin)
            known = names_in(elf)
    except (ELFError, OSError, ValueError):
        return None
    shown = demangled(one.name for one in found)
    variables = []
    spellings: dict[str, set[str]] = defaultdict(set)
    for one in found:
        named = known.get(one.begin) or known.get(one.name)
        # C++'s names have their scopes.
        name = shown[one.name] if shown[one.name] != one.name else named.name if named else _COPY.sub("", one.name)
        variables.append(Variable(name, one.begin, one.end, named))
        spellings[one.name].add(name)
    # Several functions may have a variable of one symbol.
    names = {symbol: all_.pop() for symbol, all_ in spellings.items() if len(all_) == 1}
    return Symbols(tuple(variables), (end + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES, names) if variables and end else None


def _symbols(elf: ELFFile) -> Iterator[Variable]:
    """What has a size and lies in a section that the program writes."""
    written = {number for number, one in enumerate(elf.iter_sections()) if one["sh_flags"] & SH_FLAGS.SHF_WRITE}
    table = elf.get_section_by_name(".symtab")
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        if symbol["st_size"] and symbol["st_shndx"] in written and symbol["st_info"]["type"] != "STT_TLS":
            yield Variable(symbol.name, symbol["st_value"], symbol["st_value"] + symbol["st_size"])
