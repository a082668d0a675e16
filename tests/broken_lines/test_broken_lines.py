"""Would a test notice if a line of the protocol were wrong? Each line below is broken on purpose in a copy of the
checkout; litmus and random programs then have to show it: a forbidden outcome, a wrong value, an end, or a hang."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = SOURCE / "build"
#: A run that takes so many times as long as where no line is broken, and so long at least, waits for what never comes.
HANGS_AFTER = 5
HANGS_AFTER_S = 10.0
#: Some lines show only where messages come in another order than mostly.
ROUNDS = 3


class BrokenLine(NamedTuple):
    what: str
    file: str
    line: str  #: stands there once
    broken: str


LINES = (
    BrokenLine("a barrier keeps copies", "native/dsm/protocol/scash/flushes.cpp", "    shut_copies();\n  }\n}", "  }\n}"),
    BrokenLine("a barrier sends no diffs home", "models/scash/courses.hpp", "barrier{meet, Step{flush}, meet,", "barrier{meet, meet,"),
    BrokenLine("a lock that comes keeps copies", "native/dsm/openmp/synchronisation.cpp", "runs_alone ? courses_of_run().acquire_alone : courses_of_run().acquire,", "courses_of_run().acquire_alone,"),
    BrokenLine("a lock goes before its diffs", "models/scash/courses.hpp", "release{Step{flush}, Step{send", "release{Step{send"),
    BrokenLine("two threads hold a lock", "native/dsm/openmp/lock_requests.cpp", "  if (!lock.numbers.allow(waiter.demand)) return false;\n", ""),
    BrokenLine("a flag of a doacross loop goes before its diffs", "native/dsm/openmp/synchronisation.cpp",
               "release_by(courses_of_run().release, [&]() REQUIRES(application) {\n    const Head post", "release_by(courses_of_run().give_back, [&]() REQUIRES(application) {\n    const Head post"),
    BrokenLine("a thread that waits for a flag or a lock keeps copies", "models/scash/courses.hpp", "MessageKind::lock_grant},\n                                    Step{begin_interval}};", "MessageKind::lock_grant}};"),
    BrokenLine("a page that is written when it comes has an old twin", "native/dsm/protocol/single_writer/page_faults.cpp",
               "    if (rule.makes_twin) make_twin(place);\n    for (std", "    for (std"),
    BrokenLine("a copy that is written later has an old twin", "native/dsm/protocol/single_writer/page_faults.cpp", "  if (rule.makes_twin) make_twin(place);\n  if (sends)", "  if (sends)"),
    BrokenLine("diffs are whole words", "native/dsm/wire/diff.cpp", "if (changed == all_bytes || overlap != 0) return", "if (changed != 0) return"),
    BrokenLine("a diff forgets the words before a gap", "native/dsm/wire/diff.cpp", "    std::byte* home = page + std::size_t{head.first} * 4;",
               "    std::byte* home = page + (std::size_t{head.first} + (twin_at > 0 ? 1 : 0)) % (words_per_page - head.words + 1) * 4;"),
    BrokenLine("who writes does not take the page from readers", "models/single_writer/page_sharing.hpp",
               "      if (wanted == Right::write) list.push_back({holder.node, Right::none});\n", ""),
    BrokenLine("who reads leaves the writer its right", "models/single_writer/page_sharing.hpp",
               "      if (wanted == Right::read && holder.right == Right::write) list.push_back({holder.node, Right::read});\n", ""),
    BrokenLine("a downgraded page stays open at home", "native/dsm/protocol/single_writer/downgrades.cpp", "return true;\n    shut_page(request.page);", "return true;"),
    BrokenLine("a downgraded copy comes home without its changes", "native/dsm/protocol/single_writer/downgrades.cpp",
               "if (!is_changed(request.page, parts)) parts = 0;", "is_changed(request.page, parts);\n    parts = 0;"),
    BrokenLine("a downgraded copy stays", "native/dsm/protocol/single_writer/downgrades.cpp", "  downgrade_copy(id, keeps_reading);\n  return parts;", "  return parts;"),
    BrokenLine("single-writer mode begins with changes that are not at home", "native/dsm/protocol/single_writer/downgrades.cpp", "  send_late_diffs(false);\n  drop_all_copies();",
               "  drop_all_copies();"),
    BrokenLine("single-writer mode begins with old copies", "native/dsm/protocol/single_writer/downgrades.cpp", "  send_late_diffs(false);\n  drop_all_copies();",
               "  send_late_diffs(false);"),
    BrokenLine("single-writer mode begins in one process alone", "native/dsm/protocol/single_writer/downgrades.cpp", "if (ProcessId{i} != self.process) ask(ProcessId{i}, enters);", "static_cast<void>(i);"),
    BrokenLine("waiting keeps single-writer mode until the next barrier only", "models/single_writer/page_sharing.hpp",
               "case SingleWriterEvent::wait: return SingleWriterMode::for_good;", "case SingleWriterEvent::wait: return SingleWriterMode::off;"),
    BrokenLine("an atomic operation goes before what its thread stored", "native/dsm/protocol/single_writer/operations.cpp", "  hand_on_streams();\n  the_protocol().flush(Sync::acquire);", "  hand_on_streams();"),
    BrokenLine("behind an atomic operation old copies stay", "native/dsm/protocol/single_writer/operations.cpp", "  the_protocol().begin_interval(Sync::acquire);\n  take_over_files();\n  meet_others();\n}", "}"),
    BrokenLine("a thread that has met others goes on before single-writer mode", "native/dsm/protocol/single_writer/page_faults.cpp",
               "  if (met.go_on()) change_single_writer_mode(SingleWriterEvent::touch_after_meeting);\n", ""),
    BrokenLine("a home's thread does not learn of operations on its page", "native/dsm/protocol/single_writer/rights_requests.cpp",
               "return request.is_operation\n             ? page.sharing.losses_to_operation(own_node(), self.layout.node_of(request.from), request.keeps_copy)\n             :", "return"),
    BrokenLine("an operation does not wait until it has the page alone", "native/dsm/protocol/single_writer/page_requests.cpp", "  operate_when_taken(from, page, head.value != 0, operate);", "  operate();"),
    BrokenLine("late changes do not wait until they have the page alone", "native/dsm/protocol/single_writer/page_requests.cpp",
               "  if (may_change_now(from, page)) return apply(from, head.kind, diff);", "  return apply(from, head.kind, diff);"),
    BrokenLine("changes wait behind a request for their home", "native/dsm/protocol/single_writer/rights_requests.cpp", "  change_ahead(page);\n",
               "  static_cast<void>(&change_ahead);\n"),
    BrokenLine("a process's late changes overtake a local peer's", "native/dsm/protocol/single_writer/downgrades.cpp", "  if (local_peers_send()) return false;",
               "  static_cast<void>(local_peers_send());"),
    BrokenLine("a thread's changes of stacks overtake its local peers' late ones", "native/dsm/protocol/single_writer/flushes.cpp",
               "  await_late_diffs();\n  if (!node().copies.of_stacks.empty()) flush_held(Sync::release);",
               "  if (!node().copies.of_stacks.empty()) flush_held(Sync::release);"),
    BrokenLine("a node whose page shows other stores keeps older copies of stacks", "native/dsm/protocol/single_writer/page_faults.cpp",
               "            if (is_granted && is_changed(0)) drop_stack_copies(kept);\n", ""),
    BrokenLine("threads read a stack amid a change of several of its variables", "models/single_writer/page_sharing.hpp",
               "is_open_stack && !is_at_once;", "is_open_stack && is_at_once;"),
    BrokenLine("a fetched page of a stack brings no write notice", "models/single_writer/since_barrier.hpp",
               "if (is_on_stack || diffs_", "static_cast<void>(is_on_stack);\n    if (diffs_"),
    BrokenLine("an atomic operation at home is not announced", "native/dsm/protocol/single_writer/rights_requests.cpp", "    if (is_single_writer) note_changed(page);\n", ""),
    BrokenLine("a thread's own stack goes out before what it stored in others'", "models/single_writer/page_sharing.hpp",
               "  return mode != SingleWriterMode::off && is_own_stack;\n", "  return mode > SingleWriterMode::for_good && is_own_stack;\n"),
    BrokenLine("so does an atomic operation's outcome", "models/single_writer/page_sharing.hpp",
               "  return atomics != Atomics::relaxed && is_own_stack;\n", "  return atomics == Atomics::relaxed && is_own_stack;\n"),
    BrokenLine("a node changes several stacks at once", "models/single_writer/page_sharing.hpp",
               "access == Access::write && is_copy_of_stack && !makes", "access == Access::read && !is_copy_of_stack && !makes"),
    BrokenLine("local peers ask for several stacks at once", "native/dsm/protocol/single_writer/page_faults.cpp", " || has_to_wait_for_stack();", ";"),
    BrokenLine("a copy of a stack is compared while threads store to it", "native/dsm/protocol/scash/flushes.cpp",
               "if (stops_others) nobody_stores.emplace();", "static_cast<void>(stops_others);"),
    BrokenLine("a release in single-writer mode sends what its thread wrote alone", "models/single_writer/page_sharing.hpp",
               "  return mode == SingleWriterMode::off ? sync : Sync::acquire;\n", "  static_cast<void>(mode);\n  return sync;\n"),
    BrokenLine("under JIAJIA copies with a notice stay", "native/dsm/protocol/jiajia/scopes.cpp", "  if (invalid > 0) shut_invalid_copies();\n", ""),
    BrokenLine("under JIAJIA an interval ends and its changes stay", "native/dsm/protocol/jiajia/process_copies.cpp",
               "  changes.send(count_diffs(own_copies().end_interval(sync)));", "  count_diffs(own_copies().end_interval(sync));"),
    BrokenLine("under JIAJIA a manager forgets a release's notices", "models/jiajia/notices.hpp",
               "then < barriers ? std::vector<Notice>{} : handed;", "then < barriers ? handed : std::vector<Notice>{};"),
    BrokenLine("under JIAJIA a barrier forgets what process 0 wrote", "native/dsm/protocol/jiajia/notice_requests.cpp",
               "    own.met.arrive(ProcessId{i}, pages, {});", "    if (i > 0) own.met.arrive(ProcessId{i}, pages, {});"),
    BrokenLine("under JIAJIA a page that comes to be written has no twin", "native/dsm/protocol/jiajia/process_copies.cpp",
               "  if (rule.fetches_page) fetch(place);\n  if (rule.makes_twin) make_twin(place);", "  if (rule.fetches_page) fetch(place);"),
    BrokenLine("under JIAJIA home pages stay open at the end of an interval", "native/dsm/protocol/jiajia/process_copies.cpp", "    rest_own_pages();\n  }\n  spend", "  }\n  spend"),
    BrokenLine("a page that moves is still its old home's", "native/dsm/protocol/jiajia/scopes.cpp", "  follow_moves(moves);\n", ""),
    BrokenLine("the barrier's manager forgets where a page has moved", "native/dsm/protocol/jiajia/notice_requests.cpp",
               "    if (one.next != one.home) own.moved.move(one.notice.page, one.next);\n", ""),
    BrokenLine("a page that has moved stays as it was opened", "native/dsm/protocol/jiajia/process_copies.cpp", "  close_pages(closed);\n", ""),
)  # fmt: skip


def copy_of_the_checkout(folder: Path) -> Path:
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0"):
        if name and (SOURCE / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, folder / name)
    return folder


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.what)
def test_the_list_names_lines_that_are_there(line):
    assert (SOURCE / line.file).read_text().count(line.line) == 1


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy that is built."""
    copy = copy_of_the_checkout(tmp_path_factory.mktemp("broken") / "checkout")
    cache = (BUILD / "CMakeCache.txt").read_text()
    launchers = re.findall(r"^(CMAKE_CXX?_COMPILER_LAUNCHER):\w+=(.+)$", cache, re.MULTILINE)
    configure = ["cmake", "--preset", "release", "-DSDSM_TESTS=OFF", *(f"-D{name}={value}" for name, value in launchers)]
    subprocess.run(configure, cwd=copy, check=True, capture_output=True)
    build(copy)
    return copy


def build(copy: Path) -> None:
    command = ["cmake", "--build", "--preset", "release", "--target", "sdsm-run"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


class Run(NamedTuple):
    layout: tuple[int, int]  #: nodes, and threads of each
    program: str
    arguments: tuple[object, ...] = ()
    options: tuple[object, ...] = ()  #: of `sdsm run`


ALL_KINDS = ("--phases", 8, "--steps", 24, "--locks", 8, "--with", "all-but-plain")
UNDER_JIAJIA = (*ALL_KINDS[:-1], "cells,locks,blocks,constructs,teams,thread-locals,library,flags,copies")
SHAPES = (
    ("--pages", 2, "--steps", 60, "--locks", 4),
    ("--pages", 1, "--steps", 20, "--locks", 1, "--phases", 60),
    ALL_KINDS,
)
JIAJIA = ("--protocol", "jiajia")
LARGE = ("--page-size", "8KiB", "--prefetch", 4)
MOVING = (*JIAJIA, "--home-migration", "--adaptive-write-detection")


def random_programs(seed: int, shape: tuple) -> tuple:
    return ("--seed", seed, "--programs", 6, *shape)


STACK_ORDERS = (
    ((2, 1), ("fetched", 100)),
    ((2, 1), ("own", 300)),
    ((2, 1), ("own-atomic", 300)),
    ((2, 1), ("operated", 100)),
    ((2, 1), ("behind", 300)),
    ((3, 1), ("two-atomic", 3000)),
    ((3, 1), ("two-pages", 3000)),
    ((2, 2), ("encoded", 300)),
    ((2, 2), ("local-peers", 100)),
)

RUNS = (
    Run((3, 1), "memory/litmus"),
    Run((2, 2), "memory/litmus"),
    Run((2, 2), "memory/stack_pairs", (0, 3, 300)),
    *(Run(layout, "memory/stack_order", case) for layout, case in STACK_ORDERS),
    Run((3, 1), "memory/flag_litmus", (24,)),
    Run((2, 2), "memory/flag_litmus", (24,)),
    Run((2, 3), "memory/local_peers_diffs", ("request",)),
    *[Run((2, 3), "memory/local_peers_diffs", ("barrier",))] * 3,
    Run((3, 2), "memory/local_peers_flag"),
    Run((2, 2), "memory/local_peers_lock"),
    Run((2, 1), "memory/operated_at_home"),
    Run((2, 2), "memory/asked_at_once"),
    Run((6, 1), "memory/crossing_changes"),
    *(
        Run(layout, "memory/random_program", random_programs(seed, shape))
        for seed, (layout, shape) in enumerate((layout, shape) for layout in ((4, 1), (2, 2)) for shape in SHAPES)
    ),
    Run((4, 1), "constructs/c", ("doacross",)),
    Run((4, 1), "memory/random_program", random_programs(100, UNDER_JIAJIA), JIAJIA),
    Run((4, 1), "memory/random_program", random_programs(101, UNDER_JIAJIA), MOVING),
    Run((2, 2), "memory/random_program", random_programs(107, UNDER_JIAJIA), MOVING),
    Run((2, 2), "memory/random_program", random_programs(108, UNDER_JIAJIA), (*JIAJIA, *LARGE)),
)


def shown_by(copy: Path, runs: Iterable[Run], limits_s: list[float]) -> str:
    """The first run that goes wrong, and how; empty if none does. limits_s: one for each."""
    for run, limit_s in zip(runs, limits_s, strict=True):
        nodes, per_node = run.layout
        layout = ["--nodes", nodes, "--threads-per-node", per_node, *run.options]
        words = [copy / "build" / "sdsm-run", "-q", *layout, "--", BUILD / "tests" / run.program, *run.arguments]
        what = f"{run.program} on {nodes}x{per_node} {' '.join(map(str, run.options))}"
        try:
            command = [str(word) for word in words]
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            return f"{what} hangs"
        if done.returncode != 0:
            said = (done.stderr + done.stdout).strip().splitlines()
            return f"{what}: {said[-1] if said else done.returncode}"
    return ""


@pytest.fixture(scope="module")
def limits_s(checkout) -> list[float]:
    limits = []
    for run in RUNS:
        begun = time.monotonic()
        assert shown_by(checkout, [run], [600]) == ""
        limits.append(max(HANGS_AFTER * (time.monotonic() - begun), HANGS_AFTER_S))
    return limits


@pytest.mark.long
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.what)
def test_a_broken_line_is_shown(line, checkout, limits_s):
    file = checkout / line.file
    whole = file.read_text()
    try:
        file.write_text(whole.replace(line.line, line.broken))
        build(checkout)
        shown = next(filter(None, (shown_by(checkout, RUNS, limits_s) for _ in range(ROUNDS))), "")
    finally:
        file.write_text(whole)
    print(f"{line.what}: {shown}")
    assert shown
