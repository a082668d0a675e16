"""Writes an explanation as folded stacks, of which flame graphs are drawn: a line for each thread, construct and term."""

from __future__ import annotations

from collections.abc import Iterator

from sdsm.explain.explanation import Explanation


def folded(explanation: Explanation) -> str:
    """Returns lines of frames, the outermost first, with `;` between them, and nanoseconds: the thread, the calls that led to
    the construct (the costliest, where several did), the construct, what the time was spent on."""
    return "".join(f"{';'.join(map(_frame, frames))} {ns}\n" for frames, ns in _stacks(explanation))


def _stacks(explanation: Explanation) -> Iterator[tuple[list[str], int]]:
    for one in explanation.constructs:
        calls = list(reversed(one.callers[0])) if one.callers else []
        for thread, terms in sorted(one.by_thread.items()):
            for term, seconds in terms.items():
                if (ns := round(seconds * 1e9)) > 0:
                    yield [f"thread {thread}", *calls, one.title, term], ns


def _frame(name: str) -> str:
    return " ".join(name.replace(";", ",").split()) or "?"
