"""docs/result.schema.json, what is made of it, and what the commands write: do all name the same fields?"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import result_format
from benchmark_files import DATA
from sdsm.calibrate import command as calibrate
from sdsm.epcc import command as epcc
from sdsm.microbench import command as microbench
from sdsm.validate import command as validate
from synthetic_barriers import draw, mean_us
from test_barrier_shape import base_file
from test_barrier_shape import microbench as synthetic
from test_job import Place
from test_validate import fake_build

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = result_format.SCHEMA
BUILD = ROOT / "build"
#: What these runs cannot show: several machines, and the message of --fork, which is only simulated.
UNSEEN = {"native: options.hosts[]", "native: options.bound"} | {f"native: {part}threads[].messages_by_kind.FORK" for part in ("", "whole_run.")}


def resolved(node: Any) -> dict[str, Any]:
    """Without references: what a definition and what it extends say together."""
    node = {} if node is True else node
    for part in [*node.get("allOf", ()), *([node] if "$ref" in node else ())]:
        if "$ref" in part:
            base = resolved(SCHEMA["$defs"][part["$ref"].rpartition("/")[2]])
            own = {name: base.get("properties", {}).get(name, True) if below is True else below for name, below in node.get("properties", {}).items()}
            node = base | node | {"properties": base.get("properties", {}) | own}
    return node


def fields(node: Any, path: str = "") -> Iterator[str]:
    """Paths of all members, lists with []."""
    node = resolved(node)
    if "items" in node:
        yield from fields(node["items"], path + "[]")
        return
    if path:
        yield path
    for name, below in node.get("properties", {}).items():
        yield from fields(below, f"{path}.{name}" if path else name)


def plain(path: str) -> str:
    """A list of plain values counts once, however it is written."""
    return path.replace("[]", "")


#: Kinds of messages that count as served.
SERVED = ("barrier_release", "lock_grant", "atomic_reply", "GETPGRANT", "DIFFGRANT", "ACQGRANT", "BARRGRANT", "INVLD")


def test_the_page_and_the_types_are_made_of_the_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    made = {result_format.PAGE: result_format.page(), result_format.TYPES: result_format.types()}
    old = [path.name for path, text in made.items() if path.read_text() != text]
    assert not old, "call tests/python/result_format.py"


def test_each_field_is_described_in_short_sentences():
    for name, node in SCHEMA["$defs"].items():
        for field, _, words in result_format.rows(node):
            sentences = re.split(r"[.:] ", words.partition(" One of ")[0])
            assert max(len(sentence.split()) for sentence in sentences) <= 20, f"{name}: {field}: {words}"


def run(*words: Any) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=600)


def simulations(folder: Path) -> Iterator[tuple[str, Path]]:
    """Traced and simulated: as it is, and with everything that adds fields."""
    platform = folder / "uncertain.xml"
    more = {"fault.WUMR.standard-error": "9us", "fault.RUMR.runs": "585us 587us 600us", "calibrated.nodes": "1", "calibrated.diff": "4B"}
    text = (ROOT / "platforms" / "p3-score.xml").read_text()
    added = "".join(f'<prop id="{name}" value="{value}"/>' for name, value in more.items())
    platform.write_text(text.replace("<prop ", f"{added}<prop ", 1))
    program = (BUILD / "workloads" / "laplace", "--impl", "1", "--size", "64", "--iterations", "2", "--no-check")
    trace = folder / "p.trace"
    run(BUILD / "sdsm", "trace", "-q", "-n", "2", "--lines", "-o", trace, "--", *program)
    for name, options in (
        ("plain", ("--constructs",)),
        ("draws", ("--uncertainty", "10", "--jitter", "0.1", "--prefetch", "2", "--invalidation", "changed", "--network", "simgrid", "--sequential-time", "1s", "--set", "fault.*=x0.5", "--set", "fault.cold=1us")),
        ("speeds", ("--from-host-speed", "--quiet-machine", "--set", "cache.latency=20ns", "--set", "memory.bandwidth=300MBps")),
    ):
        file = folder / f"{name}.json"
        run(BUILD / "sdsm", "simulate", trace, "-p", platform, "-n", "2", *options, "--json", file)
        yield "simulation", file
    chunks = folder / "chunks.trace"
    run(BUILD / "sdsm", "trace", "-q", "-n", "2", "-o", chunks, "--", BUILD / "tests" / "planted" / "planted_constructs_cxx", "dynamic")
    run(BUILD / "sdsm", "simulate", chunks, "-p", platform, "-n", "2", "--json", folder / "chunks.json")
    yield "simulation", folder / "chunks.json"
    busy = folder / "busy.xml"  # no processor is free to serve
    busy.write_text(re.sub('core="[0-9]+"', 'core="1"', text))
    run(BUILD / "sdsm", "simulate", trace, "-p", busy, "-n", "2", "--compute-factor", "1000", "--json", folder / "busy.json")
    yield "simulation", folder / "busy.json"
    jiajia = folder / "jiajia.json"
    on_jiajia = (BUILD / "sdsm", "simulate", trace, "-p", "p3-jiajia", "-n", "2", "--protocol", "jiajia")
    run(*on_jiajia, "--json", jiajia)
    yield "simulation", jiajia
    forked = folder / "forked.json"
    forks = ("--first-touch-migration", "1", "--fork", "broadcast", "--privatize", "globals")
    run(*on_jiajia, *forks, "--quirks", "first-page-stays,empty-diffs-travel", "--json", forked)
    yield "simulation", forked
    hardware = folder / "hardware.json"
    where = ("-p", "v1280", "--protocol", "hardware", "-n", "1", "-t", "2")
    run(BUILD / "sdsm", "simulate", trace, *where, "--json", hardware)
    yield "simulation", hardware
    mapping = folder / "mapping.trace"
    run(BUILD / "sdsm", "trace", "-q", "-n", "2", "-o", mapping, "--", BUILD / "tests" / "traced" / "unseen")
    words = folder / "words.trace"
    run(BUILD / "sdsm", "trace", "-q", "-n", "2", "--words", "field", "-o", words, "--", BUILD / "tests" / "traced" / "words")
    locked = folder / "locked.trace"
    run(BUILD / "sdsm", "trace", "-q", "-n", "2", "--lines", "-o", locked, "--", BUILD / "tests" / "planted" / "planted", "lock")
    counted = (BUILD / "tests" / "memory" / "counted", "atomics")
    atomics = folder / "atomics.trace"
    run(BUILD / "sdsm", "trace", "-q", "-n", "2", "-o", atomics, "--", *counted)
    run(BUILD / "sdsm", "simulate", atomics, "-p", platform, "-n", "2", "--atomics", "home", "--json", folder / "a.json")
    yield "simulation", folder / "a.json"
    reduction = (BUILD / "workloads" / "epcc", "--directive", "reduction", "--repetitions", "2", "--samples", "2")
    run(BUILD / "sdsm", "trace", "-q", "--passes", "1", "-n", "2", "-o", folder / "reduction.trace", "--", *reduction)
    run(BUILD / "sdsm", "simulate", folder / "reduction.trace", "-p", platform, "-n", "2", "--json", folder / "c.json")
    yield "simulation", folder / "c.json"
    run(BUILD / "sdsm", "run", "-q", "-n", "2", "--json", folder / "b.json", "--", *counted)
    yield "native", folder / "b.json"
    run(BUILD / "sdsm", "run", "-q", "-n", "2", "--protocol", "jiajia", "--json", folder / "d.json", "--", *counted)
    yield "native", folder / "d.json"
    ended = folder / "ended.trace"
    run(BUILD / "sdsm", "trace", "-q", "-n", "2", "-o", ended, "--", BUILD / "tests" / "asked" / "leaves", "0")
    for traced in (trace, mapping, words, locked, atomics, ended):
        file = traced.with_suffix(".info.json")
        run(BUILD / "sdsm", "trace", "info", traced, "--json", file)
        yield "trace_info", file
    run(BUILD / "sdsm", "run", "-q", "-n", "2", "--repeat", "2", "--prefetch", "2", "--invalidation", "changed", "--transport", "tcp", "--json", folder / "run.json", "--", *program)
    yield "native", folder / "run.json"
    compared = folder / "compared.json"
    run(BUILD / "sdsm", "compare", folder / "plain.json", folder / "run.json", folder / "draws.json", "--json", compared)
    yield "comparison", compared
    planted = folder / "planted.trace"
    run(BUILD / "sdsm", "trace", "-q", "-n", "2", "--lines", "-o", planted, "--", BUILD / "tests" / "planted" / "planted", "parts")
    explained = folder / "explained.json"
    # Half of this time is less than the barrier's messages take, so that one alternative cannot be simulated.
    run(BUILD / "sdsm", "explain", planted, "-p", "p3-score", "-n", "2", "--set", "barrier.2x1=300us", "--json", explained)
    yield "explanation", explained
    run(BUILD / "sdsm", "explain", words, "-p", "p3-score", "-n", "2", "--no-gains", "--json", folder / "sharing.json")
    yield "explanation", folder / "sharing.json"
    (folder / "s.toml").write_text(
        f'program = ["{BUILD / "tests" / "planted" / "planted"}", "parts"]\nplatform = "p3-score"\nnodes = [1, 2]\n'
        'placement = ["block", "nowhere"]\nx = "nodes"\nfind = "nodes at which time is least"\n'
    )
    run(BUILD / "sdsm", "sweep", "-q", folder / "s.toml", "-o", folder / "swept")
    yield "sweep", folder / "swept" / "sweep.json"
    run(BUILD / "sdsm", "replay", platform, "--only", "lock,network", "--layouts", "3x1", "--set", "lock.3x1=1ms",
        "--json", folder / "replay.json")  # fmt: skip
    yield "replay", folder / "replay.json"


def answers(folder: Path) -> Iterator[tuple[str, Path]]:
    barrier = {"shape": "flat", "message_us": {"wire": 1, "link": 1, "processor": 1}, "measured_us": {}, "layouts": ["2x1"]}
    for name, question in (("sizes", {}), ("all", {"diff_words": [1], "payloads": [1], "barrier": barrier, "protocol": "jiajia"})):
        file = folder / f"{name}.json"
        file.write_bytes(subprocess.run([BUILD / "sdsm", "costs", json.dumps(question)], check=True, capture_output=True).stdout)
        yield "costs", file


def calibrations(folder: Path) -> Iterator[tuple[str, Path]]:
    measured = folder / "measured.json"
    assert microbench.main(["--layouts", "2x1", "--samples", "8", "-o", str(measured)]) == 0
    yield "microbench", measured
    truth = draw("tree", 3)
    barriers = synthetic(folder, truth, {f"{nodes}x1": mean_us(truth, nodes, 100, 0) for nodes in (2, 4, 8)})
    for name, arguments in (
        ("machine", [str(DATA / "sdsm" / "microbench.system.json"), str(DATA / "network" / "netpipe.loopback.out"), "--hold-out", "0.3"]),
        ("tree", [str(barriers), "--base", str(base_file(folder))]),
        ("p3", ["p3-score"]),
    ):
        calibrate.main([*arguments, "-o", str(folder / f"{name}.xml"), "--report", str(folder / f"{name}.json")])
        yield "calibration", folder / f"{name}.json"
    for unit in ("us", "cycles"):
        file = folder / f"epcc.{unit}.json"
        source = str(DATA / "epcc" / "v31.syncbench.gcc.2.out")
        assert epcc.main([source, "--unit", unit, "--clock", "500MHz", "--json", str(file)]) == 0
        yield "epcc", file


def reports(folder: Path) -> Iterator[tuple[str, Path]]:
    build = str(fake_build(folder))
    validate.main(["--nodes", "2", "--quick", "--build", build, "--results", str(folder / "validated")])
    yield "validation", folder / "validated" / "validation.json"
    place = Place(folder / "job")
    place.run("--only", "fft", "--no-figures")
    yield "summary", place.results / "summary.json"


def found(node: Any, value: Any, path: str) -> Iterator[str]:
    """The schema's paths that the value has."""
    if value is None and path:
        yield path
        return
    node = resolved(node)
    if isinstance(value, list):
        if path and not value:
            yield path
        for one in value:
            yield from found(node.get("items", {}), one, path + "[]")
        return
    if path:
        yield path
    if isinstance(value, dict):
        for name, below in value.items():
            if name in node.get("properties", {}):
                yield from found(node["properties"][name], below, f"{path}.{name}" if path else name)


@pytest.mark.parametrize("written", [simulations, answers, calibrations, reports])
def test_the_documents_that_the_commands_write_have_the_schemas_fields_and_no_other(written, tmp_path):
    seen: dict[str, set[str]] = {}
    for name, file in written(tmp_path):
        document = json.loads(file.read_text())
        schema = SCHEMA | {"$ref": f"#/$defs/{name}"}
        wrong = [f"{file.name}{error.json_path[1:]}: {error.message}" for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]
        assert not wrong
        for thread in document["threads"] if name in ("simulation", "native") else ():
            by_kind = {kind: count for kind, count in thread["messages_by_kind"].items() if kind not in SERVED}
            assert sum(by_kind.values()) == thread["messages"]
        seen.setdefault(name, set()).update(plain(path) for path in found(SCHEMA["$defs"][name], document, ""))
    for name, paths in seen.items():
        never = {f"{name}: {path}" for path in fields(SCHEMA["$defs"][name]) if plain(path) not in paths}
        assert never <= UNSEEN


def test_a_field_that_is_not_documented_fails(tmp_path):
    document = json.loads((DATA / "sdsm" / "run.laplace.json").read_text())
    validator = jsonschema.Draft202012Validator(SCHEMA | {"$ref": "#/$defs/native"})
    assert not list(validator.iter_errors(document))
    for place in (document, document["threads"][0], document["threads"][0]["faults"], document["options"]):
        place["new"] = 1
        assert list(validator.iter_errors(document))
        del place["new"]
