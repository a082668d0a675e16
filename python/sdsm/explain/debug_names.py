"""Names of variables as the source has them, from a program's debug information (DWARF), where its symbols have others.

Variables within functions are called as debuggers call them: `step::old` is `old` in `step`, `/fields/` a common block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile

#: Reading more takes minutes.
MOST_BYTES = 16 << 20
_DW_OP_ADDR, _DW_OP_ADDRX = 0x03, 0xA1
#: Names, types and members that lead to each other; more of them are a circle in damaged debug information.
MOST_NAMES = 64
#: What pyelftools raises for debug information of a kind that it does not know, or that is damaged.
UNREADABLE = (
    ELFError, DWARFError, AssertionError, AttributeError, IndexError, KeyError, NotImplementedError, RecursionError, TypeError, ValueError,
    OverflowError,
)  # fmt: skip


@dataclass(frozen=True)
class Named:
    """A static variable, at its address in the file. die: its entry, for members; None of a common block."""

    name: str
    die: DIE | None

    def member(self, offset: int) -> str:
        """Returns "[3].in.b" for the part of the variable at this byte; empty if it has no parts."""
        try:
            return self._member(offset)
        except UNREADABLE:
            return ""

    def _member(self, offset: int) -> str:
        path = ""
        kind = _type_of(self.die) if self.die else None
        for _ in range(MOST_NAMES):
            if kind is None:
                return path
            if kind.tag == "DW_TAG_array_type":
                element = _type_of(kind)
                size = _size_of(element) if element else 0
                if not size or element is None:
                    return path
                path += _index(kind, offset // size)
                kind, offset = element, offset % size
            elif kind.tag in ("DW_TAG_structure_type", "DW_TAG_class_type"):
                at = [one for one in kind.iter_children() if one.tag == "DW_TAG_member" and 0 <= _begin(one) <= offset]
                if not at:
                    return path
                last = max(at, key=_begin)
                name = last.attributes.get("DW_AT_name")
                path += f"{'%' if _is_fortran(kind) else '.'}{name.value.decode(errors='replace')}" if name else ""
                kind, offset = _type_of(last), offset - _begin(last)
            else:
                return path
        return path


def names_in(elf: ELFFile) -> dict[int | str, Named]:
    """Returns static variables by address, common blocks by their symbol; none without debug information, if there is too
    much of it, or if it cannot be read."""
    try:
        return _names_in(elf)
    except UNREADABLE:
        return {}


def _names_in(elf: ELFFile) -> dict[int | str, Named]:
    section = elf.get_section_by_name(".debug_info") or elf.get_section_by_name(".zdebug_info")
    if section is None or section["sh_size"] > MOST_BYTES:
        return {}
    info = elf.get_dwarf_info()
    found: dict[int | str, Named] = {}
    for unit in info.iter_CUs():
        _visit(info, unit.get_top_DIE(), (), found)
    return found


def _visit(info: DWARFInfo, die: DIE, scopes: tuple[str, ...], found: dict[int | str, Named]) -> None:
    for child in die.iter_children():
        name = _name_of(child)
        if child.tag == "DW_TAG_variable" and (address := _address_of(info, child)) is not None and name:
            found[address] = Named("::".join((*scopes, name)), child)
        elif child.tag == "DW_TAG_common_block" and "DW_AT_linkage_name" in child.attributes:
            found[child.attributes["DW_AT_linkage_name"].value.decode(errors="replace")] = Named(f"/{name}/", None)
        elif child.tag in ("DW_TAG_subprogram", "DW_TAG_module", "DW_TAG_namespace", "DW_TAG_lexical_block", "DW_TAG_inlined_subroutine"):
            # The compiler's outlined functions bear the name of the one that they are of.
            inner = name.partition("._omp_fn")[0] if child.tag != "DW_TAG_lexical_block" else ""
            _visit(info, child, (*scopes, inner) if inner and (not scopes or scopes[-1] != inner) else scopes, found)


def _name_of(die: DIE) -> str:
    for _ in range(MOST_NAMES):
        if "DW_AT_name" in die.attributes:
            return die.attributes["DW_AT_name"].value.decode(errors="replace")
        other = next((one for one in ("DW_AT_abstract_origin", "DW_AT_specification") if one in die.attributes), None)
        if other is None:
            return ""
        die = die.get_DIE_from_attribute(other)
    return ""


def _address_of(info: DWARFInfo, die: DIE) -> int | None:
    location = die.attributes.get("DW_AT_location")
    if location is None or location.form != "DW_FORM_exprloc":
        return None
    code = bytes(location.value)
    size = die.cu["address_size"]
    if code[:1] == bytes([_DW_OP_ADDRX]):  # clang's: a place in a table
        return int(info.get_addr(die.cu, _uleb128(code[1:])))
    return int.from_bytes(code[1:], "little") if len(code) == 1 + size and code[0] == _DW_OP_ADDR else None


def _uleb128(code: bytes) -> int:
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(code))


def _type_of(die: DIE) -> DIE | None:
    """Without names of types and qualifiers. Raises ValueError for a type that is made of itself."""
    for _ in range(MOST_NAMES):
        if "DW_AT_type" not in die.attributes:
            return None
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag not in ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_atomic_type"):
            return die
    raise ValueError("a type is made of itself")


def _size_of(kind: DIE) -> int:
    count = 1
    for _ in range(MOST_NAMES):
        if "DW_AT_byte_size" in kind.attributes:
            return count * int(kind.attributes["DW_AT_byte_size"].value)
        element = _type_of(kind)
        if kind.tag != "DW_TAG_array_type" or element is None:
            return 0
        count *= _elements_of(kind)
        kind = element
    raise ValueError("a type is made of itself")


def _bounds_of(array: DIE) -> list[tuple[int, int]]:
    """Returns the first index and the number of elements of each dimension."""
    bounds = []
    for one in array.iter_children():
        values = {name: int(given.value) for name, given in one.attributes.items() if isinstance(given.value, int)}
        low = values.get("DW_AT_lower_bound", 1 if _is_fortran(array) else 0)
        bounds.append((low, values.get("DW_AT_count", values.get("DW_AT_upper_bound", low - 1) - low + 1)))
    return bounds


def _elements_of(array: DIE) -> int:
    return math.prod(count for _, count in _bounds_of(array))


def _index(array: DIE, element: int) -> str:
    """Returns "[3][1]", or "(2,4)" in Fortran, whose first index counts fastest."""
    bounds = _bounds_of(array)
    indices: list[int] = []
    for low, count in bounds if _is_fortran(array) else reversed(bounds):
        # The last one may be of a size that only the program knows.
        indices.append(low + (element if len(indices) == len(bounds) - 1 or count < 1 else element % count))
        element //= max(count, 1)
    return f"({','.join(map(str, indices))})" if _is_fortran(array) else "".join(f"[{one}]" for one in reversed(indices))


def _begin(member: DIE) -> int:
    """Returns its offset in bytes; -1 of a static one, which is no part of the object."""
    if {"DW_AT_external", "DW_AT_declaration"} & member.attributes.keys():
        return -1
    at, bit = (member.attributes.get(name) for name in ("DW_AT_data_member_location", "DW_AT_data_bit_offset"))
    if at is not None:
        return int(at.value) if isinstance(at.value, int) else -1
    return int(bit.value) // 8 if bit is not None else 0


def _is_fortran(die: DIE) -> bool:
    language = die.cu.get_top_DIE().attributes.get("DW_AT_language")
    return language is not None and language.value in (0x07, 0x08, 0x0E, 0x22, 0x23)
