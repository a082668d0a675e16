"""Formats an explanation for a terminal."""

from __future__ import annotations

from sdsm.base.run_result import why_doubtful
from sdsm.explain.causes import NOTABLE_GAIN
from sdsm.explain.explanation import NOTABLE, Explanation, Outcome
from sdsm.explain.memory import Array

#: Lines of each table; files have all.
MOST_ARRAYS, MOST_TOUCHES, MOST_TERMS, MOST_CAUSES, MOST_CONSTRUCTS = 8, 3, 8, 6, 10
#: Chains of calls of a construct, and calls of one.
MOST_CHAINS, MOST_CALLERS = 2, 3
#: Smallest share of all threads' time of a construct in the table.
LEAST_SHARE = 0.005
#: Variables named of a page.
MOST_NAMES = 8
#: Longest shown line of source.
MOST_SIGNS = 60


def text(explanation: Explanation) -> str:
    parts = (_account, _causes, _constructs, _memory, _findings, _outcomes)
    notes = ["", *explanation.notes] if explanation.notes else []
    return "\n".join([verdict(explanation), "", *(line for part in parts for line in part(explanation)), *notes])


def verdict(explanation: Explanation) -> str:
    """Returns whether it pays, what costs most, and what would help most."""
    time_s, computing_s = explanation.result.makespan_s, explanation.result.computing_s
    layout = explanation.point.layout
    if computing_s > time_s:
        speed = f"{_times(computing_s / time_s)} as fast as its computing on one processor ({computing_s:.4g} s)"
    elif computing_s > 0:
        speed = f"{_times(time_s / computing_s)} as long as its computing on one processor ({computing_s:.4g} s)"
    else:
        speed = "without any computing"
    term, most_s = explanation.terms[0]
    words = [f"{layout}: {time_s:.4g} s, {speed}.", f"What takes most is {term}: {most_s / time_s:.1%}."]
    if explanation.causes and explanation.constructs:
        first = explanation.causes[0]
        gains = first.gain is not None and first.gain >= NOTABLE_GAIN
        words.append(
            f"Look first at {first.what}: " + (f"mending it makes the program {first.gain:.2f} times as fast." if gains else f"it costs {first.cost_s / explanation.all_threads_s:.1%} of all time.")
        )
    if range_ := explanation.result.computing_range:
        words.append(
            f"Its processors may compute {range_.least_factor:.3g} to {range_.greatest_factor:.3g} times as long: "
            f"{range_.shortest_s:.4g} to {range_.longest_s:.4g} s."
        )
    lacking = explanation.result.doubts
    if lacking:
        words.append(f"The prediction is {why_doubtful(lacking)}.")
    other = explanation.other_shape()
    if other is not None and other.time_s is not None:
        words.append(f"Its barriers are modelled: {other.alternative.what} would make it {other.time_s:.4g} s.")
    best = explanation.best()
    if best is not None and best.time_s is not None:
        words.append(f"Of what you can choose, {best.alternative.what} makes it {best.time_s:.4g} s, {best.gain:.2f} times as fast.")
        if best.is_doubtful:
            words.append("(It rests on the same costs.)" if best.doubts == lacking else f"(That is {why_doubtful(best.doubts)}.)")
    elif explanation.outcomes:
        words.append("No option makes it 5% faster.")
    return " ".join(words)


def _times(ratio: float) -> str:
    return f"{ratio:,.0f} times" if ratio >= 10 else f"{ratio:.2f} times"


def _shown(source: str) -> str:
    return f"`{source}`" if len(source) <= MOST_SIGNS else f"`{source[:MOST_SIGNS]}...`"


def _account(explanation: Explanation) -> list[str]:
    lines = ["Where the time goes, mean over threads"]
    time_s = explanation.result.makespan_s
    for term, value_s in explanation.terms[:MOST_TERMS]:
        lines.append(f"  {term:<46} {value_s:>10.4g} s {value_s / time_s:>6.1%}")
    baselines = explanation.baselines()
    if baselines:
        lines += ["", "What it would be without queues"]
        lines += [f"  {what:<46} {value_s:>10.4g} s {value_s / time_s:>6.1%}" for what, value_s in baselines]
    return lines


def _causes(explanation: Explanation) -> list[str]:
    lines = ["", "What costs most beside computing, constructs and arrays, those first whose mending gains most; faults and diffs are in both"]
    for number, one in enumerate(explanation.causes[:MOST_CAUSES], start=1):
        share = one.cost_s / explanation.all_threads_s
        gain = f"; mended, {one.gain:.2f} times as fast" if one.gain is not None and one.gain >= NOTABLE_GAIN else ""
        lines.append(f"  {number}. {one.what}: {one.cost_s:.4g} s, {share:.1%} of all time{gain}")
        if one.advice:
            lines.append(f"     {one.advice}")
    return lines if explanation.causes else []


def _constructs(explanation: Explanation) -> list[str]:
    shown = [one for one in explanation.constructs if sum(one.time_s.values()) >= LEAST_SHARE * explanation.all_threads_s]
    if not shown:
        return []
    lines = ["", "Where in the program: seconds of all threads together", f"  {'compute':>9} {'faults':>9} {'diffs':>9} {'waiting':>9} {'times':>8}"]
    for one in shown[:MOST_CONSTRUCTS]:
        columns = " ".join(f"{seconds:>9.4g}" for seconds in (one.computing_s, one.faults_s, one.diffs_s, one.waiting_s))
        shown_text = f"  {_shown(one.line.text)}" if one.line is not None and one.line.text else ""
        lines.append(f"  {columns} {one.times:>8}  {one.title}{shown_text}")
        lines += [f"{'':51}called from {' <- '.join(chain[:MOST_CALLERS])}" for chain in one.callers[:MOST_CHAINS]]
        if len(one.callers) > MOST_CHAINS:
            lines.append(f"{'':51}and from {len(one.callers) - MOST_CHAINS} more")
    left = len(explanation.constructs) - min(len(shown), MOST_CONSTRUCTS)
    return [*lines, f"  {left} more (--json has all)"] if left else lines


def _memory(explanation: Explanation) -> list[str]:
    if not explanation.arrays:
        return ["", "No page cost anything: nothing was shared between nodes."]
    lines = ["", "Which memory costs it: faults and diffs, all threads together"]
    for array in explanation.arrays[:MOST_ARRAYS]:
        share = array.cost_s / explanation.all_threads_s
        lines.append(f"  {array.cost_s:>9.4g} s {share:>6.1%}  {array.title}")
        lines += [f"{'':21}{line}" for line in _about(array)]
    left = explanation.arrays[MOST_ARRAYS:]
    if left:
        lines.append(f"  {sum(one.cost_s for one in left):>9.4g} s         {len(left)} more")
    if not explanation.has_sites:
        lines.append("  Trace with `sdsm trace --lines` (and compile with -g) to see which lines touch it.")
    return lines


def _about(array: Array) -> list[str]:
    several = array.written_apart + array.written_together
    lines = []
    if array.line is not None and array.line.text:
        lines.append(_shown(array.line.text))
    size = f"{array.pages} pages, placement {array.placement.replace('_', '-')}; " if array.pages else ""
    lines.append(
        f"{size}{array.faults} faults, {array.fetches} of them fetch a page; {array.diffs} diffs; "
        f"{array.written_by_one} pages written by one thread, {several} by several"
    )
    for page, names in array.variables.items():
        listed = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
        lines.append(f"page {page} ({array.page_costs_s[page]:.3g} s) has {listed or 'no variable that has a name'}")
    for touch in array.touches[:MOST_TOUCHES]:
        shown = f"  {_shown(touch.text)}" if touch.text else ""
        lines.append(f"touched at {touch.place}: {touch.reads} reads, {touch.writes} writes{shown}")
    return lines


def _findings(explanation: Explanation) -> list[str]:
    if not explanation.findings:
        return []
    return ["", f"What stands out (at least {NOTABLE:.0%} of all time)", *(f"  - {one}." for one in explanation.findings)]


def _outcomes(explanation: Explanation) -> list[str]:
    if not explanation.outcomes:
        return []
    choices = [one for one in explanation.outcomes if one.alternative.is_choice]
    others = [one for one in explanation.outcomes if not one.alternative.is_choice]
    lines = ["", "What else you can choose, simulated", *map(_outcome, choices)]
    return [*lines, "", "What it depends on: other machines, simulated", *map(_outcome, others)]


def _outcome(one: Outcome) -> str:
    if one.time_s is None:
        return f"  {one.alternative.what:<49} not simulated: {one.why}"
    marked = f" ({why_doubtful(one.doubts)})" if one.is_doubtful else ""
    return f"  {one.alternative.what:<49} {one.time_s:>10.4g} s  {one.gain:>6.2f} times as fast{marked}"
