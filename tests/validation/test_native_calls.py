"""The run-times among the program's own functions, and every call of the kernel on shared memory (native/guest)."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.traces import shared
from tests.validation.native_runs import ASKED, BUILD

SOURCE = BUILD.parent
RUN = (BUILD / "sdsm-run", "-q", "-n", 2, "--")
LOCAL_PEERS = (BUILD / "sdsm-run", "-q", "--nodes", 2, "--threads-per-node", 2, "--")
TRACE = (BUILD / "sdsm-trace", "-q", "-n", 2, "--passes", 2, "-o", "out.trace", "--")
COMMANDS = pytest.mark.parametrize("command", [RUN, LOCAL_PEERS, TRACE], ids=["run", "local peers", "trace"])
RUN_TIMES = ("libsdsm-run.so", "libsdsm-trace.so")
TABLE = (SOURCE / "native/guest/kernel/system_calls.def").read_text()


def done(folder: Path, command: tuple, *program: object, status: int = 0) -> subprocess.CompletedProcess:
    words = [str(word) for word in (*command, *program)]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    assert result.returncode == status, result.stdout + result.stderr
    return result


def compiled(folder: Path, name: str, source: str, *options: object) -> None:
    (folder / f"{name}.c").write_text(source)
    words = ["gcc", "-O1", "-w", "-fopenmp", f"{name}.c", "-o", name, *map(str, options)]
    subprocess.run(words, cwd=folder, check=True)


def symbols(run_time: str, *options: str) -> set[str]:
    listed = subprocess.run(["nm", "-D", *options, BUILD / run_time], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines() if line.split()[-2] in "TtUW"}


@COMMANDS
def test_affinity_formats_give_what_libgomp_gives(tmp_path, command):
    """Lines of several threads on stderr come in any order, and OMP_DISPLAY_AFFINITY prints them for teams of another size."""
    environment = os.environ | {"OMP_NUM_THREADS": "4" if command == LOCAL_PEERS else "2"}
    for more in ({}, {"OMP_DISPLAY_AFFINITY": "TRUE", "OMP_AFFINITY_FORMAT": " %n of %N"}):
        words = [str(word) for word in (*command, ASKED / "affinity")]
        expected, found = (
            subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, env=environment | more, check=True, timeout=600)
            for program in (words[-1:], words)
        )
        assert found.stdout == expected.stdout
        # A trace runs the program three times.
        kept = set if command == TRACE else list
        assert sorted(kept(found.stderr.splitlines())) == sorted(kept(expected.stderr.splitlines()))


@COMMANDS
def test_an_affinity_format_that_is_none_ends_the_run_with_what_fields_there_are(tmp_path, command):
    source = "#include <omp.h>\n#include <stdlib.h>\nint main(int c, char** v) { omp_capture_affinity(NULL, 0, v[1]); return 0; }"
    compiled(tmp_path, "captures", source)
    for format in ("%0n", "%0.n", "%.n", "%z", "%{foo}", "%{host", "%"):
        assert "%{thread_num}" in done(tmp_path, command, "./captures", format, status=1).stderr


#: C reserves these, so who defines them does what they do; libgomp calls those of threads, and
#: that of Debian 13 secure_getenv, before main.
RESERVED = r"mem[^f]|str|malloc|calloc|realloc|free$|al|_|dl|(secure_)?getenv|abort|exit|printf|environ|stdout|stderr|pthread_|sched_getaff"
NAMES_MAIN = r"""
extern int printf(const char*, ...);
int main(void) {
  static double table[5000];
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 100)
  for (int i = 0; i < 5000; ++i) {
    table[i] = i;
#pragma omp critical
    sum += table[i];
  }
  int atomic = 0;
#pragma omp parallel for
  for (int i = 0; i < 100; ++i) {
#pragma omp atomic
    ++atomic;
  }
  printf("%g %d\n", sum, atomic);
}
"""


@pytest.mark.parametrize("run_time", RUN_TIMES)
def test_no_run_time_brings_the_cpp_library_into_a_program(run_time):
    """Which calls the program's functions of the C library's names when it ends (gcc 13 and later: its fflush)."""
    reported = subprocess.run(["readelf", "-d", BUILD / run_time], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in reported and "libstdc++" not in reported


def table_rows() -> list[tuple[str, str, str]]:
    """Macro, uses and name of each call that the table has."""
    rows = re.findall(r"^(CALLS|FUNCTIONS|NUMBERS)\(\((.*?)\), ([\w,\s]+)\)$", TABLE, re.M)
    return [(macro, uses, name) for macro, uses, names in rows for name in re.split(r",\s+", names)]


def zydis() -> str:
    """The library's path."""
    listed = subprocess.run(["ldd", BUILD / RUN_TIMES[0]], capture_output=True, text=True, check=True).stdout
    return re.findall(r"libZydis.* => (\S+)", listed)[0]


def built_with_functions_of_the_c_librarys_names(place: str) -> Path:
    """The folder of a program with them, and Zydis's, or of one whose library has them. Each ends the process that calls it."""
    names = {name for run_time in RUN_TIMES for name in symbols(run_time, "--undefined-only")}
    names |= symbols(zydis(), "--defined-only")
    names |= {name for macro, _, name in table_rows() if macro != "NUMBERS"} | {"usleep", "sched_yield", "clock_gettime", "fwrite"}
    names = {name for name in names if not re.match(RESERVED, name)}
    assert {"connect", "send", "bind", "read", "write", "poll", "socket", "link", "open", "usleep"} <= names
    assert {"ZydisDecoderDecodeInstruction", "ZydisRegisterEncode"} <= names
    functions = "".join(f"int {name}() {{ __builtin_trap(); }}\n" for name in sorted(names))

    def build(folder: Path) -> None:
        folder.mkdir()
        if place == "library":
            compiled(folder, "names.so", functions, "-fno-builtin", "-shared", "-fPIC", "-Wl,-soname,names.so")
            compiled(folder, "main", NAMES_MAIN, "./names.so", "-Wl,--no-as-needed,-rpath,$ORIGIN")
        else:
            compiled(folder, "main", functions + NAMES_MAIN, "-fno-builtin", "-rdynamic")

    return shared(f"functions of the C library's names in a {place}", build)


@COMMANDS
@pytest.mark.parametrize("place", ["program", "library"])
def test_a_program_may_have_functions_of_the_c_librarys_names(tmp_path, place, command):
    main = built_with_functions_of_the_c_librarys_names(place) / "main"
    assert done(tmp_path, command, main).stdout == "1.24975e+07 100\n"


@pytest.mark.parametrize("run_time", RUN_TIMES)
def test_the_run_times_have_no_templates_for_the_programs_libraries(run_time):
    """A library that has the same ones would use these, which allocate for the run-time. Functions of libstdc++'s that the
    run-time takes over are no templates."""
    taken_over = ("_ZNSt8ios_base15sync_with_stdioEb", "_ZNSt8ios_base6xallocEv", "_ZNSt10_Sp_locker", "_ZNKSt6locale2id5_M_idEv",
                  "_ZNSt6locale5_Impl16_M_install_cacheEPKNS_5facetEm")
    assert not [name for name in symbols(run_time, "--defined-only") if name.startswith("_Z") and not name.startswith(taken_over)]


def kernels_calls() -> dict[str, int]:
    text = subprocess.run(
        ["gcc", "-E", "-dM", "-include", "asm/unistd_64.h", "-x", "c", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)$", text, re.M)}


#: They would set the clock, wait, or believe that an address is a size.
NOT_CALLED = {"settimeofday", "clock_settime", "select", "rt_sigsuspend", "futex", "mincore"}


def numbers() -> dict[str, list[str]]:
    """Names of the kernel's calls that the table has numbers for, by what becomes of them."""
    found: dict[str, list[str]] = {"served": [], "rare": [], "refused": []}
    for macro, uses, name in table_rows():
        if macro == "FUNCTIONS" or name not in kernels_calls().keys() - NOT_CALLED:
            continue
        kind = re.search("refused|rare", uses)
        found[kind[0] if kind else "served"].append(name)
    return found


def test_the_table_has_a_call_once_and_knows_what_to_do_with_most_of_the_kernels():
    rows = table_rows()
    for macros in (("CALLS", "FUNCTIONS"), ("CALLS", "NUMBERS")):
        names = [name for macro, _, name in rows if macro in macros]
        assert len(names) == len(set(names))
    assert all(len(names) >= least for names, least in zip(numbers().values(), (120, 60, 14), strict=True))


@pytest.mark.parametrize(
    ("command", "step"),
    [(RUN, 1), (LOCAL_PEERS, 10), (TRACE, 10), *(pytest.param(one, 1, marks=pytest.mark.long) for one in (LOCAL_PEERS, TRACE))],
    ids=["run", "local peers", "trace", "all, local peers", "all, trace"],
)
def test_no_call_fails_for_shared_memory_and_others_end_by_name(tmp_path, command, step):
    calls, names = kernels_calls(), numbers()
    served = [calls[name] for name in names["served"]]
    assert done(tmp_path, command, ASKED / "every_call", *served).stdout == "0 fail\n"
    for name in names["refused"][::step]:
        assert f"syscall(SYS_{name}, ...)" in done(tmp_path, command, ASKED / "every_call", calls[name], status=1).stderr
    ended = 0
    for name in names["rare"][::step]:
        words = [str(word) for word in (*command, ASKED / "every_call", calls[name])]
        result = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert result.stdout == "0 fail\n" or f"syscall(SYS_{name}, ...)" in result.stderr
        ended += result.returncode
    assert ended > 0


#: Arguments of a program, and what it prints.
PRINTED = {
    "a library's initial functions run once": (("init",), "1"),
    "a program may have a malloc of its own": (("own_malloc",), "499500"),
    # An address of the program's own stands for the function, which is not the program's.
    "a program may take the address of malloc": (("address_of_malloc",), "0 wrong"),
    "a thread may sleep for a time in memory that another wrote": (("shared_times",), "0 0 0"),
    "a futex waits until its limit and is requeued": (("futexes",), "0 wrong"),
    # The tracer's signals, by which it lets other threads go on, ended nearly every wait of 20 ms with EINTR.
    "a wait ends by its limit, not by the run-time's signals": (("limited_waits",), "0 wrong"),
    "a wait in a program with a handler ends by its limit": (("limited_waits", "handler"), "0 wrong"),
    "a signal ends a wait, and calls the program's handler": (("handlers",), "0 wrong"),
    "a handler runs on the stack of its thread, whatever sigaltstack says": (("other_stack",), "1 0"),
    "the limit of tasks' priorities is what the environment says": (("priority",), "7"),
}


@COMMANDS
@pytest.mark.parametrize("name", PRINTED)
def test_a_program_of_calls_prints_what_it_should(tmp_path, monkeypatch, name, command):
    monkeypatch.setenv("OMP_MAX_TASK_PRIORITY", "7")
    (program, *arguments), expected = PRINTED[name]
    assert done(tmp_path, command, ASKED / program, *arguments).stdout == f"{expected}\n"


@pytest.mark.parametrize("command", [RUN, LOCAL_PEERS], ids=["run", "local peers"])
def test_a_futex_without_a_limit_ends_now_and_then_for_re_checks(tmp_path, command):
    """A semaphore of the C++ library waits for its value to change from one that it has again: nobody wakes it then (one
    of 150 runs of queues.cpp). And nobody wakes who waits for a small variable, if a copy of their number is older."""
    assert done(tmp_path, command, ASKED / "early_futex").stdout == "0 0\n"


@pytest.mark.parametrize("threads", [(RUN, 3), (LOCAL_PEERS, 4), (TRACE, 3)], ids=["run", "local peers", "trace"])
def test_a_futex_lasts_until_its_limit_and_loses_no_wake(tmp_path, threads):
    """A wait that re-checks every 5 ms lost wakes in between: 11 of 100, and lasted 2 to 10 times its limit."""
    options, number = threads
    command = tuple(number if before == "-n" else word for before, word in zip(("", *options), options, strict=False))
    assert done(tmp_path, command, ASKED / "futex_times").stdout == "0 wrong, 0 lost, 0 overlooked, in time\n"
