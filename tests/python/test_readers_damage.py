"""Does a damaged benchmark output give only what stands in it, or an error with its line?"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_files import DESCRIBED, EPCC, OTHERS, damaged, numbers_in, numbers_of
from sdsm.readers import ReadError, read_text
from sdsm.readers.text import Text, load
from stranger_files import STRANGERS

BLOCKS_AT_MOST = 12
SEPARATOR = "-" * 56 + "\n"


def excerpt(text: str, dice: random.Random) -> str:
    """A whole text, or of a long one its banner and some of its blocks, as many more would only take time."""
    banner, *blocks = text.split(SEPARATOR)
    if len(blocks) <= BLOCKS_AT_MOST:
        return text
    begin = dice.randrange(1, len(blocks) - BLOCKS_AT_MOST + 1)
    return SEPARATOR.join([banner, blocks[0], *blocks[begin : begin + BLOCKS_AT_MOST - 1]])


def outcome(text: str) -> bool:
    """True if a reader took the text; asserts that it took nothing that is not there, or told file and line."""
    try:
        reading = read_text(Text("some.out", text))
    except ReadError as error:
        lines = text.count("\n") + 1
        assert error.file == "some.out" and 1 <= error.line <= lines
        assert str(error).startswith(f"some.out:{error.line}: ")
        assert "\n" not in str(error)
        return False
    there = numbers_in(text)
    missing = [number for number in numbers_of(reading) if number not in there]
    assert not missing, f"{missing[:3]} stand nowhere in the text"
    return True


def campaign(cases: int, seed: int) -> tuple[int, int]:
    """How many of the damaged texts were taken, and how many refused; half of them are EPCC's real outputs, a quarter strangers'."""
    real = [load(path).text for path in EPCC]
    others = [load(path).text for path in (*DESCRIBED, *OTHERS)]
    taken = 0
    dice = random.Random(seed)
    for number in range(cases):
        text = dice.choice({2: STRANGERS, 3: others}.get(number % 4, real))
        text = damaged(excerpt(text, dice), dice)
        try:
            taken += outcome(text)
        except Exception as error:  # whatever it is, the text is what one needs to see
            raise AssertionError(f"case {number} of seed {seed}: {error!r}\n{text[:2000]}") from error
    return taken, cases - taken


@pytest.mark.parametrize(("cases", "seed"), [(10_000, 20041), pytest.param(100_000, 20042, marks=pytest.mark.long)])
def test_damaged_outputs_give_what_stands_in_them_or_an_error_with_its_line(cases, seed):
    taken, refused = campaign(cases, seed)
    # A blank line too many is no damage; most others are.
    assert taken > cases / 100 and refused > cases / 2


@given(st.text(max_size=300))
def test_any_text_is_refused_or_read_in_order(text):
    outcome(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "Running OpenMP benchmark version 4.0",
                "Running OpenMP benchmark on 2 thread(s)",
                "2 thread(s)",
                "-" * 56,
                "",
                "Computing A time using 2 reps",
                "Computing reference time 1",
                "A time = 1.0 microseconds +/- 0.0",
                "{",
                "[1",
                "[1,0]<stdout>:# OSU MPI Latency Test v5",
                '{"event": "start", "data": {"version": "iperf 3.17"}}',
                '{"event": "end", "data": {}}',
                "{}",
                "# OSU MPI Barrier Latency Test v5",
                "# Avg Latency(us)",
                "8 2.0 Pass",
                "0: alpha",
                "0: 1 bytes 9900 times --> 0.73 Mbps in 10.48 usec",
                "1: 1 B 9900 times --> 763.359 Kbps in 10.480 usecs",
                "1 0.004 0.004 0.004 2.00",
                "srun: error",
                '"libc bcopy unaligned',
                "### JIAJIA STATISTICS #####",
                '"stride=8',
                "1.0 2.0",
                "# OSU MPI Latency Test v5",
                "# Size Latency (us)",
                "1 2.0",
                "1 0.728048 0.00001048",
                "Sample_size Average Min Max S.D. Outliers",
                " 1 1.0 1.0 1.0 -nan 0",
                " 2 1.0 1.0 1.0 0.0 0",
            ]
        )
    )
)
def test_lines_in_any_order_are_refused_or_read(lines):
    outcome("\n".join(lines))
