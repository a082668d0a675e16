#!/usr/bin/env python3
"""Checks that each folder includes only folders above it, and that the tree keeps the project's habits.

    tests/layering.py [CHECKOUT]      check the files that git tracks; exit 0 clean, 1 violations, 2 bad usage
    tests/layering.py --self-test     check that each rule finds a violation of it

Rules, one line per violation, `file:line: what (why)`:
  layers    models/ < commands/ < workloads/ < platforms/ < native/, sim/; native/ and sim/ do not know each other
  simgrid   only sim/ includes SimGrid
  pure      models/ includes no header of the operating system, of files or of clocks
  format    what runs inside the user's program, or starts it, includes nothing of workloads/trace/
  from root quoted includes name their folder, so that a reader and this check see the layer
  compile   no header outside of tests/ includes SimGrid's, CLI11's or JSON's own, which take a second each to compile;
            CLI11 is included by commands/command_line.cpp alone
  names     a test case's name has at most 12 words, no semicolon (CMake would cut it in two), and no dash in front
            (Catch2 would take it for an option)
  rooms     a folder of native/ includes only itself and those before it in ROOMS, holds at most 25 files, and its longest
            chain of includes passes at most 6 files (a header and its source count as one)
  door      what a protocol's folder of native/dsm/protocol/ holds is used by others through protocol.hpp alone
  kinds     a protocol is called by its name in models/protocol/registry.hpp alone: others ask its tables, or the class
            that it implements
  homes     no folder called utils, common or manager
  leaks     no path of a developer's machine, no marker of unfinished work
"""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc"}

#: What each folder may include; a folder always may include itself.
ABOVE: dict[str, set[str]] = {
    "models": set(),
    "commands": {"models"},
    "workloads": {"models", "commands"},
    "platforms": {"models", "commands", "workloads"},
    "native": {"models", "commands", "workloads", "platforms"},
    "sim": {"models", "commands", "workloads", "platforms"},
    "tests": {"models", "commands", "workloads", "platforms", "native", "sim"},
}

#: The one public header that OpenMP programs use is found by its own include path.
PUBLIC_HEADER_FOLDER = "sdsm"

#: OpenMP programs that tests trace are compiled as a user's would be, without the project's root as an include path.
PROGRAMS_FOLDER = "programs"

#: A trace stores facts about a program, which these have from models/program/.
KNOWS_NO_TRACE_FORMAT = re.compile(r"^native/((guest|tracer|dsm)/|launch/[^/]+$)")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<bracket>["<])(?P<path>[^">]+)[">]')

#: Operating system, files, clocks and threads: what would tie the protocol to where it runs.
IMPURE = re.compile(
    r"^(sys/|linux/|asm/|arpa/|net/|netinet/)|"
    r"^(unistd|fcntl|signal|csignal|pthread|dlfcn|ucontext|poll|semaphore|sched|time|ctime)(\.h)?$|"
    r"^(fstream|iostream|filesystem|cstdio|stdio\.h|thread|mutex|condition_variable|future)$|"
    r"^fmt/(os|ostream)\.h$"
)

#: What these have for forward declarations is light.
HEAVY = re.compile(r"^(simgrid/(?!forward\.h|version\.h)|CLI/|nlohmann/json\.hpp)")
ONLY_READER_OF_COMMAND_LINES = "commands/command_line.cpp"

#: Folders of native/, from the ground up.
ROOMS = [
    *(f"guest/{room}" for room in ("runtime", "memory", "kernel", "library", "code", "openmp", "threads")),
    "tracer/record",
    "tracer/execution",
    "tracer",
    *(f"dsm/{room}" for room in ("wire", "process", "memory", "timing", "requests", "books", "files", "protocol")),
    *(f"dsm/protocol/{protocol}" for protocol in ("scash", "jiajia", "single_writer")),
    "dsm/openmp",
    "dsm/traps",
    "dsm/start",
    "launch",
    "launch/trace",
    "launch/run/logs",
    "launch/run",
    "bench",
]
MOST_FILES_IN_ROOM = 25
MOST_STOREYS = 6
#: In a macro over all protocols it has the macro's parameter.
NAMED_PROTOCOL = re.compile(r"ProtocolKind::(?!name\b)\w+")
REGISTRY = "models/protocol/registry.hpp"

TEST_CASE = re.compile(r'TEST_CASE\w*\([^"]*"(?P<name>[^"]*)"')
MOST_WORDS = 12

#: Paths below a home or scratch folder. Written in pieces so that this file does not contain what it looks for.
LEAKS = [
    (re.compile(r"(?<![\w.$}])/" + r"(work/|root/|home/\w+/|tmp/build)"), "a path of somebody's machine"),
    (re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b"), "a marker of unfinished work"),
]
BANNED_FOLDERS = {"utils", "util", "common", "manager"}
TEXT_LIMIT_BYTES = 1 << 20


def check_includes(path: str, text: str) -> list[str]:
    """Violations of layers, simgrid, compile, pure, format and from root in one source file.

    path: relative to the checkout, with forward slashes. text: the file's content.
    """
    folder = path.split("/", 1)[0]
    if folder not in ABOVE:
        return []
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        named = NAMED_PROTOCOL.search(line)
        if named and folder != "tests" and path != REGISTRY:
            found.append(f"{path}:{number}: calls a protocol by its name, {named[0]} (ask {REGISTRY} or the tables)")
        match = INCLUDE.match(line)
        if match is None:
            continue
        target, quoted = match["path"], match["bracket"] == '"'
        head = target.split("/", 1)[0] if "/" in target else ""

        def violation(what: str, why: str, number: int = number) -> None:
            found.append(f"{path}:{number}: {what} ({why})")

        if head in ABOVE and head != folder and head not in ABOVE[folder]:
            allowed = ", ".join(sorted(ABOVE[folder])) or "no other folder"
            violation(f"{folder}/ includes {target}", f"it may include {allowed}")
        if (head in {"simgrid", "xbt", "smpi"}) and folder not in {"sim", "tests"}:
            violation(f"{folder}/ includes {target}", "only sim/ knows SimGrid")
        is_slow_header = path.endswith(".hpp") and HEAVY.search(target) and folder != "tests"
        if is_slow_header or (head == "CLI" and path != ONLY_READER_OF_COMMAND_LINES):
            violation(f"includes {target}", "it takes a second to compile: only the .cpp files that call it include it")
        if folder == "models" and IMPURE.search(target):
            violation(f"models/ includes {target}", "the protocol knows no operating system, file or clock")
        if KNOWS_NO_TRACE_FORMAT.search(path) and target.startswith("workloads/trace/"):
            violation(f"includes {target}", "facts about a program are in models/program/")
        neighbour = "/" not in target and path.split("/")[-2].startswith(PROGRAMS_FOLDER)
        if quoted and head not in ABOVE and head != PUBLIC_HEADER_FOLDER and not neighbour:
            violation(f'includes "{target}"', 'write quoted includes from the root, as in "models/units.hpp"')
    return found


def check_text(path: str, text: str) -> list[str]:
    """Violations of leaks in one text file; arguments as in check_includes."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        for pattern, what in LEAKS:
            match = pattern.search(line)
            if match:
                found.append(f"{path}:{number}: {what}: {match[0]} (others cannot use it: take it out)")
    return found


def check_test_names(path: str, text: str) -> list[str]:
    """Violations of names in one source file; arguments as in check_includes."""
    found = []
    for match in TEST_CASE.finditer(text):
        name = match["name"]
        line = text.count("\n", 0, match.start()) + 1
        if ";" in name or name.startswith("-"):
            found.append(f"{path}:{line}: a test case's name holds a semicolon or begins with a dash (ctest could not run it)")
        if len(name.split()) > MOST_WORDS:
            found.append(f"{path}:{line}: a test case's name has more than {MOST_WORDS} words (shorten it)")
    return found


def check_folders(path: str) -> list[str]:
    """Violations of homes in one path."""
    banned = BANNED_FOLDERS.intersection(path.split("/")[:-1])
    return [f"{path}:1: in a folder called {name} (name it for the concept it holds)" for name in sorted(banned)]


def check_rooms(texts: dict[str, str]) -> list[str]:
    """Violations of rooms among the sources of native/: their texts by path."""

    def stem(path: str) -> str:
        return path.removeprefix("native/").rsplit(".", 1)[0]

    def room(file: str) -> str:
        return file.rsplit("/", 1)[0]

    found = []
    uses: dict[str, set[str]] = {stem(path): set() for path in texts}
    for path, text in texts.items():
        file = stem(path)
        if room(file) not in ROOMS:
            found.append(f"{path}:1: in a folder that is not in ROOMS (give it its place)")
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            match = INCLUDE.match(line)
            target = stem(match["path"]) if match and match["path"].startswith("native/") else file
            if target == file or room(target) not in ROOMS:
                continue
            uses[file].add(target)
            is_behind_door = room(target).startswith("dsm/protocol/") and not room(file).startswith("dsm/protocol/")
            if is_behind_door:
                found.append(f"{path}:{number}: includes {target}, which is behind the door (ask dsm/protocol/protocol.hpp)")
            if ROOMS.index(room(target)) > ROOMS.index(room(file)):
                found.append(f"{path}:{number}: includes {target}, which lies above it (let {room(target)}/ call instead)")
    for folder in sorted({room(file) for file in uses}):
        files = [path for path in texts if room(stem(path)) == folder]
        if len(files) > MOST_FILES_IN_ROOM:
            found.append(f"native/{folder}:1: holds {len(files)} files (at most {MOST_FILES_IN_ROOM}: divide it)")
        storeys = longest_chain({f: {t for t in uses[f] if room(t) == folder} for f in uses if room(f) == folder})
        if storeys > MOST_STOREYS:
            found.append(f"native/{folder}:1: has {storeys} storeys (at most {MOST_STOREYS})")
    return found


def longest_chain(uses: dict[str, set[str]]) -> int:
    """Number of files on the longest way along `uses`, on which files that reach each other count as one."""

    def reached_from(file: str) -> set[str]:
        reached: set[str] = set()
        waiting = [file]
        while waiting:
            for target in uses[waiting.pop()] - reached:
                reached.add(target)
                waiting.append(target)
        return reached

    below = {file: reached_from(file) for file in uses}
    heights: dict[str, int] = {}
    # What a file reaches outside of its circle reaches less than the file does.
    for file in sorted(uses, key=lambda one: len(below[one] | {one})):
        heights[file] = 1 + max((heights[one] for one in below[file] if file not in below[one]), default=0)
    return max(heights.values(), default=0)


def tracked_files(checkout: Path) -> list[str]:
    """Paths that git tracks and that exist. Raises CalledProcessError outside a git checkout."""
    listing = subprocess.run(["git", "-C", str(checkout), "ls-files", "-z"], check=True, capture_output=True).stdout
    return [name for name in listing.decode().split("\0") if name and (checkout / name).is_file()]


def read_text(path: Path) -> str | None:
    """The file's text, or nothing for a binary or large file."""
    if path.stat().st_size > TEXT_LIMIT_BYTES:
        return None
    content = path.read_bytes()
    return None if b"\0" in content else content.decode("utf-8", errors="replace")


def check(checkout: Path) -> list[str]:
    """All violations among the files that git tracks."""
    found = []
    native = {}
    for name in tracked_files(checkout):
        found += check_folders(name)
        text = read_text(checkout / name)
        if text is None or name == "LICENSE":
            continue
        found += check_text(name, text)
        if Path(name).suffix in SOURCES:
            found += check_includes(name, text) + check_test_names(name, text)
            if name.startswith("native/"):
                native[name] = text
    return found + check_rooms(native)


class EachRuleFindsItsViolation(unittest.TestCase):
    def broken(self, path: str, line: str) -> int:
        return len(check_includes(path, f"#pragma once\n{line}\n"))

    def test_a_folder_may_not_include_one_below_it(self) -> None:
        self.assertEqual(self.broken("models/a.hpp", '#include "workloads/trace/reader.hpp"'), 1)
        self.assertEqual(self.broken("commands/a.cpp", '#include "workloads/trace/reader.hpp"'), 1)
        self.assertEqual(self.broken("workloads/a.cpp", '#include "sim/play.hpp"'), 1)
        self.assertEqual(self.broken("workloads/a.cpp", '#include "models/units.hpp"'), 0)
        self.assertEqual(self.broken("native/tracer/a.cpp", '#include "models/units.hpp"'), 0)

    def test_native_and_sim_do_not_know_each_other(self) -> None:
        self.assertEqual(self.broken("native/a.cpp", '#include "sim/play.hpp"'), 1)
        self.assertEqual(self.broken("sim/a.cpp", "# include <native/tracer/run.hpp>"), 1)

    def test_tests_are_included_by_nothing_but_tests(self) -> None:
        self.assertEqual(self.broken("sim/a.cpp", '#include "tests/catch.hpp"'), 1)
        self.assertEqual(self.broken("tests/sim/a.cpp", '#include "tests/catch.hpp"'), 0)

    def test_only_sim_includes_simgrid(self) -> None:
        self.assertEqual(self.broken("native/a.cpp", "#include <simgrid/s4u.hpp>"), 1)
        self.assertEqual(self.broken("models/a.cpp", "#include <xbt/log.h>"), 1)
        self.assertEqual(self.broken("sim/a.cpp", "#include <simgrid/s4u.hpp>"), 0)

    def test_models_knows_no_operating_system_file_or_clock(self) -> None:
        for header in ("sys/mman.h", "unistd.h", "fstream", "signal.h", "csignal", "thread", "time.h"):
            self.assertEqual(self.broken("models/a.hpp", f"#include <{header}>"), 1, header)
        for header in ("chrono", "cstdint", "vector", "fmt/format.h"):
            self.assertEqual(self.broken("models/a.hpp", f"#include <{header}>"), 0, header)
        self.assertEqual(self.broken("native/a.hpp", "#include <sys/mman.h>"), 0)

    def test_the_user_s_program_knows_no_trace_format(self) -> None:
        for folder in ("guest/openmp", "tracer", "dsm/wire", "launch"):
            self.assertEqual(self.broken(f"native/{folder}/a.hpp", '#include "workloads/trace/trace.hpp"'), 1, folder)
        self.assertEqual(self.broken("native/launch/trace/a.hpp", '#include "workloads/trace/trace.hpp"'), 0)
        self.assertEqual(self.broken("native/dsm/wire/a.hpp", '#include "models/program/events.hpp"'), 0)

    def test_quoted_includes_start_at_the_root(self) -> None:
        self.assertEqual(self.broken("sim/a.cpp", '#include "play.hpp"'), 1)
        self.assertEqual(self.broken("sim/a.cpp", '#include "../models/units.hpp"'), 1)
        self.assertEqual(self.broken("workloads/fft.cpp", '#include "sdsm/memory.h"'), 0)
        self.assertEqual(self.broken("tests/native/programs/single.c", '#include "expect.h"'), 0)
        self.assertEqual(self.broken("tests/native/programs/single.c", '#include "../expect.h"'), 1)

    def test_commented_out_and_unknown_folders_are_left_alone(self) -> None:
        self.assertEqual(self.broken("models/a.hpp", '// #include "sim/play.hpp"'), 0)
        self.assertEqual(self.broken("scripts/a.cpp", '#include "sim/play.hpp"'), 0)

    def test_paths_of_a_machine_and_unfinished_work_are_found(self) -> None:
        for line in ("see /" + "root/notes", "cd /" + "home/ann/build", "/" + "tmp/build-x/sdsm", "// TO" + "DO: rest"):
            self.assertEqual(len(check_text("docs/a.md", line + "\n")), 1, line)
        for line in ("#!/usr/bin/env python3", "results/tmp/x/y", "$work/" + "root/x", "/workloads/", '"/tmp/sdsm-XXXXXX"'):
            self.assertEqual(check_text("docs/a.md", line + "\n"), [], line)

    def test_no_protocol_is_called_by_its_name(self) -> None:
        self.assertEqual(self.broken("sim/a.cpp", "if (kind == ProtocolKind::jiajia) return;"), 1)
        self.assertEqual(self.broken("sim/a.cpp", "case ProtocolKind::name: return name##_room();"), 0)
        self.assertEqual(self.broken(REGISTRY, "return kind == ProtocolKind::home_open;"), 0)

    def test_headers_include_no_slow_header(self) -> None:
        for header in ("simgrid/s4u.hpp", "CLI/CLI.hpp", "nlohmann/json.hpp"):
            self.assertEqual(self.broken("sim/a.hpp", f"#include <{header}>"), 1, header)
        for header in ("simgrid/forward.h", "nlohmann/json_fwd.hpp"):
            self.assertEqual(self.broken("sim/a.hpp", f"#include <{header}>"), 0, header)
        self.assertEqual(self.broken("sim/a.cpp", "#include <CLI/CLI.hpp>"), 1)
        self.assertEqual(self.broken(ONLY_READER_OF_COMMAND_LINES, "#include <CLI/CLI.hpp>"), 0)

    def test_a_test_case_with_a_name_that_ctest_or_a_reader_cannot_take_is_found(self) -> None:
        for name in ("a page; its home", "--seed repeats a run", "a " * 13):
            self.assertEqual(len(check_test_names("tests/a.cpp", f'TEST_CASE("{name}") {{')), 1, name)
        self.assertEqual(check_test_names("tests/a.cpp", 'TEST_CASE("a page") { f(";"); }'), [])

    def test_a_room_of_native_includes_nothing_above_it(self) -> None:
        def broken(path: str, *includes: str) -> list[str]:
            text = "".join(f'#include "native/{one}"\n' for one in includes)
            return check_rooms({f"native/{path}": text})

        self.assertEqual(len(broken("dsm/memory/node.cpp", "dsm/openmp/team.hpp")), 1)
        self.assertEqual(broken("dsm/openmp/team.cpp", "dsm/memory/node.hpp", "dsm/openmp/team.hpp"), [])
        self.assertEqual(len(broken("dsm/protocol/scash/flushes.cpp", "dsm/protocol/single_writer/downgrades.hpp")), 1)
        self.assertEqual(broken("dsm/protocol/single_writer/flushes.cpp", "dsm/protocol/scash/copies.hpp"), [])
        self.assertEqual(len(broken("dsm/openmp/team.cpp", "dsm/protocol/scash/copies.hpp")), 1)
        self.assertEqual(len(broken("cellar/a.cpp")), 1)

    def test_a_room_of_native_with_many_files_or_storeys_is_found(self) -> None:
        def found(files: int, chain: int) -> int:
            texts = {f"native/bench/f{i}.hpp": "" for i in range(files)}
            for i in range(chain):
                texts[f"native/bench/f{i}.hpp"] = f'#include "native/bench/f{i + 1}.hpp"\n'
            return len([line for line in check_rooms(texts) if "bench" in line])

        self.assertEqual([found(25, 5), found(26, 5), found(25, 6)], [0, 1, 1])
        self.assertEqual(longest_chain({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}), 3)

    def test_a_folder_is_named_for_its_concept(self) -> None:
        self.assertEqual(len(check_folders("sim/utils/a.cpp")), 1)
        self.assertEqual(check_folders("sim/queue/utils.cpp"), [])


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        result = unittest.main(argv=[sys.argv[0]], exit=False).result
        return 0 if result.wasSuccessful() and result.testsRun > 0 else 1
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__, file=sys.stdout if arguments in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    checkout = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    try:
        found = check(checkout)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"sdsm: cannot list the files of {checkout}: {error} (is it a git checkout?)", file=sys.stderr)
        return 2
    for line in found:
        print(line)
    print(f"sdsm: layering: {len(found)} violation(s)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
