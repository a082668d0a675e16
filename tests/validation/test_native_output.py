"""What threads print comes out in the order that barriers and locks give it, also to a pipe, whose text each process
collects before it writes it."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.validation.native_runs import ASKED, BUILD, COMMAND, hosts, output_of

LAYOUTS = pytest.mark.parametrize("layout", [("-n", 4), ("--nodes", 2, "--threads-per-node", 2)], ids=["nodes", "shared"])
TURNS = [f"turn {i}" for i in range(20)]


@LAYOUTS
def test_lines_come_in_the_order_of_barriers_and_turns(layout):
    printed = output_of(COMMAND, "--quiet", *layout, "--", ASKED / "prints")
    assert printed.splitlines() == ["begin", *TURNS, "before the barrier", "behind the barrier", "end"]


@pytest.mark.parametrize("where", [("-n", 4), ("--nodes", 2, "--threads-per-node", 2), hosts(2)], ids=["nodes", "shared", "hosts"])
def test_lines_are_whole_however_they_are_printed(where):
    lines = output_of(COMMAND, "--quiet", *where, "--", ASKED / "prints_lines").splitlines()
    threads = len({line[0] for line in lines})
    assert not [line for line in lines if not re.fullmatch(r"(\d) \d+ ([a-z])?\2* \1|(\d) \d+  \3", line)]
    assert len(lines) == threads * (2500 + 100 * 500)


@LAYOUTS
@pytest.mark.parametrize(
    ("program", "errors"),
    [
        (("prints_fortran",), ""),
        (("prints_streams",), "".join(f"and {i}\n" for i in range(20))),
        (("prints_streams", "apart"), "".join(f"and {i}\n" for i in range(20))),
    ],
)
def test_fortrans_and_cpps_own_output_loses_no_line(tmp_path, layout, program, errors):
    command = [str(word) for word in (COMMAND, "--quiet", *layout, "--", ASKED / program[0], *program[1:])]
    # To a file, of which the libraries know that nobody waits for it.
    with (tmp_path / "output").open("w") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, errors)
    assert (tmp_path / "output").read_text().splitlines() == [*TURNS, "end"]


@LAYOUTS
def test_what_fortran_prints_may_be_computed_in_parallel(layout):
    lines = output_of(COMMAND, "--quiet", *layout, "--", ASKED / "asking").splitlines()
    assert (lines[0], lines[-1]) == ("sum 5050", "sum 55")
    assert sorted(lines[1:-1]) == [f"thread {i}" for i in range(1, 5)]


def test_libgomps_bindings_are_set_aside_with_a_note():
    """It would bind every process to the first place."""
    environment = os.environ | {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores", "GOMP_CPU_AFFINITY": "0"}
    words = [BUILD / "sdsm-run", "-n", "2", "--", ASKED / "show_environment"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert "OMP_PROC_BIND" not in done.stdout and "OMP_PLACES" not in done.stdout and "GOMP_CPU" not in done.stdout
    assert "sdsm: note: OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY have no effect here. `sdsm run --bind`" in done.stderr
