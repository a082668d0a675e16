"""Does `sdsm run --hosts` compute on several hosts what it computes on one, and with what an ordinary machine computes?
The hosts are addresses of this machine, each with an agent of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.validation.native_runs import (
    ADDRESSES,
    ASKED,
    COMMAND,
    MEMORY_PROGRAMS,
    MarkedRun,
    hosts,
    laplace,
    output_of,
    tcp_sockets,
)

#: Hosts, nodes, threads of each node.
LAYOUTS = ((2, 2, 1), (3, 3, 1), (2, 2, 2), (2, 4, 1), (3, 6, 2))


def run_on_hosts(count: int, nodes: int, threads_per_node: int, *program: object) -> str:
    layout = ("--nodes", nodes, "--threads-per-node", threads_per_node)
    with MarkedRun("--quiet", *hosts(count), *layout, "--", *program) as run:
        assert run.end() == 0, run.errors
        assert run.errors == ""
        return run.output


@pytest.mark.parametrize(
    ("impl", "count", "nodes", "threads_per_node"), [(1, 2, 2, 1), (4, 3, 3, 1), (1, 2, 2, 2), (4, 2, 4, 1)]
)
def test_laplace_ends_with_the_same_bits_as_under_libgomp(
    tmp_path, impl, count, nodes, threads_per_node
):
    program = laplace(impl, 64, 100, "--hot", "top,left")
    environment = {**os.environ, "OMP_NUM_THREADS": str(nodes * threads_per_node)}
    ordinary = [str(part) for part in (*program, "--output", tmp_path / "ordinary")]
    subprocess.run(ordinary, check=True, capture_output=True, env=environment, timeout=600)
    run_on_hosts(count, nodes, threads_per_node, *program, "--output", tmp_path / "hosts")
    assert (tmp_path / "hosts").read_bytes() == (tmp_path / "ordinary").read_bytes()
    assert (tmp_path / "hosts").stat().st_size == 64 * 64 * 8


@pytest.mark.parametrize(("limit", "status"), [("-s 4096", 0), ("-s unlimited", 1), ("-v 80000000", 1)])
def test_a_host_with_another_limit_computes_the_same_or_is_named(tmp_path, limit, status):
    """The other stacks lie behind the initial one, whose size is the launcher's for all; a smaller heap lies elsewhere."""
    script = tmp_path / "launcher"
    script.write_text(f'if mkdir {tmp_path}/first 2>/dev/null; then ulimit {limit}; fi\n"$@"\n')
    program = laplace(4, 64, 100, "--hot", "top,left", "--output", tmp_path / "grid")
    subprocess.run([str(part) for part in program], check=True, capture_output=True, timeout=600)
    expected = (tmp_path / "grid").read_bytes()
    with MarkedRun("--quiet", "--hosts", "a,b", "--launcher", f"sh {script}", "--", *program) as run:
        assert run.end() == status, run.errors
        assert (run.errors == "") if status == 0 else ("limits (`ulimit -s`, `ulimit -v`)" in run.errors)
    assert (tmp_path / "grid").read_bytes() == expected


@pytest.mark.parametrize(("count", "nodes", "threads_per_node"), LAYOUTS)
def test_random_programs(count, nodes, threads_per_node):
    output = run_on_hosts(count, nodes, threads_per_node, MEMORY_PROGRAMS / "random_program", "--seed", 7 * count + nodes)
    assert output.startswith("1 programs")


@pytest.mark.long
@pytest.mark.parametrize(("count", "nodes", "threads_per_node"), LAYOUTS)
def test_many_random_programs(count, nodes, threads_per_node):
    program = (MEMORY_PROGRAMS / "random_program", "--seed", 1000 * count + nodes, "--programs", 100)
    assert run_on_hosts(count, nodes, threads_per_node, *program).startswith("100 programs")


@pytest.mark.long
def test_litmus_programs_show_no_forbidden_outcome():
    assert len(run_on_hosts(3, 3, 1, MEMORY_PROGRAMS / "litmus").splitlines()) >= 14


def test_each_host_is_reached_at_its_own_address_only():
    program = laplace(1, 512, 1_000_000)
    with MarkedRun("--quiet", *hosts(3), "--", *program) as run:
        run.wait_for(lambda: run.output, "the program's first line")
        assert run.listening_ports() == []
        own = run.sockets()
        addresses = {address for address, _, state, inode in tcp_sockets() if inode in own and state == "01"}
        assert addresses == {entry.split("=")[1] for entry in ADDRESSES}
        assert len(run.agents()) == 3
        run.process.terminate()
        assert run.end() == 1
        assert run.one_error().startswith("sdsm: interrupted by signal 15")


def test_the_secret_is_on_no_command_line_and_agents_get_nothing_else(tmp_path):
    log = tmp_path / "log"
    script = tmp_path / "launcher"
    script.write_text(f'echo "$@" >> {log}; env -i SDSM_TEST_MARK="$SDSM_TEST_MARK" "$@"\n')
    given = {"OMP_STACKSIZE": "1M", "SDSM_SOMETHING": "1", "LC_ALL": "C", "MY_OWN": "a b", "OTHER": "x", "DISPLAY": ":0"}
    options = ("--hosts", "a,b", "--launcher", f"sh {script}", "--export", "MY_OWN")
    with MarkedRun("--quiet", *options, "--", ASKED / "show_environment", environment=given) as run:
        assert run.end() == 0, run.errors
        printed = dict(line.split("=", 1) for line in run.output.splitlines())
    assert log.read_text().split() == [str(COMMAND.resolve()), "--agent"] * 2
    assert {name: printed.get(name) for name in given} == {**given, "OTHER": None, "DISPLAY": None}
    assert printed["OMP_NUM_THREADS"] == "2"
    assert "LD_PRELOAD" not in printed


def test_the_commands_folder_is_the_programs_on_each_host(tmp_path):
    program = laplace(4, 32, 10, "--output", "grid")
    folder = tmp_path / "here"
    folder.mkdir()
    with MarkedRun("--quiet", *hosts(2), "--", *program, cwd=folder) as run:
        assert run.end() == 0, run.errors
    assert (folder / "grid").stat().st_size == 32 * 32 * 8
    script = tmp_path / "launcher"
    script.write_text(f'rm -rf {folder}; exec "$@"\n')
    with MarkedRun("--quiet", "--hosts", "z", "--launcher", f"sh {script}", "--", *program, cwd=folder) as run:
        assert run.end() == 1
        assert f"host z: the folder {folder} cannot be entered" in run.errors


def test_a_full_folder_on_a_host_ends_the_program(tmp_path):
    with MarkedRun("--quiet", *hosts(2), "--", *laplace(4, 32, 10, "--output", "/dev/full")) as run:
        assert run.end() == 1
        assert "/dev/full" in run.errors
        assert "sdsm: the program ended with status" in run.errors


def test_results_name_the_hosts(tmp_path):
    with MarkedRun("-q", *hosts(3), "--json", tmp_path / "r.json", "--", *laplace(4, 32, 10)) as run:
        assert run.end() == 0, run.errors
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["options"]["hosts"] == ["a", "b", "c"]
    assert [thread["node"] for thread in document["threads"]] == [0, 1, 2]


def test_input_reaches_the_initial_thread_through_the_launcher():
    data = bytes(range(256)) * 4096
    writes = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096)"
    with (
        subprocess.Popen([sys.executable, "-c", writes], stdout=subprocess.PIPE) as source,
        MarkedRun("-q", *hosts(2), "--", ASKED / "sums_input", stdin=source.stdout) as run,
    ):
        assert run.end() == 0, run.errors
        assert run.output == f"{sum(data)} 2\n"


def test_paths_are_the_same_however_the_program_is_named():
    folder, name = Path(laplace(4, 32, 10)[0]).parent, "./laplace"
    with MarkedRun("-q", *hosts(2), "--", name, "--size", 32, "--iterations", 5, cwd=folder) as run:
        assert run.end() == 0, run.errors


@pytest.fixture
def two_hosts():
    """Names of two network namespaces on a bridge, at 10.213.9.2 and .3; this machine is at .1."""

    def ip(words: str) -> int:
        return subprocess.run(["ip", *words.split()], capture_output=True).returncode

    mark = f"s{os.getpid() % 100000}"
    bridge, names = f"{mark}b", [f"{mark}h2", f"{mark}h3"]
    if shutil.which("ip") is None or ip(f"link add {bridge} type bridge") != 0:
        pytest.skip("this machine lets nobody make networks of namespaces")
    try:
        calls = [f"addr add 10.213.9.1/24 dev {bridge}", f"link set {bridge} up"]
        for number, name in enumerate(names, start=2):
            calls += [f"netns add {name}", f"link add {mark}v{number} type veth peer name eth0 netns {name}"]
            calls += [f"link set {mark}v{number} master {bridge} up", f"-n {name} addr add 10.213.9.{number}/24 dev eth0"]
            calls += [f"-n {name} link set eth0 up", f"-n {name} link set lo up"]
        for words in calls:
            assert ip(words) == 0, words
        yield names
    finally:
        for number, name in enumerate(names, start=2):
            ip(f"link del {mark}v{number}")  # with its namespace it would go later
            ip(f"netns del {name}")
        ip(f"link del {bridge}")


def test_what_tcp_sends_again_is_counted(two_hosts, tmp_path):
    """The first host's segments to the second get lost until one has been sent again."""
    first, second = two_hosts
    options = ("--hosts", f"{first}=10.213.9.2,{second}=10.213.9.3", "--listen", "10.213.9.1", "--launcher", "ip netns exec {host}")
    results, stop = tmp_path / "r.json", tmp_path / "stop"
    in_first = ("ip", "netns", "exec", first)
    with MarkedRun("--timeout", 600, "--json", results, *options, "--", ASKED / "barriers_until", stop) as run:
        run.wait_for(lambda: run.output, "the program's first line")
        nobody = ("10.213.9.3", "lladdr", "02:00:00:00:00:01", "dev", "eth0")
        output_of(*in_first, "ip", "neigh", "replace", *nobody, "nud", "permanent")
        run.wait_for(lambda: "retrans:" in output_of(*in_first, "ss", "-tniH", "dst", "10.213.9.3"), "a retransmission")
        output_of(*in_first, "ip", "neigh", "del", *nobody)
        stop.touch()
        assert run.end() == 0, run.errors
        assert "\nTCP retransmissions " in run.errors
    assert json.loads(results.read_text())["runs"][0]["retransmissions"] >= 1


LOST = "neigh replace {} lladdr 02:00:00:00:00:01 dev eth0 nud permanent"
REFUSED = "route add unreachable {}/32"


@pytest.mark.parametrize(
    ("words", "why"), [(REFUSED, "No route to host"), pytest.param(LOST, "Connection timed out", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("place", "host"), [(0, "10.213.9.3"), (1, "10.213.9.1")], ids=["process", "launcher"])
def test_a_firewall_between_hosts_is_guessed_with_what_to_open(two_hosts, words, why, place, host):
    options = ("--hosts", ",".join(two_hosts), "--listen", "10.213.9.1", "--launcher", "ip netns exec {host}")
    subprocess.run(["ip", "-n", two_hosts[place], *words.format(host).split()], check=True)
    with MarkedRun("--quiet", *options, "--", *laplace(4, 64, 10)) as run:
        assert run.end() == 1
        # Lost answers keep the other from connecting, too.
        peer = r"process [01] cannot be reached at tcp:10.213.9.[23]" if place == 0 else f"the launcher cannot be reached at tcp:{host}"
        assert re.search(rf"\(?host s\d+h[23]\b.*{peer}:\d+.*{why}.*ip_local_port_range", run.errors), run.errors


def test_a_cut_between_two_hosts_ends_the_run_with_both_names(two_hosts):
    """The launcher still reaches both."""
    first, second = two_hosts
    options = ("--hosts", f"{first}=10.213.9.2,{second}=10.213.9.3", "--listen", "10.213.9.1", "--launcher", "ip netns exec {host}")
    with MarkedRun("--quiet", "--timeout", 3, *options, "--", *laplace(4, 512, 1_000_000)) as run:
        run.wait_for(lambda: run.output, "the program's first line")
        subprocess.run(["ip", "-n", first, "route", "add", "blackhole", "10.213.9.3/32"], check=True)
        assert run.end() == 1
        assert "lost its connection to process" in run.one_error() and "Is the network between their hosts cut?" in run.errors
        assert first in run.errors and second in run.errors
