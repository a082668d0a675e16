"""Writes manual pages: roff for man, a page for each command."""

from __future__ import annotations

from sdsm.manual.help_text import Help, Section


def page(name: str, version: str, text: Help) -> str:
    """name: "sdsm simulate"."""
    lines = [f'.TH "{name.replace(" ", "-").upper()}" 1 "" "sdsm {version}" "User Commands"']
    lines += [".SH NAME", f"{_escaped(name.replace(' ', '-'))} \\- {_escaped(text.description.rstrip('.'))}"]
    lines += [".SH SYNOPSIS", _escaped(text.synopsis)]
    for number, section in enumerate(text.sections):
        lines += _section(section, "DESCRIPTION" if number == 0 else _heading(section.title))
    return "\n".join(lines) + "\n"


def overview(version: str, commands: dict[str, Help]) -> str:
    """sdsm(1): an overview of the commands."""
    lines = [f'.TH "SDSM" 1 "" "sdsm {version}" "User Commands"', ".SH NAME"]
    lines += ["sdsm \\- predict, explain and run OpenMP programs on clusters whose shared memory is made in software"]
    lines += [".SH SYNOPSIS", "sdsm SUBCOMMAND [ARGUMENT...]", ".SH SUBCOMMANDS"]
    for name, text in commands.items():
        lines += [".TP", rf"\fB{_escaped(name)}\fR", _escaped(text.description)]
    lines += [".SH SEE ALSO", ", ".join(rf"\fBsdsm\-{_escaped(name)}\fR(1)" for name in commands)]
    return "\n".join(lines) + "\n"


def _heading(title: str) -> str:
    """Formats a title in capitals, as usual; text in brackets stays unchanged."""
    words, bracket, rest = title.partition("(")
    return words.upper() + bracket + rest


def _section(section: Section, title: str) -> list[str]:
    lines = [f".SH {_escaped(title)}"] if title else [".PP"]
    for entry in section.entries:
        lines += [".TP", rf"\fB{_escaped(entry.term)}\fR", _escaped(entry.text)]
    is_verbatim = False
    for line in section.lines:
        indented = line.startswith(("  ", "sdsm "))
        if indented != is_verbatim and line.strip():
            lines.append(".nf" if indented else ".fi")
            is_verbatim = indented
        lines.append(_escaped(line) if line.strip() else ".PP")
    return [*lines, ".fi"] if is_verbatim else lines


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
