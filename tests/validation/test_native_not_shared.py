"""What does a program hear that uses memory which `sdsm run` does not share?"""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.validation.native_runs import ASKED, BUILD, MarkedRun, hosts

PROGRAM = ASKED / "foreign"


@pytest.mark.parametrize(
    ("what", "said"),
    [("mapped", "the program touched address 0x123450000000, where this process has no memory"),
     ("null", "the program used a null pointer (address 0x0)"),
     ("recursion", "the thread's stack is full (address 0x3")],
)  # fmt: skip
def test_the_address_is_named_and_the_likely_reason(what, said):
    with MarkedRun("-q", "-n", 2, "--", PROGRAM, what) as run:
        assert run.end() == 1
        assert run.errors.startswith(f"sdsm: process 1 on node 1 ended the run: {said}"), run.errors
        assert ('docs/contract.md, "What is not shared"' in run.errors) == (what == "mapped")
        assert run.errors.count("\n") == 1


@pytest.mark.parametrize("layout", [("-n", 2), ("--nodes", 1, "--threads-per-node", 2)], ids=["nodes", "local peers"])
def test_another_process_never_takes_the_c_librarys_memory_for_its_own(layout):
    """Each has opened a folder: at one address, the second thread would read its own."""
    with MarkedRun("-q", *layout, "--", ASKED / "folders") as run:
        assert run.end() == 1
        assert "in memory that the C library, or the program by sbrk, got in process 0" in run.errors, run.errors
        assert 'docs/contract.md, "What is not shared"' in run.errors and run.errors.count("\n") == 1


def test_a_handler_of_the_programs_own_gets_the_fault():
    with MarkedRun("-q", "-n", 2, "--", PROGRAM, "handler") as run:
        assert run.end() == 0, run.errors
        assert run.errors == "handled\n"


def test_a_handler_that_wants_one_fault_gets_one():
    with MarkedRun("-q", "-n", 2, "--", PROGRAM, "once") as run:
        assert run.end() == 1
        assert run.errors.startswith("told\nsdsm: process 1 on node 1 ended the run: the program touched address")


def test_constants_between_variables_are_reported_with_a_remedy():
    with MarkedRun("-q", "-n", 2, "--", ASKED / "apart") as run:
        assert run.end() == 1
        assert "a segment that is not writable lies between those of its variables" in run.errors, run.errors
        assert "linker" in run.errors and "4096" not in run.errors


def test_a_prediction_says_how_much_memory_it_leaves_out(tmp_path):
    trace = tmp_path / "mapped.trace"
    subprocess.run([BUILD / "sdsm-trace", "-q", "-n", "2", "-o", trace, "--", PROGRAM, "mapped"], check=True)
    command = [BUILD / "sdsm-simulate", trace, "--platform", BUILD.parent / "platforms" / "p3-score.xml", "--nodes", 2, "--json", "-"]
    ended = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=True)
    left_out = "touches of the 4096 bytes of memory that the program got by mmap"
    assert left_out in json.loads(ended.stdout)["uncosted"]
    assert left_out in ended.stderr


def test_unmapping_beyond_all_mappings_takes_no_block_and_no_time(tmp_path):
    for command in ((BUILD / "sdsm-run", "-q", "-n", "2"), (BUILD / "sdsm-trace", "-q", "-n", "2", "-o", tmp_path / "t.trace")):
        subprocess.run([*command, "--", ASKED / "unmaps"], check=True, timeout=600)


@pytest.mark.parametrize("built", ["O0", "O2", "no_plt"])
def test_what_fortrans_functions_of_arrays_return_is_the_programs(tmp_path, built):
    """libgfortran allocates it, and another thread reads and frees it."""
    program = ASKED / f"results_{built}"
    for layout in (("-n", 2), ("-n", 3), ("--nodes", 2, "--threads-per-node", 2), ("-n", 2, "--protocol", "jiajia")):
        with MarkedRun("-q", *layout, "--", program) as run:
            assert (run.end(), run.errors) == (0, "")
    subprocess.run([BUILD / "sdsm-trace", "-q", "-n", "2", "-o", tmp_path / "a.trace", "--", program], check=True)


@pytest.mark.parametrize("command", [("sdsm-run",), ("sdsm-trace", "--passes", "1", "-o", "a.trace")], ids=" ".join)
def test_fortrans_internal_io_takes_as_long_as_without_sdsm(tmp_path, command):
    """libgfortran allocates for each statement, which nobody may look up by name each time."""
    program = ASKED / "writes"

    def seconds_each(*words) -> float:
        """The least of three runs: other programs of the machine lengthen it."""
        runs = (subprocess.run([*words, program], cwd=tmp_path, stdout=subprocess.PIPE, check=True) for _ in range(3))
        return min(float(run.stdout) for run in runs)

    assert seconds_each(BUILD / command[0], "-q", *command[1:], "-n", "2", "--") < 3 * seconds_each()


@pytest.mark.parametrize("command", ["sdsm-run", "sdsm-trace"])
def test_an_allocator_that_cannot_be_kept_is_none_with_a_note(tmp_path, command):
    options = ("--passes", "1", "-o", tmp_path / "a.trace") if command == "sdsm-trace" else ()
    words = [BUILD / command, "-q", *options, "-n", "2", "--", ASKED / "pool"]
    done = subprocess.run(words, capture_output=True, text=True)
    note = "sdsm: note: omp_init_allocator gives omp_null_allocator: the trait pool_size is not supported\n"
    assert (done.returncode, done.stderr) == (0, note)


def test_memory_that_the_c_library_keeps_for_itself_is_refused_in_other_processes():
    done = subprocess.run([BUILD / "sdsm-run", "-q", "-n", "2", "--", ASKED / "matches"], capture_output=True, text=True)
    assert done.returncode == 1 and "in memory that the C library" in done.stderr


def test_functions_of_the_c_library_answer_as_it_does():
    with MarkedRun("-q", "-n", 2, "--", ASKED / "answers") as run:
        assert (run.end(), run.errors) == (0, "")


def test_a_signal_whose_handler_another_thread_set_ends_the_run():
    command = [BUILD / "sdsm-run", "--quiet", "-n", "2", "--", ASKED / "handler"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1
    assert "process 1 on node 1 was killed by signal 12" in done.stderr and "set it in a parallel region, by each thread" in done.stderr


def notes_of(folder, *program: object) -> list[str]:
    command = [str(part) for part in (BUILD / "sdsm-run", "--quiet", "-n", 2, "--", *program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder, check=True)
    return [line for line in done.stderr.splitlines() if line.startswith("sdsm: note: ")]


@pytest.mark.parametrize(
    ("arguments", "said"), [((), "rand gives each thread the same numbers"), (("s",), None), (("i",), None), (("e",), "what a thread sets by setenv holds")]
)
def test_what_differs_between_processes_is_reported_where_it_is_used(tmp_path, arguments, said):
    notes = notes_of(tmp_path, ASKED / "numbers", *arguments)
    assert (len(notes) == 1 and said in notes[0] and "What is not shared" in notes[0]) if said else notes == []


@pytest.mark.parametrize(("how", "unit"), [("initial", 10), ("output", 6), ("rewind", 10), ("close", 10), ("each", None), ("alone", None)])
@pytest.mark.parametrize("layout", [("-n", 2), ("--nodes", 1, "--threads-per-node", 2), hosts(2)], ids=["nodes", "local peers", "hosts"])
def test_a_unit_that_only_another_thread_has_open_is_refused(tmp_path, how, unit, layout):
    if shutil.which("gfortran") is None:
        pytest.skip("no gfortran")
    with MarkedRun("-q", *layout, "--", ASKED / "units", how, cwd=tmp_path) as run:
        assert run.end() == (0 if unit is None else 1), run.errors
        if unit is not None:
            assert f"reads or writes unit {unit} of Fortran, which is open in process 0 alone" in run.errors
            return
    lines = (tmp_path / "units.txt").read_text().splitlines()
    assert sorted(int(line) for line in lines) == ([0, 1] if how == "each" else [0])


def test_a_unit_that_no_thread_has_opened_is_reported(tmp_path):
    if shutil.which("gfortran") is None:
        pytest.skip("no gfortran")
    (note,) = notes_of(tmp_path, ASKED / "units", "nobody")
    assert "opens the file fort.10 for a unit that is not open in the thread" in note


def test_a_descriptor_from_200_on_is_its_processs_own(tmp_path):
    with MarkedRun("-q", "-n", 2, "--", ASKED / "opens", "higher", cwd=tmp_path) as run:
        assert run.end() == 1
        assert "uses descriptor 250, which process 0 opened. Descriptors from 200 on are their process's own" in run.errors


@pytest.mark.parametrize(
    ("what", "said"),
    [("descriptor", "uses descriptor 3, which process 0 opened. The processes of other hosts do not have it"),
     ("stream", "uses a stream (FILE*, or of C++) that process 0 opened, and that this process does not have"),
     ("output", "prints to standard output, which the program has sent to a file on another host"),
     ("alone", None)],
)  # fmt: skip
def test_a_file_of_another_host_is_refused_where_it_is_used(tmp_path, what, said):
    with MarkedRun("-q", *hosts(2), "--", ASKED / "opens", what, cwd=tmp_path) as run:
        assert run.end() == (0 if said is None else 1), run.errors
        assert (said in run.errors) if said else run.errors == ""
    with MarkedRun("-q", "-n", 2, "--", ASKED / "opens", what, cwd=tmp_path) as run:
        assert (run.end(), run.errors) == (0, "")
