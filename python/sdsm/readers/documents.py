"""One JSON document of a text that holds lines before it, or several: equal ones, or the events of iperf3's --json-stream."""

from __future__ import annotations

import json
import re
from itertools import pairwise

from sdsm.readers.text import Text

_BEGIN = re.compile(r"\A\s*\{|(?<=\})\s*\{")  # one document has a comma between
_EVENT = re.compile(r'\s*\{\s*"event"\s*:\s*"(\w+)"\s*,\s*"data"\s*:\s*(.*)\}\s*')


def one_document(source: Text) -> Text:
    """Returns a text with one document, its values on their lines; other texts as they are. Raises ReadError for several."""
    if not source.looks_like_json:
        return source
    begins = [match.end() - 1 for match in _BEGIN.finditer(source.text)]
    if _EVENT.match(source.text.lstrip().partition("\n")[0]):
        return _of_events(source)
    if len(begins) < 2:
        return source
    parts = [source.text[begin:end] for begin, end in pairwise([*begins, len(source.text)])]
    if not all(map(_is_document, parts)):
        return source
    # iperf3 3.16 and 3.17 print theirs twice.
    for number, part in enumerate(parts):
        if part.split() != parts[0].split():
            line = source.text.count("\n", 0, begins[number]) + 1
            source.refuse(line, f"{len(parts)} JSON documents in one file. Give each in a file of its own")
    return Text(source.file, source.text[: begins[1]])


def lines_before_document(source: Text) -> tuple[Text, Text] | None:
    """Returns the lines before a document, and the text without them. Raises ReadError for a list of documents."""
    if source.looks_like_json:
        return None
    if source.text.lstrip().startswith("[{") and _is_document(source.text):
        count = len(json.loads(source.text))
        what = f"a list of {count} JSON document{'s' * (count > 1)} (of jq -s, say)"
        source.refuse(1, f"{what}. Give each in a file of its own")
    begin = source.text.find("\n{") + 1
    if not begin or not _is_document(source.text[begin:]):
        return None
    before = source.text[:begin].split("\n")[:-1]
    first = next(number for number, line in enumerate(before, start=1) if line.strip())
    shown = " ".join(before[first - 1].split())[:60]
    said = f"{source.file}:{first}: what stands before the JSON document is left out, from {shown!r} on"
    without = Text(source.file, "\n" * len(before) + source.text[begin:], (*source.warnings, said))
    return Text(source.file, source.text[:begin]), without


def _is_document(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _of_events(source: Text) -> Text:
    """Returns the document that iperf3 would have written without --json-stream."""
    lines: list[str] = []
    kinds: list[str] = []
    given = source.text.split("\n")
    for number, line in enumerate(given, start=1):
        match = _EVENT.fullmatch(line)
        if line.startswith("{") and not match and "end" in kinds and _is_document("\n".join(given[number - 1 :])):
            break  # --json-stream-full-output: the same once more
        lines.append("")
        if not match:
            if line.strip():
                source.refuse(number, "no event of iperf3's --json-stream. Give its whole output alone")
            continue
        kind, data = match.groups()
        if kind in ("start", "interval", "end"):
            if "end" in kinds or (kind == "start") != (not kinds):
                source.refuse(number, f"event {kind!r} is out of order. Give each run of iperf3 in a file of its own")
            begin = {"start": '{"start": ', "end": '], "end": '}.get(kind, "," if kinds[-1:] == ["interval"] else "")
            lines[-1] = begin + data + (', "intervals": [' if kind == "start" else "")
            kinds.append(kind)
        elif kind == "error":
            source.refuse(number, f"iperf3 failed: {data[:80]}. Give the output of a run that succeeded")
    if "end" not in kinds:
        source.refuse(len(lines), "the events end before 'end'. Was the benchmark stopped?")
    return Text(source.file, "\n".join(lines) + "}")
