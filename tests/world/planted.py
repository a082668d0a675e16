#!/usr/bin/env python3
"""Faults in the protocol, planted on purpose: does the world find each of them?

    planted.py write FOLDER SOURCE...   copies with all faults, of which the variable `planted_fault` chooses one, and
                                        a file that includes them and the other sources
    planted.py find WORLD LIBRARY       runs WORLD on each; exit 0 if it finds all, 1 if it misses one

Most of them were in the native DSM once; git log has what they did then.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SCHEDULES = 100_000
CHOSEN = 'extern "C" __attribute__((visibility("default"))) int planted_fault;\n'


class Fault(NamedTuple):
    what: str
    file: str
    before: str  #: the line, with what stands before and behind it, is there once
    line: str  #: an expression, or whole statements
    behind: str
    broken: str
    kind: str  #: of program
    per_node: int = 1
    seed: int = 1  #: from which on schedules show it, where few do


SCASH = "native/dsm/protocol/scash"
SINGLE_WRITER = "native/dsm/protocol/single_writer"
JIAJIA = "native/dsm/protocol/jiajia"
FAULTS = (
    Fault("a barrier keeps copies", f"{SCASH}/flushes.cpp", "", "shut_copies();", "\n  }\n}", "", "locks"),
    Fault("a lock that comes keeps copies", f"{SINGLE_WRITER}/single_writer.cpp", "", "drop(sync);", "", "if (sync != Sync::acquire) drop(sync);", "locks"),
    Fault("two threads hold a lock", "native/dsm/openmp/lock_requests.cpp", "  if (", "!lock.numbers.allow(waiter.demand)", ") return false;", "false", "locks"),
    Fault("a page that comes to be written has an old twin", f"{SINGLE_WRITER}/page_faults.cpp", "", "if (rule.makes_twin) make_twin(place);", "\n    for (std", "", "locks"),
    Fault("a copy that is written later has an old twin", f"{SINGLE_WRITER}/page_faults.cpp", "", "if (rule.makes_twin) make_twin(place);", "\n  if (sends)", "", "locks"),
    Fault("who writes does not take the page from readers", "models/single_writer/page_sharing.hpp", "if (", "wanted == Right::write", ") list", "false", "plain"),
    Fault("who reads leaves the writer its right", "models/single_writer/page_sharing.hpp", "if (", "wanted == Right::read", " && holder.right == Right::write)", "false", "plain"),
    Fault("a downgraded copy comes home without its changes", f"{SINGLE_WRITER}/downgrades.cpp", "    if (", "!is_changed(request.page, parts)", ") parts = 0;", "is_changed(request.page, parts) || true", "plain"),
    Fault("a granted page is taken before it is opened", f"{SINGLE_WRITER}/downgrades.cpp", "if (", "node().grants[index_of(request.home) * each + i] < request.grants[i]", ")", "false", "plain"),
    Fault("single-writer mode begins with changes that are not at home", f"{SINGLE_WRITER}/downgrades.cpp", "", "send_late_diffs(false);", "\n  drop_all_copies();", "", "plain"),
    Fault("who brings itself into single-writer mode is in it too early", f"{SINGLE_WRITER}/downgrades.cpp", "", "if (downgrades.late_diffs > 0 || local_peers_send() || !node().mutex.try_lock()) return false;\n    node().mutex.unlock();", "", "if (downgrades.late_diffs > 0) return false;", "plain"),
    Fault("late changes do not wait until they have the page alone", f"{SINGLE_WRITER}/page_requests.cpp", "  if (", "may_change_now(from, page)", ") return apply", "true", "plain"),
    Fault("a local peer writes copies that a lock is about to drop", f"{SINGLE_WRITER}/flushes.cpp", "  ", "if (self.layout.threads_per_node > 1) shut_local_peers();", "\n  flush_held(Sync::acquire, true);\n  drop_all", "", "locks", 2),
    Fault("a page on its way is compared with an old twin", f"{SCASH}/flushes.cpp", "place->address == 0 || ", "is_arriving(place->address)", "", "false", "locks", 2),
    Fault("single-writer mode begins before the thread's own changes are home", f"{SINGLE_WRITER}/flushes.cpp", "", "flush_held(Sync::acquire);", "\n    drop_all", "", "plain", 2),
    Fault("a thread that has met others goes on before single-writer mode", f"{SINGLE_WRITER}/page_faults.cpp", "  if (", "met.go_on()", ") change", "met.go_on() && false", "atomics"),
    Fault("under JIAJIA copies with a notice stay", f"{JIAJIA}/scopes.cpp", "", "if (invalid > 0) shut_invalid_copies();", "", "", "jiajia"),
    Fault("under JIAJIA a page that moves is still its old home's", f"{JIAJIA}/scopes.cpp", "  ", "follow_moves(moves);", "\n", "", "jiajia"),
    Fault("under JIAJIA a page that comes to be written has no twin", f"{JIAJIA}/process_copies.cpp", "", "if (rule.makes_twin) make_twin(place);", "", "", "jiajia"),
    Fault("an atomic operation goes before what its thread stored", f"{SINGLE_WRITER}/operations.cpp", "", "the_protocol().flush(Sync::acquire);", "\n}\nvoid end_fence", "", "atomics"),
    Fault("behind an atomic operation old copies stay", f"{SINGLE_WRITER}/operations.cpp", "", "the_protocol().begin_interval(Sync::acquire);", "", "", "atomics"),
    Fault("a node whose page shows other stores keeps older copies of stacks", f"{SINGLE_WRITER}/page_faults.cpp", "if (", "is_granted && is_changed(0)", ") drop", "false", "plain"),
    Fault("a process is in single-writer mode before its local peers' changes are home", f"{SINGLE_WRITER}/downgrades.cpp", "const bool is_home = downgrades.late_diffs == 0 && ", "!local_peers_send()", ";", "true", "plain", 2, 10_247_000),
    Fault("a thread that polls keeps the pages that others ask for", f"{SINGLE_WRITER}/downgrades.cpp", "ns > 0 && (", "now < kept_until_ns || (node().put_off > 0 && !has_given_way)", ")", "false", "plain", 2, 102_322_000),
)  # fmt: skip


def planted(text: str, number: int, fault: Fault) -> str:
    """The text with a choice between the line and the broken one. Raises ValueError if the line is not there once."""
    whole = fault.before + fault.line + fault.behind
    if text.count(whole) != 1:
        raise ValueError(f"{fault.file} has {text.count(whole)} times the line of '{fault.what}'")
    if fault.line.endswith(";"):
        choice = f"if (planted_fault == {number}) {{ {fault.broken} }} else {{ {fault.line} }}"
    else:
        choice = f"(planted_fault == {number} ? ({fault.broken}) : ({fault.line}))"
    return text.replace(whole, fault.before + choice + fault.behind)


def write(folder: Path, sources: list[Path]) -> None:
    texts: dict[str, str] = {}
    for number, fault in enumerate(FAULTS, start=1):
        texts[fault.file] = planted(texts.get(fault.file) or (ROOT / fault.file).read_text(), number, fault)
    shutil.rmtree(folder, ignore_errors=True)  # copies of a line that was once broken would go on counting
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(CHOSEN + text)
    files = [folder / source.relative_to(ROOT) for source in sources]
    includes = [f'#include "{file if file.exists() else source}"' for file, source in zip(files, sources, strict=True)]
    (folder / "all.cpp").write_text("\n".join([CHOSEN + "int planted_fault = 0;", *includes]) + "\n")


def find(world: str, library: str) -> int:
    def shown(kind: str, per_node: int, number: int, seed: int, schedules: int) -> re.Match[str] | None:
        options = ["--kind", kind, "--per-node", per_node, "--seed", seed, "--schedules", schedules, "--fault", number]
        done = subprocess.run(
            [world, "--process", library, *map(str, options)], capture_output=True, text=True, check=False
        )
        found = re.search(r"schedule (\d+)\): (.*)", done.stdout)
        if done.returncode != (1 if found else 0):
            raise RuntimeError(done.stderr)
        return found

    missed = 0
    for kind, per_node in sorted({(fault.kind, fault.per_node) for fault in FAULTS}):
        if found := shown(kind, per_node, 0, 1, SCHEDULES // 50):
            missed += 1
            print(f"{kind}, {per_node} processes a node: none is chosen, but after {found[1]}, {found[2]}", flush=True)
    for number, fault in enumerate(FAULTS, start=1):
        found = shown(fault.kind, fault.per_node, number, fault.seed, SCHEDULES)
        missed += found is None
        print(f"{fault.what}:", f"after {found[1]}, {found[2]}" if found else "not found", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
    else:
        sys.exit(find(*sys.argv[2:]))
