"""Shared libraries of a program: their variables are shared, their constructors run before that, in process 0, and some come by dlopen."""

from __future__ import annotations

import ctypes
import json
import re
import struct
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED, BUILD, thinned

SOURCE = BUILD.parent
RUN = (BUILD / "sdsm-run", "-q", "-n", 4, "--")
SHARED = (BUILD / "sdsm-run", "-q", "--nodes", 2, "--threads-per-node", 2, "--")
TRACE = (BUILD / "sdsm-trace", "-q", "-n", 4, "-o", "out.trace", "--")
ORDINARY = ("env", "OMP_NUM_THREADS=4")
COMMANDS = pytest.mark.parametrize("command", [RUN, TRACE], ids=["run", "trace"])


def build(folder: Path, compiler: str, *words: object) -> None:
    subprocess.run([compiler, "-O2", "-fopenmp", *map(str, words)], cwd=folder, check=True)


def lines(folder: Path, command: tuple, *program: object) -> list[str]:
    words = [str(word) for word in (*command, *program)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


#: By whatever commands and programs, and arguments and what each prints.
PRINTED = {
    "OpenMP in a constructor has one thread and knows the maximum": (
        (RUN, TRACE), ("constructor",), ["4 4 1 50"] * 2),
    # The library that uses it is not the program's own, but one that its library needs.
    "a program whose libraries alone use OpenMP": ((RUN, TRACE, ORDINARY), ("serial",), ["333283335000 2999750005000"]),
    "a library of Fortran that comes by dlopen prints": (
        (RUN, TRACE), ("loads_fortran", ASKED / "prints_library.so"), ["from c", "from fortran", "from c again"]),
    # The dynamic linker is locked meanwhile: nothing that others need of this process may look a function up.
    "a constructor of what comes by dlopen may wait for another thread": (
        (RUN, TRACE), ("loads_waiting", ASKED / "waits_library.so"), ["end"]),
    "the static data of a program's libraries is shared, unoptimised": ((RUN, SHARED, TRACE), ("static_data_O0",), ["0 0 4"]),
    "the static data of a program's libraries is shared, optimised": ((RUN, SHARED, TRACE), ("static_data_O2",), ["0 0 4"]),
    "what main sets of the C++ library holds for its process": ((RUN, SHARED), ("cpp_state",), ["1 have it"]),
    # Records of another byte order, with longer marks, set by the compiler's code at the begin of main.
    "every thread has the arguments and options of Fortran's main": (
        (ORDINARY, RUN, SHARED, TRACE), ("settings", "one", "two"), [" 2 one    16777216"] * 4),
    # getopt sorts the array, strtok divides the text.
    "all threads see what main makes of its arguments": (
        (ORDINARY, RUN, SHARED, TRACE), ("arguments", "a,b", "-v"), ["4 of 4"]),
    # They wait in the C library. Its holder goes on at atomic operations, where else others would have their turn: each
    # of which would then take as long as it takes to interrupt one that does nothing, minutes in all.
    "a trace goes on where threads wait for a library's lock": (
        (TRACE,), ("loading_often", ASKED / "locking.so"), ["8000 7999"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_a_program_with_libraries_prints_what_it_should(tmp_path, name):
    commands, (program, *arguments), expected = PRINTED[name]
    for command in commands:
        assert lines(tmp_path, command, ASKED / program, *arguments) == expected


#: clang's call of a parallel region, and the run-time that has it.
CALLS_LIBOMP = "void __kmpc_fork_call(void *, int, void *, ...); void library(void) { __kmpc_fork_call(0, 0, 0); }\n"
LIBOMP = "void __kmpc_fork_call(void *where, int count, void *task, ...) { (void)where; (void)count; (void)task; }\n"


@pytest.mark.parametrize("own", ["", "#include <omp.h>\ndouble now(void) { return omp_get_wtime(); }\n"], ids=["plain", "clock"])
@COMMANDS
def test_a_library_for_libomp_is_named_as_the_reason(tmp_path, command, own):
    """The program has nothing of OpenMP, or asks it for the time alone."""
    (tmp_path / "libomp.c").write_text(LIBOMP + "double omp_get_wtime(void) { return 0; }\n")
    (tmp_path / "solver.c").write_text(CALLS_LIBOMP)
    (tmp_path / "main.c").write_text(own + "void library(void); int main(void) { library(); return 0; }\n")
    plain = ("gcc", "-fno-openmp", "-L.", "-Wl,-rpath,$ORIGIN")
    build(tmp_path, *plain, "-shared", "-fPIC", "-o", "libomp.so.5", "libomp.c")
    build(tmp_path, *plain, "-shared", "-fPIC", "-o", "libsolver.so", "solver.c", "-l:libomp.so.5")
    build(tmp_path, *plain, "-o", "main", "main.c", "-lsolver", "-l:libomp.so.5")
    words = [str(word) for word in (*command, "./main")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2, done.stderr
    assert f"./main: {tmp_path}/libsolver.so, which it needs, is built for libomp" in done.stderr
    assert "does not use OpenMP" not in done.stderr


def test_a_program_with_many_libraries(tmp_path):
    count = 80
    for number in range(count):
        (tmp_path / f"l{number}.c").write_text(f"int v{number}; int f{number}(void) {{ return v{number} += {number}; }}\n")
        build(tmp_path, "gcc", "-fno-openmp", "-O0", "-shared", "-fPIC", "-o", f"lib{number}.so", f"l{number}.c")
    called = " ".join(f"int f{number}(void);" for number in range(count))
    added = " ".join(f"if (i == {number}) f{number}();" for number in range(count))
    total = "+".join(f"f{number}()" for number in range(count))
    source = f"{called}\nint main(void) {{\n#pragma omp parallel for\nfor (int i = 0; i < {count}; ++i) {{ {added} }}\n"
    (tmp_path / "main.c").write_text(f'#include <stdio.h>\n{source}printf("%d\\n", {total}); return 0; }}\n')
    libraries = [tmp_path / f"lib{number}.so" for number in range(count)]
    build(tmp_path, "gcc", "-o", "main", "main.c", *libraries)
    for command in (RUN, TRACE):
        assert lines(tmp_path, command, "./main") == [str(2 * sum(range(count)))]


def test_what_the_c_library_loads_is_no_library_of_the_program(tmp_path):
    """By iconv, say: nobody can link that to the program, as a note advised."""
    for command in (RUN, TRACE):
        done = subprocess.run([*map(str, command), ASKED / "iconv"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert (done.stdout, "dlopen" in done.stderr) == ("opened\n", False), done.stderr


USES_ZYDIS = """
#include <Zydis/Zydis.h>
#include <stdio.h>
int main(void) {
  const unsigned char code[] = {0xf0, 0x48, 0x0f, 0xc1, 0x07};
  int bytes = 0;
#pragma omp parallel for reduction(+ : bytes)
  for (int i = 0; i < 1000; ++i) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction found;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, sizeof code, &found))) bytes += found.length;
  }
  printf("%d\\n", bytes);
}
"""


def test_zydis_is_the_run_times_library_whether_or_not_the_program_uses_it(tmp_path):
    """Its variables are no region."""
    (tmp_path / "main.c").write_text(USES_ZYDIS)
    build(tmp_path, "gcc", "-o", "main", "main.c", "-lZydis")
    for command in (RUN, SHARED, TRACE, ORDINARY):
        assert lines(tmp_path, command, "./main") == ["5000"]
    for program in (tmp_path / "main", ASKED / "constructor"):
        lines(tmp_path, TRACE, program)
        assert "Zydis" not in "".join(line for line in lines(tmp_path, (BUILD / "sdsm", "trace", "dump"), "out.trace") if "region" in line)


USES_A_FACET = """
#include <omp.h>
#include <cstdio>
#include <locale>
struct Own : std::locale::facet { static std::locale::id id; };
std::locale::id Own::id;
int main() {
  int found = 0;
#pragma omp parallel num_threads(2) reduction(+ : found)
  for (int turn = 0; turn < 2; ++turn) {
#pragma omp barrier
    if (Own* const own = new Own; turn == omp_get_thread_num())
      found += std::has_facet<Own>(std::locale(std::locale::classic(), own));
  }
  std::printf("%d\\n", found);
}
"""


def test_each_thread_acquires_a_facets_number_although_it_finds_it(tmp_path):
    """Whether another thread's store of it is there yet may differ from pass to pass."""
    (tmp_path / "main.cpp").write_text(USES_A_FACET)
    build(tmp_path, "g++", "-o", "main", "main.cpp")
    assert lines(tmp_path, TRACE, "./main") == ["2"]
    dumped = [json.loads(line) for line in lines(tmp_path, (BUILD / "sdsm", "trace", "dump"), "out.trace")]
    takes = [line["thread"] for line in dumped if line.get("type") == "interval" and line["end"]["kind"] == "acquire"]
    assert sorted(takes) == [0, 1]


@pytest.mark.parametrize("program", thinned(2, ["containers", "atomic_shared_pointers", "exceptions", "library_guards",
                                                "library_locales", "library_waits"]))
def test_a_program_may_hold_the_cpp_library_itself(tmp_path, program):
    """Its state then lies in the program's variables, which are shared, and is never that of the process's own library."""
    source = SOURCE / "tests" / "native" / "programs" / f"{program}.cpp"
    include = f"-I{SOURCE / 'workloads' / 'include'}"
    build(tmp_path, "g++", "-std=c++20", "-O0", "-static-libstdc++", include, "-o", "main", source)
    alone = lines(tmp_path, ORDINARY, "./main")
    for command in (RUN, SHARED, TRACE):
        assert lines(tmp_path, command, "./main") == alone


def test_threads_that_seed_themselves_get_the_same_random_numbers_everywhere(tmp_path):
    alone = lines(tmp_path, ORDINARY, ASKED / "seeded")
    assert len(set(alone)) == 4
    for command in (RUN, SHARED, TRACE):
        assert lines(tmp_path, command, ASKED / "seeded") == alone


def test_folder_mask_and_locale_of_main_hold_for_all_threads(tmp_path):
    (tmp_path / "inside").mkdir()
    for command in (RUN, SHARED):
        assert lines(tmp_path, ("env", "-u", "LC_ALL", *command), ASKED / "state") == ["4 of 4"] * 3
        assert {path.name for path in (tmp_path / "inside").iterdir()} == {f"{name}{i}" for name in ("second", "third") for i in range(4)}


def test_libraries_that_come_by_dlopen_are_each_processes_own(tmp_path):
    program = (ASKED / "loading", ASKED / "loaded.so")

    def done(command: tuple, *arguments: object) -> subprocess.CompletedProcess:
        words = [str(word) for word in (*command, *arguments)]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)

    each = done(RUN, *program, "each")
    assert each.stdout == "400 100\n"
    assert each.stderr.count(f"note: {program[1]} comes by dlopen: each process has its own variables of it") == 1
    assert done(TRACE, *program).stdout == "400 400\n"
    assert re.search(r"^ +1 +\d+  dlopen$", done((BUILD / "sdsm-trace",), "info", "out.trace").stdout, re.M)
    ended = done(RUN, *program)
    assert ended.returncode == 1
    assert "the program touched address 0x" in ended.stderr and "loaded by dlopen" in ended.stderr


def without_executable_stacks() -> None:
    """personality(2) may not ask for READ_IMPLIES_EXEC; it may ask what is, and for anything else."""
    load, equals, has, returns = 0x20, 0x15, 0x45, 0x06  # of words; BPF_JMP | BPF_JEQ | BPF_K, | BPF_JSET; BPF_RET | BPF_K
    number, argument = 0, 16  # offsets in struct seccomp_data
    allowed, refused = 0x7FFF0000, 0x00050001  # SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO with EPERM
    personality_number, ask_only, read_implies_exec = 135, 0xFFFFFFFF, 0x0400000
    program = [
        (load, 0, 0, number), (equals, 0, 4, personality_number), (load, 0, 0, argument), (equals, 2, 0, ask_only),
        (has, 0, 1, read_implies_exec), (returns, 0, 0, refused), (returns, 0, 0, allowed),
    ]  # fmt: skip
    filters = b"".join(struct.pack("<HBBI", *one) for one in program)
    kept = ctypes.create_string_buffer(filters)
    described = ctypes.create_string_buffer(struct.pack("<H6xQ", len(program), ctypes.addressof(kept)))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or libc.prctl(seccomp, by_filter, ctypes.byref(described), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


@COMMANDS
def test_without_executable_stacks_only_programs_with_code_there_are_refused(tmp_path, command):
    assert lines(tmp_path, command, ASKED / "nested_function") == ["20"]
    limited = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120, "preexec_fn": without_executable_stacks}
    done = subprocess.run([str(word) for word in (*command, ASKED / "silent_stack")], **limited)
    assert (done.returncode, done.stdout) == (0, "4 4 1 50\n"), done.stderr
    refused = subprocess.run([str(word) for word in (*command, ASKED / "nested_function")], **limited)
    assert refused.returncode != 0
    assert "Allow the system call personality" in refused.stderr
