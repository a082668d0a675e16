"""The page's contents for one result, for several, and for a sweep."""

from __future__ import annotations

import shlex
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sdsm.base import places, run_result
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BadInput
from sdsm.compare import comparison, table
from sdsm.compare import figure as comparison_figure
from sdsm.explain import explanation, words
from sdsm.explain import figure as explanation_figure
from sdsm.explain.start import TIME_LIMIT_S, Started
from sdsm.platform import platform_file
from sdsm.plot import figure as speedup_figure
from sdsm.plot.results import result_of
from sdsm.plot.series import NoReference, by_program
from sdsm.readers.text import Text
from sdsm.report import again, excerpt, figure
from sdsm.report.naming import Naming
from sdsm.report.template import figure_uri
from sdsm.sweep import figure as sweep_figure
from sdsm.sweep.kept import Kept

Row = tuple[str, ...]
MOST_ROWS = 200
#: Chains of calls of a construct.
MOST_CHAINS = 2
#: Most notes above a page; more make a list.
MOST_SENTENCES = 3


@dataclass(frozen=True)
class Section:
    """In the page's order: drawings, sentences, list, table, commands."""

    title: str
    figures: Sequence[str] = ()
    sentences: Sequence[str] = ()
    items: Sequence[str] = ()
    columns: Row = ()
    rows: Sequence[Row] = ()
    commands: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    title: str
    verdict: Sequence[str]
    sections: Sequence[Section]
    made_from: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Wanted:
    """Choices for a result's page. folder: for intermediate files. timeline: a file of the run. window_s: of the excerpt."""

    with_gains: bool
    folder: Path
    say: Callable[[str], None]
    timeline: Path | None = None
    window_s: tuple[float, float] | None = None


def of_result(source: Text, naming: Naming, wanted: Wanted) -> Page:
    """Repeats a prediction, if its trace and platform are here, to see which pages cost it, what threads do when, and what
    would help. Raises BadInput."""
    result: run_result.Run = run_result.read(source, run_result.Simulation, run_result.Native)
    title = f"{naming.command(result.program)}: {_layout(result)}"
    files = _files([result])
    how = [*_how(result), *_made_from([result], naming), *_again([result], naming)]
    if wanted.window_s is not None and wanted.window_s[0] >= result.whole_run.makespan_s:
        raise BadInput(f"--window: the run ends at {result.whole_run.makespan_s:.6g} s. Choose a part of it")
    if wanted.timeline is not None:
        excerpt.check(excerpt.read(wanted.timeline), wanted.timeline, result)
    if isinstance(result, run_result.Simulation):
        explained, why = _explained(result, naming, wanted)
        if explained is not None:
            about = [*_of_explanation(explained, naming), *_timeline(result, wanted, wanted.timeline or _drawn(wanted))]
            return Page(title, [words.verdict(explained)], [*about, *_threads(result), *how], files)
        about = [Section("Which memory costs it", sentences=[why]), *_timeline(result, wanted, wanted.timeline or _drawn_alone(result, wanted))]
        return Page(title, [f"{result.makespan_s:.4g} s predicted.", *_lacking(result)], [*about, *_threads(result), *how], files)
    assert isinstance(result, run_result.Native)
    times = [one.makespan_s for one in result.runs]
    verdict = f"{result.median_s:.4g} s measured: median of {len(times)} run{'s' if len(times) > 1 else ''}, {min(times):.4g} to {max(times):.4g} s."
    return Page(title, [verdict], [*_timeline(result, wanted, wanted.timeline), *_threads(result), *how], files)


def _drawn(wanted: Wanted) -> Path:
    """Returns the timeline of a repeated prediction."""
    return wanted.folder / "timeline.json"


def _writing_timeline(wanted: Wanted) -> list[str]:
    """Returns options of `sdsm simulate`."""
    options = ["--timeline", str(_drawn(wanted)), "--timeline-events", str(excerpt.MOST_EVENTS)]
    if wanted.window_s is not None:
        options += ["--timeline-window", ":".join(f"{time_s:.9f}s" for time_s in wanted.window_s)]
    return options


def _drawn_alone(result: run_result.Simulation, wanted: Wanted) -> Path | None:
    """Returns the timeline of a prediction that cannot be explained, under `hardware` for one; None if it cannot be repeated."""
    if not again.is_here(result):
        return None
    command = [str(places.PROGRAMS / "sdsm"), *again.point(result).command(), *_writing_timeline(wanted), "--json", "-"]
    try:
        repeated = run_result.printed(CommandRunner().run(command, TIME_LIMIT_S), run_result.Simulation)
    except CommandFailed:
        return None
    return _drawn(wanted) if repeated.makespan_s == result.makespan_s else None


def _timeline(result: run_result.Run, wanted: Wanted, file: Path | None) -> Iterator[Section]:
    is_simulation = isinstance(result, run_result.Simulation)
    if file is None:
        writer = "sdsm simulate" if is_simulation else "sdsm run"
        advice = f"There is no timeline to show a part of: `{writer} --timeline FILE.json` writes one, and `sdsm report --timeline FILE.json` shows it."
        yield Section("What threads do when", sentences=[advice])
        return
    part = excerpt.excerpt(excerpt.read(file), wanted.window_s)
    yield Section("What threads do when", [figure_uri(figure.draw_timeline(part))], part.notes)


def _lacking(result: run_result.Simulation) -> list[str]:
    """Returns its unmeasured foundations."""
    return [f"This is {run_result.why_doubtful(result.doubts)}."] if result.doubts else []


def _files(results: Iterable[run_result.Run]) -> list[str]:
    return list(dict.fromkeys(one.path for result in results for one in result.inputs))


def _layout(result: run_result.Run) -> str:
    return str(again.Layout(result.nodes, result.threads_per_node))


def _explained(
    result: run_result.Simulation, naming: Naming, wanted: Wanted
) -> tuple[explanation.Explanation | None, str]:
    """Returns the explanation, or why there is none."""
    if not again.is_here(result):
        return None, "The trace or the platform is not here as it was, so the prediction cannot be made again and explained."
    try:
        point = again.point(result)
        with Started(point, wanted.folder, _writing_timeline(wanted) if wanted.timeline is None else ()) as started:
            explained = explanation.explain(point, wanted.folder, wanted.with_gains, wanted.say, started)
    except CommandFailed as error:
        return None, "It could not be simulated again." if naming.is_anonymous else f"It could not be simulated again: {error.said or error}"
    if explained.result.makespan_s != result.makespan_s:
        return None, f"Simulated again it takes {explained.result.makespan_s:.6g} s: this is another version of sdsm, or another simulation."
    arrays = tuple(naming.array(one) for one in explained.arrays)
    # The excerpt itself says what its timeline lacks.
    notes = tuple(one for one in explained.notes if not one.startswith("warning: the timeline"))
    locks = tuple(replace(one, name=naming.name("lock", one.name)) for one in explained.locks)
    constructs = tuple(naming.construct(one) for one in explained.constructs)
    titles = {old.title: new.title for old, new in zip(explained.arrays, arrays, strict=True)}
    titles |= {old.title: new.title for old, new in zip(explained.constructs, constructs, strict=True)}
    explained = replace(
        explained, notes=notes, arrays=arrays, locks=locks, findings=tuple(explanation.findings(explained.result, arrays, locks)),
        constructs=constructs, causes=tuple(naming.cause(one, titles) for one in explained.causes),
    )  # fmt: skip
    if naming.is_anonymous:
        explained = replace(explained, notes=(), outcomes=tuple(replace(one, why="") for one in explained.outcomes))
    return explained, ""


def _of_explanation(explained: explanation.Explanation, naming: Naming) -> Iterator[Section]:
    time_s = explained.result.makespan_s
    yield Section(
        "Where the time goes",
        [figure_uri(explanation_figure.draw(explained, is_named=not naming.is_anonymous))],
        [f"Speedup over its computing on one processor ({explained.result.computing_s:.4g} s): {explained.result.computing_s / time_s:.3g}.", *_without_queues(explained)],
        columns=("mean over threads", "seconds", "share"),
        rows=[(term, f"{value:.4g}", f"{value / time_s:.1%}") for term, value in explained.terms],
    )
    if explained.causes:
        yield Section(
            "What costs most beside computing, constructs and arrays",
            items=["Faults and diffs are in both. A gain is that of mending it alone."],
            columns=("", "seconds", "share", "times as fast", "how"),
            rows=[_cause(one, explained) for one in explained.causes[:MOST_ROWS]],
        )
    if explained.constructs:
        yield Section(
            "Where in the program: all threads together",
            columns=("construct", "times", "computing s", "faults s", "diffs s", "waiting s", "called from"),
            rows=[_construct(one) for one in explained.constructs[:MOST_ROWS]],
        )
    drawn = figure.draw(explained.arrays)
    yield Section(
        "Which memory costs it",
        [figure_uri(drawn)] if drawn else [],
        columns=("array", "pages", "placement", "seconds", "share", "faults", "fetches", "diffs", "most touched at"),
        rows=[_array(one, explained) for one in explained.arrays[:MOST_ROWS]],
    )
    if explained.findings:
        yield Section("What stands out", items=[f"{one}." for one in explained.findings])
    if explained.outcomes:
        yield Section(
            "What would help, each simulated",
            columns=("changed", "seconds", "times as fast", ""),
            rows=[_outcome(one) for one in explained.outcomes],
        )
    if explained.notes:
        yield Section("How far it holds", items=explained.notes)


def _without_queues(explained: explanation.Explanation) -> Iterator[str]:
    times = "; ".join(f"{what} {value_s:.4g} s" for what, value_s in explained.baselines())
    if times:
        yield f"Without queues it would be: {times}. What it takes beyond the latter is waits for links, homes, locks and flags."


def _cause(one: explanation.Cause, explained: explanation.Explanation) -> Row:
    gain = f"{one.gain:.2f}" if one.gain is not None else ""
    return (one.what, f"{one.cost_s:.4g}", f"{one.cost_s / explained.all_threads_s:.1%}", gain, one.advice)


def _construct(one: explanation.Construct) -> Row:
    columns = (f"{seconds:.4g}" for seconds in (one.computing_s, one.faults_s, one.diffs_s, one.waiting_s))
    return (one.title, str(one.times), *columns, "; ".join(" <- ".join(chain) for chain in one.callers[:MOST_CHAINS]))


def _array(one: explanation.Array, explained: explanation.Explanation) -> Row:
    touch = one.touches[0] if one.touches else None
    place = f"{touch.place} {touch.text}" if touch else ""
    figures = (f"{one.cost_s:.4g}", f"{one.cost_s / explained.all_threads_s:.1%}", str(one.faults), str(one.fetches), str(one.diffs))
    return (one.title, str(one.pages), one.placement.replace("_", "-"), *figures, place)


def _outcome(one: explanation.Outcome) -> Row:
    about = "" if one.alternative.is_choice else "another machine"
    if one.is_doubtful:
        why = run_result.why_doubtful(one.doubts)
        about += f", {why}" if about else why
    if one.time_s is None:
        return (one.alternative.what, "", "", one.why or "could not be simulated")
    return (one.alternative.what, f"{one.time_s:.4g}", f"{one.gain:.2f}", about)


def of_results(sources: Sequence[Text], naming: Naming) -> Page:
    """Compares with the first. Raises BadInput."""
    results: list[run_result.Run] = [run_result.read(one, run_result.Simulation, run_result.Native) for one in sources]
    named = [naming.result(result_of(one)) for one in sources]
    compared = comparison.compare(named)
    sections = [*_compared(compared)]
    try:
        lines, notes = by_program(named, None, "threads")
        drawn = speedup_figure.draw(lines, "threads", "the one-thread result")
        sections.insert(1, Section("Speedup", [figure_uri(drawn)], notes))
    except NoReference:
        pass
    return Page(
        f"{len(results)} results compared", table.verdict(compared).splitlines(),
        [*sections, *_made_from(results, naming), *_again(results, naming)], _files(results),
    )  # fmt: skip


def _compared(compared: comparison.Comparison) -> Iterator[Section]:
    first = compared.results[0].time
    columns = ("", "result", "what", "program", "layout", "samples", "time, s", "from", "to", "to [1]", "speedup")
    rows = []
    for number, one in enumerate(compared.results, start=1):
        time = one.time
        own = (one.result.file, one.result.kind, one.result.program, f"{time.nodes}x{time.threads_per_node}", str(time.samples))
        times = (f"{time.time_s:.4g}", f"{time.low_s:.4g}", f"{time.high_s:.4g}", f"{one.difference:+.1%}", f"{first.time_s / time.time_s:.3f}")
        rows.append((f"[{number}]", *own, *times))
    yield Section("Times", sentences=[f"{line}." for line in table.extrapolations(compared)], columns=columns, rows=rows)
    numbered = tuple(f"[{number}]" for number in range(1, len(compared.results) + 1))
    yield Section(
        "Where the time goes",
        [figure_uri(comparison_figure.draw(compared))],
        columns=("mean over threads, s", *numbered),
        rows=[(row.name, *(f"{value:.4g}" for value in row.values)) for row in compared.largest_terms()],
    )
    yield Section(
        "Counts that differ",
        sentences=[] if any(row.differs() for row in compared.counts) else ["None does."],
        columns=("all threads together", *numbered),
        rows=[(row.name, *(f"{value:.0f}" for value in row.values)) for row in compared.counts if row.differs()],
    )
    settings = table.settings(compared)
    if settings:
        yield Section("What differs in how they were made", items=settings)


def of_sweep(kept: Kept, naming: Naming) -> Page:
    """Begins with the answers to the sweep's questions."""
    kept = kept.named(lambda axis, value: naming.name(axis.replace("_", " "), value))
    sections = []
    pictures = [figure_uri(drawn) for drawn in sweep_figure.pictures(kept.spec, kept.done, "" if naming.is_anonymous else None).values()]
    if pictures:
        sections.append(Section("Predicted time", pictures))
    failed = [one for one in kept.done if one.result is None]
    axes = tuple(kept.spec.axes)
    rows = []
    for one in kept.done[:MOST_ROWS]:
        times = (f"{one.value('time'):.4g}", f"{one.value('speedup'):.3g}") if one.result else ("", "")
        why = "failed" if naming.is_anonymous and one.error else one.error
        if one.result is not None:
            why = run_result.why_doubtful(one.result.doubts)
        rows.append((*(one.point.values.get(axis, "") for axis in axes), *times, why))
    left = len(kept.done) - len(rows)
    summary = [f"{len(kept.done)} points, {len(failed)} failed."] + ([f"The first {MOST_ROWS} are shown."] if left else [])
    sections.append(Section("Points", sentences=summary, columns=(*axes, "time, s", "speedup", ""), rows=rows))
    results = [one.result for one in kept.done if one.result is not None]
    answers = kept.answers()
    if len(answers) > MOST_SENTENCES:
        sections.insert(0, Section("Answers", items=answers))
        answers = []
    return Page(
        f"Sweep over {', '.join(kept.spec.varied()) or 'nothing'}", answers,
        [*sections, *_made_from(results, naming), *_again(results[:1], naming)], _files(results),
    )  # fmt: skip


def _threads(result: run_result.Run) -> Iterator[Section]:
    accounts = [thread.account_s() for thread in result.threads]
    terms = [term for term in dict.fromkeys(term for one in accounts for term in one) if any(one.get(term) for one in accounts)]
    rows = [
        (str(thread.id), str(thread.node), *(f"{own.get(term, 0.0):.4g}" for term in terms), str(sum(thread.faults.values())), str(thread.messages))
        for thread, own in zip(result.threads, accounts, strict=True)
    ]
    shown = rows[:MOST_ROWS]
    summary = [f"The first {MOST_ROWS} of {len(rows)}."] if len(rows) > len(shown) else []
    yield Section("Threads, seconds", sentences=summary, columns=("thread", "node", *terms, "faults", "messages"), rows=shown)


def _how(result: run_result.Run) -> Iterator[Section]:
    rows = [(name.replace("_", " "), str(value)) for name, value in result.options.items() if not isinstance(value, list)]
    rows += [("protocol", result.protocol), *(("set", one) for one in getattr(result, "set", ()))]
    rows += [(f"version of {name}" if name != "network" else name, value) for name, value in result.versions.items()]
    yield Section("Options", columns=("option", "value"), rows=[(name, value) for name, value in rows])


def _made_from(results: Iterable[run_result.Run], naming: Naming) -> Iterator[Section]:
    """Yields inputs with their hashes, and each platform's parameters."""
    rows: dict[Row, None] = {}
    platforms: dict[str, tuple[str, run_result.Input]] = {}
    for result in results:
        is_simulation = isinstance(result, run_result.Simulation)
        for number, one in enumerate(result.inputs):
            kind = ("trace", "platform", "sequential trace")[min(number, 2)] if is_simulation else "input"
            name = naming.name(kind, one.path)
            rows[(name, kind, one.sha256, again.state(one))] = None
            if kind == "platform":
                platforms[one.sha256] = (name, one)
    yield Section("Inputs", columns=("file", "what", "SHA-256", "now"), rows=list(rows))
    for name, one in platforms.values():
        title = f"Parameters of {name if naming.is_anonymous else Path(name).name}"
        if again.state(one) == "unchanged":
            yield Section(title, columns=("property", "value", "standard error", "source"), rows=list(parameters(Path(one.path), naming)))
        else:
            yield Section(title, sentences=["The file is not here as it was."])


def parameters(platform: Path, naming: Naming) -> Iterator[Row]:
    """Yields each property of the platform with its standard error and the comment before it, which names the source."""
    try:
        zone = platform_file.parse(platform).find("zone")
    except BadInput:
        return
    properties = {} if zone is None else {one.get("id", ""): one.get("value", "") for one in zone.findall("prop")}
    source = ""
    for one in () if zone is None else zone:
        if one.tag is ElementTree.Comment:
            source = " ".join((one.text or "").split())
        name = one.get("id", "")
        if one.tag != "prop" or name.endswith((".standard-error", ".runs")):
            continue
        # The first word of a source is its kind, not a name: measured, calibrated, assumed.
        kinds = [kind for kind in ("measured", "calibrated", "assumed", "inferred") if kind in source.lower()]
        origin = ", ".join(kinds) if naming.is_anonymous else source
        yield name, one.get("value", ""), properties.get(f"{name}.standard-error", ""), origin


def _again(results: Sequence[run_result.Run], naming: Naming) -> Iterator[Section]:
    if naming.is_anonymous:
        return
    lines = dict.fromkeys(shlex.join(command) for result in results[:20] for command in again.commands(result))
    yield Section("How to make it again", commands=list(lines))
