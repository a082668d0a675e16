"""Parses a command's --help. CLI11 and argparse print alike enough for one reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

#: "-n,--threads THREADS REQUIRED   text" or "-o FOLDER, --output FOLDER   text"; the text may begin on the next line.
_OPTION = re.compile(r"^  (-\S(?:.*?\S)?)(?:\s{2,}(\S.*))?$")
#: "FILE TEXT REQUIRED   text": an argument that is no option.
_POSITIONAL = re.compile(r"^  (\S(?:.*?\S)?)\s{2,}(\S.*)$")
_CHOICES = re.compile(r"\{([^{}]+)\}|\b((?:[a-z][a-z0-9-]*\|)+[a-z][a-z0-9-]*)\b")
#: Additions of CLI11 to a metavariable.
_ADDED = re.compile(r" (?:REQUIRED|\.\.\.|(?:Needs|Excludes): .*)")
#: "Options:" or "results (without these: tables):"; a sentence that ends with a colon is none.
_TITLE = re.compile(r"([A-Za-z][^.,;:()]{0,40}?(?: \(.*\))?):")
_CONTINUATION = re.compile(r"^ {20,}\S")


@dataclass
class Entry:
    """An option or an argument, as "-n,--threads THREADS", and what it is for."""

    term: str
    text: str = ""

    @property
    def names(self) -> list[str]:
        """-n and --threads."""
        return re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", _ADDED.sub("", self.term))

    @property
    def takes_value(self) -> bool:
        return bool(re.search(r"-[\w-]+[ =]\S", _ADDED.sub("", self.term)))

    @property
    def choices(self) -> list[str]:
        if not (found := _CHOICES.search(self.term)):
            return []
        return [choice for choice in re.split(r"[,|]", found[1] or found[2]) if choice]


@dataclass
class Section:
    """title: "" for the first one. Lines outside of entries stay unchanged."""

    title: str
    entries: list[Entry] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


@dataclass
class Help:
    description: str
    synopsis: str
    sections: list[Section]

    def entries(self) -> Iterator[Entry]:
        for section in self.sections:
            yield from section.entries


def parse(text: str) -> Help:
    """text: the output of --help. Raises ValueError if it has neither a usage nor a description."""
    synopsis: list[str] = []
    sections = [Section("")]
    in_usage, is_first = False, True  # of its paragraph
    for line in map(str.rstrip, text.splitlines()):  # CLI11 2.4 prints a space behind a default
        if found := re.match(r"[Uu]sage: (.*)", line):
            synopsis, in_usage = [found[1]], True
        elif in_usage and line.startswith(" "):
            synopsis.append(line.strip())
        else:
            in_usage = False
            if is_first and (found := _TITLE.fullmatch(line)):
                sections.append(Section(found[1]))
            else:
                _take(sections, line)
        is_first = not line
    described = next((line for line in sections[0].lines if line.strip() and not line.startswith(("sdsm ", " "))), None)
    if not synopsis or described is None:
        raise ValueError("the help text has no usage line, or no sentence of what the command does")
    return Help(described, " ".join(synopsis), [section for section in sections if section.entries or any(section.lines)])


def _take(sections: list[Section], line: str) -> None:
    section = sections[-1]
    if found := _OPTION.match(line):
        section.entries.append(Entry(found[1], found[2] or ""))
    elif section.title.lower().startswith("positional") and (found := _POSITIONAL.match(line)):
        section.entries.append(Entry(found[1], found[2]))
    elif section.entries and not section.lines and _CONTINUATION.match(line):
        entry = section.entries[-1]
        entry.text = f"{entry.text} {line.strip()}".strip()
    elif line.strip() or section.lines:
        if section.entries:  # text below the options is not theirs
            section = Section("")
            sections.append(section)
        section.lines.append(line)
