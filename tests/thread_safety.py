#!/usr/bin/env python3
"""Checks with clang that state is touched by its owner only (native/guest/runtime/thread_safety.hpp).

    tests/thread_safety.py [BUILD]    BUILD: a configured build folder, build/ by default. One with headers that gcc has
                                      precompiled, which clang cannot read, will not do: configure it with
                                      -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON

Every source of native/ in the build's compile_commands.json is checked, without being compiled, and before them a
sample with an error, which clang has to find. Exit 0 clean, 1 violations, 2 bad usage, or no clang.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
CHECKS = ["-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Wthread-safety-beta", "-Werror"]
SAMPLE = """
#include "native/guest/runtime/thread_safety.hpp"
using namespace sdsm::program;
constinit Role owner{"the owner"};
Mutex mutex;
int owned GUARDED_BY(owner) = 0;
int locked GUARDED_BY(mutex) = 0;
void change() REQUIRES(owner) { ++owned; }
"""
RIGHT = "void right() { owner.check(); change(); const MutexLock held(mutex); ++locked; }"
#: Each has to be refused.
WRONG = ["void wrong() { change(); }", "void wrong() { ++owned; }", "void wrong() { ++locked; }",
         "void wrong() { mutex.lock(); }"]


def clang_complains(compiler: str, source: str) -> str:
    """What clang says of a source text; "" if nothing."""
    command = [compiler, "-std=c++20", "-x", "c++", f"-I{CHECKOUT}", *CHECKS, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False).stderr


def commands(build: Path) -> list[tuple[str, list[str]]]:
    """(folder, compiler's arguments) of each source of native/ but the benchmarks (.cxx: several as one), without what
    other compilers' warnings are called, and unoptimised: the C library's inline functions would clash with those of
    program/."""
    listed = json.loads((build / "compile_commands.json").read_text())
    found = {}
    for entry in listed:
        path = Path(entry["file"])
        is_ours = path.is_relative_to(CHECKOUT / "native") or path.is_relative_to(build.absolute() / "native")
        if path.suffix not in (".cpp", ".cxx") or not is_ours or path.parent.name == "bench":
            continue
        words = shlex.split(entry["command"])
        compiler = next(i for i, word in enumerate(words) if word.endswith("++"))
        output = words.index("-o")
        kept = words[compiler + 1 : output] + words[output + 2 :]
        found[path] = (entry["directory"], [word for word in kept if not word.startswith(("-W", "-O"))])
    return list(found.values())


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__, file=sys.stdout if arguments in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    build = Path(arguments[0]) if arguments else CHECKOUT / "build"
    compiler = shutil.which("clang++")
    if compiler is None:
        print("sdsm: clang++ is not here, which checks the owners of state: scripts/setup --format", file=sys.stderr)
        return 2
    if clang_complains(compiler, SAMPLE + RIGHT) or not all(clang_complains(compiler, SAMPLE + bad) for bad in WRONG):
        print(f"sdsm: {compiler} does not tell right from wrong in {Path(__file__).name}'s samples", file=sys.stderr)
        return 1
    try:
        sources = commands(build)
    except OSError as error:
        print(f"sdsm: {error} (configure first: cmake --preset release)", file=sys.stderr)
        return 2

    def check(source: tuple[str, list[str]]) -> str:
        folder, words = source
        command = [compiler, *words, *CHECKS]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode != 0 else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [complaint for complaint in pool.map(check, sources) if complaint]
    print("".join(complaints), end="")
    print(f"sdsm: thread safety: {len(complaints)} of {len(sources)} sources touch what is not theirs", file=sys.stderr)
    return 1 if complaints or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
