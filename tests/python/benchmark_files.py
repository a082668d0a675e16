"""The benchmark outputs that tests read, and ways to damage them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from sdsm.readers.measurement import Reading

DATA = Path(__file__).resolve().parent / "data"
EPCC = sorted((DATA / "epcc").glob("*.out"))
DESCRIBED = sorted((DATA / "described").iterdir())
JIAJIA = sorted((DATA / "jiajia").iterdir())
OTHERS = sorted([*(DATA / "network").iterdir(), *(DATA / "sdsm").iterdir(), *JIAJIA])

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_PIECES = (
    "\n",
    " ",
    "-",
    ".",
    "0",
    "9",
    "e5",
    "nan",
    "*****",
    "=",
    "+/-",
    "microseconds",
    "milliseconds",
    "Computing",
    "١",
    "{",
    "]",
    '"',
)


def numbers_in(text: str) -> set[float]:
    """Every number that stands in a text, however it is cut out."""
    return {float(token) for token in _NUMBER.findall(text)}


def numbers_of(reading: Reading) -> Iterator[float]:
    """Every number that a reader made of a text."""
    for measurement in reading.measurements:
        yield from measurement.values
        spread = measurement.spread
        for value in (
            spread.standard_deviation,
            spread.half_width_95,
            spread.minimum,
            spread.median,
            spread.maximum,
            spread.outliers,
        ):
            if value is not None:
                yield value
    for setting in reading.settings:
        if isinstance(setting.value, (int, float)):
            yield setting.value


def damaged(text: str, dice: random.Random) -> str:
    """The text with one to three things gone wrong: a bit, a word, a line, a cut, or two runs in one another."""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        at = dice.randrange(len(text) + 1)
        kind = dice.randrange(10)
        if kind == 0:
            text = text[:at]
        elif kind == 1:
            text = text[:at] + text[at + dice.randrange(1, 40) :]
        elif kind == 2:
            text = text[:at] + dice.choice(_PIECES) + text[at:]
        elif kind == 3 and at < len(text):
            text = text[:at] + chr(ord(text[at]) ^ (1 << dice.randrange(7))) + text[at + 1 :]
        elif kind == 4:
            digits = [match.start() for match in re.finditer("[0-9]", text[at : at + 200])]
            if digits:
                where = at + dice.choice(digits)
                text = text[:where] + dice.choice("0123456789.") + text[where + 1 :]
        elif kind == 5:
            other = dice.randrange(len(text) + 1)
            text = text[:at] + text[other : other + dice.randrange(200)] + text[at:]
        else:
            lines = text.split("\n")
            first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
            if kind == 6:
                del lines[first]
            elif kind == 7:
                lines.insert(second, lines[first])
            elif kind == 8:
                lines[first], lines[second] = lines[second], lines[first]
            else:
                lines[first : first + 2] = ["".join(lines[first : first + 2])]
            text = "\n".join(lines)
    return text
