"""What it takes to add something: each patch here adds one thing to a copy of the checkout, in as few files as are said,
and the thing works. A patch that no longer applies is mended with what it met."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = SOURCE / "build"
ERRANDS = Path(__file__).parent


def output_of(*command: object, cwd: Path | None = None, status: int = 0) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, stdin=subprocess.DEVNULL)
    assert done.returncode == status, f"{command}: {done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout + done.stderr


def copied(folder: Path) -> Path:
    copy = folder / "checkout"
    for name in output_of("git", "-C", SOURCE, "ls-files", "-z").split("\0"):
        if name and (SOURCE / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, copy / name)
    return copy


def patched(folder: Path, patch: str, files: int) -> Path:
    """A copy of the checkout with the patch, which changes or adds at most that many files."""
    copy = copied(folder)
    changed = output_of("git", "apply", "--numstat", ERRANDS / patch, cwd=copy).splitlines()
    assert len(changed) <= files, changed
    output_of("git", "apply", ERRANDS / patch, cwd=copy)
    return copy


def command_for(like: str) -> str:
    """How the checkout's build compiles that source, by itself or in a file that includes it."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        if file == SOURCE / like or (file.suffix == ".cxx" and f'"{SOURCE / like}"' in file.read_text()):
            return str(entry["command"])
    raise AssertionError(f"{like} is not compiled")


def compiled(copy: Path, source: str, *further: str, like: str | None = None) -> Path:
    """The object of a source of the copy, compiled as the checkout's `like` is."""
    words = shlex.split(command_for(like or source))
    if "-include" in words:  # headers of the checkout, precompiled
        at = words.index("-include")
        del words[at : at + 2]
    target = copy / (source.replace("/", "-") + ".o")
    words[words.index("-o") + 1] = str(target)
    words[words.index("-c") + 1] = str(copy / source)
    output_of(*(f"-I{copy}" if word == f"-I{SOURCE}" else word for word in words), *further, cwd=BUILD)
    return target


def build(copy: Path, *targets: str) -> None:
    cache = (BUILD / "CMakeCache.txt").read_text()
    launchers = [f"-D{line}" for line in cache.splitlines() if line.startswith("CMAKE_CXX_COMPILER_LAUNCHER:")]
    output_of("cmake", "--preset", "release", "-DSDSM_WERROR=ON", "-DSDSM_TESTS=OFF", *launchers, cwd=copy)
    output_of("cmake", "--build", "--preset", "release", "--target", *targets, cwd=copy)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "laplace.trace"
    program = (BUILD / "workloads" / "laplace", "--impl", 4, "--size", 64, "--iterations", 4)
    output_of(BUILD / "sdsm", "trace", "-q", "-n", 4, "-o", path, "--", *program)
    return path


def test_a_third_network_is_one_file_and_one_row(tmp_path, trace):
    copy = patched(tmp_path, "third_network.patch", files=2)
    row = [line for line in (ERRANDS / "third_network.patch").read_text().splitlines() if line.startswith("+  row(")]
    assert len(row) == 2  # its own, and the one before it, whose line goes on now
    objects = (
        compiled(copy, "sim/ideal_network.cpp", like="sim/queue_network.cpp"),
        compiled(copy, "sim/network_table.cpp"),
    )
    link = output_of("ninja", "-t", "commands", "sdsm-simulate", cwd=BUILD).splitlines()[-1]
    command = copy / "sdsm-simulate"
    # The table stands before the library's own, which lies in one object with other files' code.
    linked = " ".join(map(str, objects))
    link = link.replace("-o sdsm-simulate ", f"-o {command} -Wl,--allow-multiple-definition {linked} ")
    output_of("sh", "-c", link, cwd=BUILD)
    assert "ideal: links that no messages compete for" in output_of(command, "--help")
    run = (command, trace, "-q", "-p", SOURCE / "platforms" / "p3-score.xml", "-n", 4, "--compute-factor", 1, "--json", "-", "--network")
    results = {name: json.loads(output_of(*run, name)) for name in ("queue", "ideal")}
    assert results["ideal"]["versions"]["network"] == "ideal"
    assert 0 < results["ideal"]["makespan_s"] < results["queue"]["makespan_s"]
    assert "none of queue, simgrid, ideal" in output_of(*run, "pigeons", status=2)


def test_a_reader_is_two_files(tmp_path):
    copy = patched(tmp_path, "ping_reader.patch", files=2)
    printed = tmp_path / "ping.txt"
    printed.write_text("PING b (10.0.0.2) 56(84) bytes of data.\n64 bytes from b: icmp_seq=1 ttl=64 time=0.31 ms\n")
    script = "import sys; from sdsm.readers import read; print(read(sys.argv[1]).measurements[0].values)"
    assert output_of(sys.executable, "-c", script, printed, cwd=copy / "python") == "(0.31,)\n"
    (copy / "python" / "sdsm" / "readers" / "ping.py").unlink()
    shutil.copy2(SOURCE / "python" / "sdsm" / "readers" / "__init__.py", copy / "python" / "sdsm" / "readers")
    assert "the output of no benchmark" in output_of(sys.executable, "-c", script, printed, cwd=copy / "python", status=1)


def test_an_eleventh_fault_kind_compiles_from_one_row_and_what_brings_it_about(tmp_path):
    copy = patched(tmp_path, "eleventh_fault_kind.patch", files=5)
    for source in ("sim/replay.cpp", "models/costs.cpp"):
        compiled(copy, source, "-fsyntax-only")


@pytest.mark.long
def test_an_eleventh_fault_kind_has_its_cost_and_its_keys(tmp_path, trace):
    copy = patched(tmp_path, "eleventh_fault_kind.patch", files=5)
    build(copy, "sdsm-simulate", "sdsm-check")
    sdsm, platform = copy / "build" / "sdsm", copy / "platforms" / "p3-score.xml"
    assert "fault.RROL" in output_of(sdsm, "check", "--properties")
    assert "nothing found" in output_of(sdsm, "check", platform)
    assert "missing property fault.RROL" in output_of(sdsm, "check", SOURCE / "platforms" / "p3-score.xml", status=2)
    run = (sdsm, "simulate", trace, "-q", "-p", platform, "-n", 2, "-t", 2, "--compute-factor", 1)
    output_of(*run, "--json", tmp_path / "r.json")
    thread = json.loads((tmp_path / "r.json").read_text())["threads"][0]
    assert list(thread["faults"])[-1] == list(thread["time_s"]["fault"])[-1] == "RROL"


def with_a_protocol(folder: Path) -> Path:
    """A copy of the checkout with a protocol: a folder each for its rules, its simulation and its runs, and a row."""
    copy = copied(folder)
    shutil.copytree(ERRANDS / "write_through", copy, dirs_exist_ok=True)
    registry = copy / "models" / "protocol" / "registry.hpp"
    rows, rest = registry.read_text().split("\n// clang-format on", 1)
    registry.write_text(
        rows + ' \\\n  row(write_through, "", "copies that outlive no barrier")\n// clang-format on' + rest
    )
    return copy


def test_a_protocol_is_a_folder_and_one_row(tmp_path):
    copy = with_a_protocol(tmp_path)
    compiled(copy, "models/write_through/tables.cpp", "-fsyntax-only", like="models/hardware/tables.cpp")
    compiled(copy, "sim/write_through_memory.cpp", "-fsyntax-only", like="sim/hardware_memory.cpp")
    door = "native/dsm/protocol"
    compiled(copy, f"{door}/write_through/write_through.cpp", "-fsyntax-only", like=f"{door}/registry.cpp")


@pytest.mark.long
def test_a_protocol_of_a_folder_and_one_row_simulates_and_runs_laplace(tmp_path):
    copy = with_a_protocol(tmp_path)
    build(copy, "sdsm-simulate", "sdsm-check", "sdsm-run", "sdsm-run-runtime")
    costs = {"fault.MISS": "600us", "message.fixed": "60us", "message.per-byte": "0.2us/B"}
    given = [word for name, value in costs.items() for word in ("--set", f"write-through.{name}={value}")]
    assert "write-through.fault.MISS" in output_of(copy / "build" / "sdsm", "check", "--properties")

    def laplace(impl: int, size: int, iterations: int) -> tuple[object, ...]:
        return (BUILD / "workloads" / "laplace", "--impl", impl, "--size", size, "--iterations", iterations)

    def threads_of(*command: object) -> list[dict]:
        output_of(copy / "build" / "sdsm", *command[:1], "-q", "-n", 4, "--protocol", "write-through", "--json", tmp_path / "r.json", *command[1:])
        result = json.loads((tmp_path / "r.json").read_text())
        assert result["protocol"] == "write-through"
        return result["threads"]

    def simulated(program: tuple[object, ...], *options: object) -> list[dict]:
        output_of(BUILD / "sdsm", "trace", "-q", "-n", 4, "-o", tmp_path / "p.trace", "--", *program)
        return threads_of("simulate", "-p", "p3-score", *given, *options, tmp_path / "p.trace")

    def threads(impl: int) -> list[dict]:
        found = simulated((*laplace(impl, 64, 4), "--no-check"), "--full-page-diffs")
        assert [thread["barriers"] for thread in found] == [6] * 4
        return found

    # 8 rows of 512 bytes a page, 8 pages a grid. Threads 1 to 3 read the region's function and the initial stack once.
    # By blocks a thread has its 2 pages, and in each of 4 iterations it reads one page of each neighbour.
    blocks = threads(4)
    assert [thread["faults"] for thread in blocks] == [{"MISS": misses} for misses in (4, 2 + 8, 2 + 8, 2 + 4)]
    assert [thread["diffs"] for thread in blocks] == [0] * 4
    # Round-robin, page p is at home with thread p mod 4. Rows 1 to 16, 17 to 32, 33 to 47 and 48 to 62 are written. Thread
    # 0 reads pages 0 to 2 and writes as many, of which 1 and 2 are elsewhere; thread 1 pages 2 to 4, all elsewhere;
    # thread 2 reads 4 to 6 (6 is its own) and writes 4 and 5; thread 3 reads 5 to 7 and writes 6 and 7 (7 is its own).
    round_robin = threads(2)
    assert [thread["faults"]["MISS"] for thread in round_robin] == [4 * 4, 2 + 4 * 6, 2 + 4 * 4, 2 + 4 * 3]
    assert [thread["diffs"] for thread in round_robin] == [4 * 2, 4 * 3, 4 * 2, 4 * 1]
    for thread in round_robin:
        assert thread["diff_bytes"] == thread["diffs"] * (8 + 4 + 4096)
        assert thread["messages_by_kind"]["words"] == thread["diffs"]
        assert thread["messages_by_kind"]["ask"] == thread["faults"]["MISS"]

    # The run checks its own result, and counts what the simulation counts.
    program = laplace(2, 128, 20)
    for run, simulation in zip(threads_of("run", "--", *program), simulated(program), strict=True):
        assert run["faults"]["MISS"] > 200
        for counted in ("faults", "diffs", "diff_bytes", "barriers"):
            assert run[counted] == simulation[counted]
        for kind in ("ask", "words", "come"):
            assert run["messages_by_kind"][kind] == simulation["messages_by_kind"][kind]
