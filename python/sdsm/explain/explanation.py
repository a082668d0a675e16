"""Explains one prediction: its account, the costs of memory, findings, and the other simulated points."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import msgspec

from sdsm.base import run_result
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.costs import faults as kinds_of_faults
from sdsm.explain.alternatives import (
    BOUNDS,
    PADDING,
    PARALLEL_INIT,
    PROTOCOLS,
    WITHOUT_BARRIERS,
    WITHOUT_LOCKS,
    Alternative,
    Point,
    alternatives,
    together,
)
from sdsm.explain.causes import Cause, causes, mendings_of
from sdsm.explain.constructs import Construct, constructs
from sdsm.explain.locks import Lock
from sdsm.explain.memory import FIGURES, Array, arrays, known_of, locks_of, parse_info
from sdsm.explain.start import TIME_LIMIT_S, Started, own_command

FORMAT = 1
#: Choices are tried together if each gains so much, at most so many; a pair gets a line if it again gains as much.
WORTHWHILE = 1.02
MOST_TRIED = 4
#: Number of simulations at once.
WORKERS = 2
#: More pages that several threads write apart cannot all be borders between parts.
SCATTERED = 16
#: Number of arrays and lines that one sentence names.
MOST_PLACES = 2
#: Smallest share of all threads' time that gets a sentence.
NOTABLE = 0.05


@dataclass(frozen=True)
class Outcome:
    """An alternative, simulated. time_s: None if it cannot be; then `why` has the reason.

    gain: how many times faster than the point that is explained.
    doubts: costs that the platform lacks for it, or assumes (Simulation.doubts).
    """

    alternative: Alternative
    time_s: float | None
    gain: float
    doubts: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_doubtful(self) -> bool:
        return bool(self.doubts)

    def is_as_sure_as(self, doubts: Sequence[str]) -> bool:
        return set(self.doubts) <= set(doubts)


@dataclass(frozen=True)
class Explanation:
    """terms: mean time over threads by term, s, the longest first; they sum to the makespan.

    findings:    sentences, the costliest first.
    notes:       what the simulator says of how far the prediction holds.
    locks:       the most taken first, if locks cost enough for a finding.
    constructs:  the costliest first.
    causes:      constructs and arrays that cost most, those first whose mending gains most.
    outcomes:    choices, then other machines, each the fastest first.
    """

    point: Point
    result: run_result.Simulation
    terms: tuple[tuple[str, float], ...]
    arrays: tuple[Array, ...]
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    has_sites: bool
    outcomes: tuple[Outcome, ...]
    locks: tuple[Lock, ...] = ()
    constructs: tuple[Construct, ...] = ()
    causes: tuple[Cause, ...] = ()

    @property
    def all_threads_s(self) -> float:
        return self.result.makespan_s * len(self.result.threads)

    def baselines(self) -> list[tuple[str, float]]:
        """Times without queues, in words; s."""
        baselines = self.result.baselines
        if baselines is None:
            return []
        return [("each action at its cost, without any waiting", baselines.counts_s), ("with waits for the last at barriers alone", baselines.critical_path_s)]

    def other_shape(self) -> Outcome | None:
        """If barriers are modelled: the other shape's outcome, if its time differs."""
        return next((one for one in self.outcomes if one.alternative.shape), None)

    def best(self) -> Outcome | None:
        """The choice with the largest gain, at least 5 %; no upper bound, and none with doubts that the point itself does not have."""
        known = (one for one in self.outcomes if one.is_as_sure_as(self.result.doubts) and one.alternative.mending not in BOUNDS)
        return next((one for one in known if one.alternative.is_choice and one.gain >= 1.05), None)


def explain(point: Point, folder: Path, with_gains: bool, say: Callable[[str], None], started: Started) -> Explanation:
    """Explains the point, whose simulation has been started, with its alternatives. folder: for intermediate files.

    Raises CommandFailed.
    """
    say("simulating the point itself")
    notes = started.notes
    protocol = point.option("--protocol", PROTOCOLS[0])
    if protocol in PROTOCOLS:
        kinds_of_faults(protocol)  # needed below; asked for while the simulation runs
    result = run_result.printed(started.simulated(), run_result.Simulation)
    if result.makespan_s == 0:
        raise CommandFailed("the measured region takes no time, so there is nothing to explain. Try --region whole")
    say("reading who uses the memory")
    info = parse_info(started.info())
    known = known_of(info, Path(point.trace), notes.append)
    found = arrays(result, started.pages, known)
    terms = _terms(result.threads)
    work = _Work(started.runner, folder, say)
    by_construct = constructs(result, info.header.call_sites, known.calls) if info.header.call_sites else []
    if not info.header.call_sites:
        notes.append("The trace does not say where the program has its constructs, as older traces. Trace it again")
    of_one = tuple(mendings_of(point, by_construct, result.makespan_s * len(result.threads)))
    outcomes = _outcomes(point, result, tuple(_mendings(result, found)), of_one, work) if with_gains else ()
    gains = {(one.alternative.mending, one.alternative.at): one for one in outcomes if one.time_s is not None}
    outcomes = tuple(one for one in outcomes if not one.alternative.at)
    ranked = causes(by_construct, found, {key: one.gain for key, one in gains.items()}, result.makespan_s * len(result.threads))
    has_costly_locks = WITHOUT_LOCKS in _mendings(result, found)
    locks = locks_of(known, found) if has_costly_locks else ()
    return Explanation(
        point, result, terms, tuple(found),
        tuple(findings(result, found, locks)), tuple(notes), bool(info.header.sites), outcomes, locks, tuple(by_construct), tuple(ranked),
    )  # fmt: skip


_WORDS = {
    "compute": "computing", "diff": "diffs", "protect": "protecting pages again", "barrier": "barriers",
    "lock": "locks, atomic operations, flags", "stolen": "serving other nodes", "idle": "waiting outside of parallel regions",
}  # fmt: skip


_STATES = {"UM": "absent", "RO": "read-only", "RW": "writable"}
_HOMES = {"H": "of its own", "L": "of its node", "R": "of other nodes"}


def _in_words(term: str) -> str:
    """Describes a term; SCASH's names of faults tell access, state of the page on the node, and home."""
    kind = term.removeprefix("fault ")
    if kind == term:
        return _WORDS.get(term, term)
    state, home = _STATES.get(kind[1:3]), _HOMES.get(kind[3:])
    if state is None or home is None:
        return f"faults {kind}"
    return f"{'reads of' if kind[0] == 'R' else 'writes to'} {state} pages {home} ({kind})"


def _terms(threads: Sequence[run_result.Thread]) -> tuple[tuple[str, float], ...]:
    named = [(_in_words(term), value) for term, value in run_result.mean_account_s(threads).items() if value > 0]
    return tuple(sorted(named, key=lambda one: -one[1]))


def _mendings(result: run_result.Simulation, found: Sequence[Array]) -> Iterator[str]:
    """Yields the keys of MENDINGS that are worth a simulation."""
    all_s = result.makespan_s * len(result.threads)
    if sum(one.shared_s for one in found if one.written_apart) >= NOTABLE * all_s:
        yield PADDING
    if sum(thread.time_s.barrier for thread in result.threads) >= NOTABLE * all_s:
        yield WITHOUT_BARRIERS
    if sum(thread.time_s.lock for thread in result.threads) >= NOTABLE * all_s:
        yield WITHOUT_LOCKS
    if sum(one.away_s + one.read_away_s for one in found) >= NOTABLE * all_s:
        yield PARALLEL_INIT


@dataclass(frozen=True)
class _Work:
    """folder: for mended traces."""

    runner: CommandRunner
    folder: Path
    say: Callable[[str], None]
    numbers: Iterator[int] = field(default_factory=count)

    def simulate(self, one: Alternative) -> run_result.Simulation:
        point = one.point
        if one.mending:
            places = ["--at", ",".join(map(str, one.at))] if one.at else []
            mended = self.folder / f"mended-{next(self.numbers)}.trace"
            self.runner.run(own_command(["trace", "mend", point.trace, "-o", str(mended), one.mending, *places]), TIME_LIMIT_S)
            point = replace(point, trace=str(mended))
        printed = self.runner.run(own_command([*point.command(), "--json", "-"]), TIME_LIMIT_S)
        return run_result.printed(printed, run_result.Simulation)


def _outcomes(
    point: Point, result: run_result.Simulation, mendings: Sequence[str], of_one: Sequence[Alternative], work: _Work
) -> tuple[Outcome, ...]:
    factor = result.options.get("compute_factor", 1.0)
    assumes_shape = "barrier" in result.extrapolated
    todo = [*of_one, *alternatives(point, float(factor) if isinstance(factor, int | float) else 1.0, mendings, assumes_shape)]
    number_so_far = 0

    def outcome(one: Alternative, number: str = "") -> Outcome:
        nonlocal number_so_far
        number_so_far += 1
        work.say(f"{number or f'{number_so_far} of {len(todo)}'}: {one.what}")
        try:
            other = work.simulate(one)
        except CommandFailed as error:
            return Outcome(one, None, 0.0, why=error.said or str(error))
        return Outcome(one, other.makespan_s, result.makespan_s / other.makespan_s, other.doubts)

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            done = [one for one in pool.map(outcome, todo) if one.time_s is not None or one.alternative.is_offered]
            done = [one for one in done if not (one.alternative.shape and one.time_s == result.makespan_s)]
            done += _together(point, [one for one in done if not one.alternative.at], result.doubts, lambda one: outcome(one, "together"))
        except BaseException:
            work.runner.stop()
            raise
    return tuple(sorted(done, key=lambda one: (not one.alternative.is_choice, -one.gain)))


def _together(point: Point, done: Sequence[Outcome], doubts: Sequence[str], simulate: Callable[[Alternative], Outcome]) -> list[Outcome]:
    """Returns the best choice with others that gain more beside it; empty if none of the next MOST_TRIED does."""
    gaining = [one for one in done if one.alternative.is_choice and one.gain >= WORTHWHILE and one.is_as_sure_as(doubts)]
    tried = 0
    best: Outcome | None = None
    for one in sorted(gaining, key=lambda one: -one.gain):
        if best is None:
            best = None if one.alternative.mending in BOUNDS else one
            continue
        both = together(point, best.alternative, one.alternative)
        if both is None or tried == MOST_TRIED:
            continue
        tried += 1
        if (found := simulate(both)).gain >= best.gain * WORTHWHILE and found.is_as_sure_as(doubts):
            best = found
    return [best] if best is not None and best not in done else []


def findings(result: run_result.Simulation, found: Sequence[Array], locks: Sequence[Lock] = ()) -> Iterator[str]:
    """Yields findings in sentences, the costliest first."""
    all_s = result.makespan_s * len(result.threads)
    again_s = {one.name: cost_s for one, cost_s in _fetched_again(result, found)}
    costs = [*_waits(result, all_s, locks), *_of_memory(found, all_s, again_s), *_of_dropped_copies(result, found, all_s)]
    return (text for cost_s, text in sorted(costs, key=lambda one: -one[0]) if cost_s >= NOTABLE * all_s)


def _of_memory(found: Sequence[Array], all_s: float, again_s: Mapping[str, float]) -> Iterator[tuple[float, str]]:
    """Yields memory's costs to all threads together, s, and their reasons. again_s: of _fetched_again, by name."""
    yield from _of_words(found, all_s)
    costly = [one for one in found if one.shared_s >= 0.01 * all_s and one.sharing is None]
    apart = [(one, one.shared_s) for one in costly if one.written_apart > one.written_together]
    together = [(one, one.shared_s) for one in costly if 0 < one.written_together >= one.written_apart]
    yield _sum(apart), (
        f"False sharing: {_listed(apart, all_s)}. On {_pages(sum(one.written_apart for one, _ in apart))} several threads write, and "
        "no two ever change the same line of 64 bytes. Let each thread's part begin on a page of its own"
        + _other_loop(apart)
    )
    again = [(one, one.cost_s) for one in found if one.blocks > 1 and not one.are_kept]
    yield _sum(again), (
        f"Blocks are allocated again and again: {_listed(again, all_s)}. Each begins with pages that the thread does not have. "
        "Allocate once, pass arrays by reference, or keep what one thread alone uses on its stack"
    )
    yield _sum(together), (
        f"Threads write the same pages: {_listed(together, all_s)}. On {_pages(sum(one.written_together for one, _ in together))} two "
        "of them write the same line of 64 bytes, or may do so: false sharing is possible but not proved"
        + (f" (`sdsm trace --words {shlex.quote(together[0][0].short_name)}` settles it)" if together else "")
        + ". Give each thread a page of its own, or combine what they write once at the end"
        + _other_loop(together)
    )
    # Another home does not keep dropped copies.
    away = [(one, one.away_s) for one in found if again_s.get(one.name, 0.0) < one.away_s / 2]
    yield _sum(away), (
        f"Pages are at home elsewhere than where they are written: {_listed(away, all_s)}. One thread writes each most of the time, "
        "from another node than its home. Place them where they are used (--placement, or sdsm_galloc and sdsm_map in the program), and "
        "let each thread initialise its own part"
    )


def _other_loop(costs: Sequence[tuple[Array, float]]) -> str:
    """Returns what helps if threads share most pages of an array that they write."""
    for one, _ in costs:
        shared = one.written_apart + one.written_together
        if shared >= max(SCATTERED, (shared + one.written_by_one) / 2):
            return (
                ". Where each thread has a part of nearly every page, share out the other loop, rows in C and columns in Fortran, "
                "or let its elements follow each other"
            )
    return ""


def _of_words(found: Sequence[Array], all_s: float) -> Iterator[tuple[float, str]]:
    """Yields findings on arrays whose words `sdsm trace --words` recorded: proved either way."""
    for one in found:
        if (sharing := one.sharing) is None:
            continue
        if sharing.apart:
            yield sharing.apart_s, (
                f"False sharing, proved word by word: {one.title} ({sharing.apart_s / all_s:.1%} of all time). On {_pages(sharing.apart)} "
                "several threads use what at least one of them writes, and no word that one writes is used by another. "
                f"{sharing.apart_example}. Let each thread's part begin on a page of its own"
            )
        if sharing.together:
            yield sharing.together_s, (
                f"True sharing, proved word by word: {one.title} ({sharing.together_s / all_s:.1%} of all time). On "
                f"{_pages(sharing.together)} a word of 4 bytes that one thread writes is used by another, so padding does not help (but of "
                "variables of 1 or 2 bytes, which may lie side by side in a word). "
                f"{sharing.together_example}. Combine what threads write once at the end, or hand it over less often"
            )
        if sharing.unknown:
            yield one.shared_s, (
                f"Threads share {_pages(sharing.unknown)} of {one.title}, and perhaps their words, too: it is not known "
                "how much some instruction there accesses. Compile without -march, or with -mno-avx512f, and trace it again"
            )


def _of_dropped_copies(result: run_result.Simulation, found: Sequence[Array], all_s: float) -> Iterator[tuple[float, str]]:
    """Yields the cost of fetching pages that no thread writes in parallel regions, beyond once for each node, s."""
    again = _fetched_again(result, found)
    at_barriers = result.options.get("invalidation") != "changed"
    is_choice = at_barriers and result.protocol == "scash"
    locks, atomics = (sum(getattr(thread, name) for thread in result.threads) for name in ("locks", "atomics"))
    droppers = ["barriers"] * at_barriers + [f"locks ({locks} taken)"] * (locks > 0)
    droppers += [f"atomic operations and fences ({atomics})"] * (atomics > 0)
    if again and droppers:
        yield _sum(again), (
            f"Pages that nobody writes in parallel regions are fetched again and again: {_listed(again, all_s)}. Copies are dropped, "
            f"changed or not, by {', '.join(droppers)}" + (". --invalidation changed keeps them at barriers" if is_choice else "")
        )


def _fetched_again(result: run_result.Simulation, found: Sequence[Array]) -> list[tuple[Array, float]]:
    """Returns arrays that no thread writes in parallel regions, and the cost of their fetches, s, beyond one for each node
    and one more for each change that the initial thread has sent home in between."""
    again: list[tuple[Array, float]] = []
    if result.protocol not in ("scash", "home-open"):
        return again  # JIAJIA drops pages that somebody has written
    for one in found:
        at_most = (one.pages + one.diffs) * (result.nodes - 1)
        is_read_only = one.pages and not one.written_by_one + one.written_apart + one.written_together
        if is_read_only and one.fetches > at_most:
            again.append((one, one.cost_s * (one.fetches - at_most) / one.fetches))
    return again


def _sum(costs: Sequence[tuple[Array, float]]) -> float:
    return sum(cost_s for _, cost_s in costs)


def _listed(costs: Sequence[tuple[Array, float]], all_s: float) -> str:
    """Lists arrays with their shares of all time, if 1 % or more."""
    return "; ".join(f"{one.title} ({cost_s / all_s:.1%} of all time)" for one, cost_s in costs if cost_s >= 0.01 * all_s)


def _pages(count: int) -> str:
    return f"{count} page{'' if count == 1 else 's'}"


def _waits(result: run_result.Simulation, all_s: float, locks: Sequence[Lock]) -> Iterator[tuple[float, str]]:
    threads = result.threads
    barrier_s = sum(thread.time_s.barrier for thread in threads)
    last = min(threads, key=lambda thread: (thread.time_s.barrier, thread.id))
    text = f"Barriers take {barrier_s / all_s:.1%} of all time ({last.barriers} of each thread)."
    own_s = last.time_s.barrier * len(threads)
    weight_s = barrier_s
    if own_s < barrier_s / 2:
        term, more_s = _excess(threads, last)
        text += f" Most of it is waiting for others: thread {last.id} comes last most. It spends {more_s:.3g} s more than others on {_in_words(term)}"
        if term.startswith("fault ") or term == "diff":
            # The memory behind those faults is the reason, so it comes first.
            weight_s = min(barrier_s, max(own_s, NOTABLE * all_s))
    else:
        text += " Most of it is what barriers themselves take. Fewer of them help: merge loops, use nowait where it is right"
    yield weight_s, text
    lock_s, count = sum(thread.time_s.lock for thread in threads), sum(thread.locks for thread in threads)
    yield lock_s, (
        f"Locks, atomic operations and flags take {lock_s / all_s:.1%} of all time ({count} locks taken). Each also drops copies of "
        f"pages, which are fetched again.{_hottest(locks)} Do more under each, or let each thread collect its own and combine once"
    )


def _hottest(locks: Sequence[Lock]) -> str:
    if not locks:
        return ""
    first, everything = locks[0], sum(one.taken for one in locks)
    sentence = f" The most taken is {first.name}: {first.taken} of {everything} times in the whole run, by {first.threads} threads."
    if first.arrays:
        where = f" at {' and '.join(first.lines[:MOST_PLACES])}" if first.lines else ""
        sentence += f" Who holds it touches {' and '.join(first.arrays[:MOST_PLACES])}{where}."
    return sentence


def _excess(threads: Sequence[run_result.Thread], last: run_result.Thread) -> tuple[str, float]:
    """Returns the term, other than waiting, of which the thread has most beyond the others' mean, and that excess, s."""
    own, others = last.account_s(), run_result.mean_account_s([thread for thread in threads if thread.id != last.id])
    more_s = {term: value - others.get(term, 0.0) for term, value in own.items() if term not in ("barrier", "idle")}
    return max(more_s.items(), key=lambda one: one[1])


def document(explanation: Explanation) -> dict[str, object]:
    """Returns the document of `sdsm explain --json` (docs/result-format.md)."""
    result = explanation.result
    return {
        "format": FORMAT,
        "kind": "explanation",
        "program": list(result.program),
        **members(result, "nodes", "threads_per_node", "makespan_s", "computing_s"),
        **run_result.apart(result.doubts),
        "account_s": dict(explanation.terms),
        **({"baselines": msgspec.structs.asdict(result.baselines)} if result.baselines else {}),
        "causes": [msgspec.to_builtins(one) for one in explanation.causes],
        "constructs": [_construct(one) for one in explanation.constructs],
        "memory": [_array(one) for one in explanation.arrays],
        "findings": list(explanation.findings),
        "notes": list(explanation.notes),
        "alternatives": [_alternative(one) for one in explanation.outcomes],
        "inputs": [msgspec.structs.asdict(one) for one in result.inputs],
    }


def members(of: object, *names: str) -> dict[str, object]:
    return {name: getattr(of, name) for name in names}


def _alternative(one: Outcome) -> dict[str, object]:
    gain = one.gain if one.time_s is not None else None
    found = {"time_s": one.time_s, "gain": gain, **run_result.apart(one.doubts)}
    return members(one.alternative, "what", "is_choice") | found | ({"why_not": one.why} if one.why else {})


def _construct(one: Construct) -> dict[str, object]:
    line = {"line": members(one.line, "file", "number", "function")} if one.line else {}
    figures = members(one, "kind", "title", "times", "cost_s", "time_s", "faults", "diffs", "diff_bytes", "messages", "bytes")
    threads = [{"id": thread, "time_s": dict(terms)} for thread, terms in one.by_thread.items()]
    return figures | line | {"call_sites": list(one.call_sites), "callers": [list(chain) for chain in one.callers], "threads": threads}


def _array(one: Array) -> dict[str, object]:
    line: dict[str, object] = {"line": members(one.line, "file", "number", "function")} if one.line else {}
    shared = {"sharing": members(one.sharing, "apart", "together", "unknown")} if one.sharing else {}
    line |= {"variable": one.variable} if one.variable else {}
    return line | shared | members(one, "name", *FIGURES) | {
        "variables": [{"page": page, "names": list(names)} for page, names in one.variables.items()],
        "touches": [members(touch, "place", "reads", "writes") for touch in one.touches],
    }
