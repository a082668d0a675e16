"""Commands that repeat a result, and a check whether its inputs are unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sdsm.base import run_result
from sdsm.base.tracing import sha256
from sdsm.explain.alternatives import Layout, Point

#: Not given by an option of the same name.
_SPECIAL = ("compute_factor", "compute_from", "sequential_time_s", "traced_flops", "host_flops", "placement")


def state(one: run_result.Input) -> str:
    """Returns "unchanged", "changed" or "not here"."""
    try:
        return "unchanged" if sha256(Path(one.path)) == one.sha256 else "changed"
    except OSError:
        return "not here"


def is_here(result: run_result.Run) -> bool:
    return all(state(one) == "unchanged" for one in result.inputs)


def point(result: run_result.Simulation) -> Point:
    """Returns the simulated point, without --uncertainty, which changes no time."""
    trace, platform, *others = (one.path for one in result.inputs)
    layout = Layout(result.nodes, result.threads_per_node)
    placement = str(result.options.get("placement", "as-asked"))
    return Point(trace, platform, layout, placement, tuple(_scale(result, others)), result.set, tuple(_others(result)))


def _scale(result: run_result.Simulation, others: list[str]) -> Iterator[str]:
    how = result.options.get("compute_from", "trace")
    if how == "compute-factor":
        yield from ("--compute-factor", repr(result.options["compute_factor"]))
    elif how == "host-speed":
        yield "--from-host-speed"
    elif how in ("sequential-time", "sequential-trace"):
        yield from ("--sequential-time", f"{result.options['sequential_time_s']!r}s")
        yield from ("--sequential-trace", others[0]) if how == "sequential-trace" and others else ()


def _option_of(name: str) -> str:
    return "--page-size" if name == "page_bytes" else f"--{name.replace('_', '-')}"


def _others(result: run_result.Simulation) -> Iterator[str]:
    if result.protocol != "scash":
        yield from ("--protocol", result.protocol)
    if result.versions.get("network", "queue") != "queue":
        yield from ("--network", result.versions["network"])
    if result.seed != 1:
        yield from ("--seed", str(result.seed))
    usual: dict[str, object] = {"memory_bound": 0, "jitter": 0, "region": "clock", "scope": "openmp", "page_bytes": 4096}
    for name, value in result.options.items():
        if name in _SPECIAL or value is False or value == usual.get(name) or isinstance(value, list):
            continue
        yield _option_of(name)
        if value is not True:
            yield str(value)


def commands(result: run_result.Run) -> Iterator[list[str]]:
    """Yields the commands that make it, from the program on."""
    threads = str(result.nodes * result.threads_per_node)
    if isinstance(result, run_result.Simulation):
        made = point(result)
        yield ["sdsm", "trace", "-n", threads, "-o", made.trace, "--", *result.program]
        words = [word for word in made.command() if word != "--quiet"]
        yield ["sdsm", *words, "--json", "result.json"]
    elif isinstance(result, run_result.Native):
        layout = ["--nodes", str(result.nodes), "--threads-per-node", str(result.threads_per_node)]
        placement = result.options.get("placement", "as-asked")
        rule = ["--placement", str(placement)] if placement != "as-asked" else []
        repeat = ["--repeat", str(len(result.runs))] if len(result.runs) > 1 else []
        given = ["--protocol", result.protocol] if result.protocol != "scash" else []
        usually = {"atomics": "home", "transport": "unix", "page_bytes": 4096, "invalidation": "all", "prefetch": 0, "scope": "openmp"}
        for name, usual in usually.items():
            if result.options.get(name, usual) != usual:
                given += [_option_of(name), str(result.options[name])]
        yield ["sdsm", "run", *layout, *given, *rule, *repeat, "--json", "result.json", "--", *result.program]
