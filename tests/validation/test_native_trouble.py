"""What becomes of a run in trouble? Whatever is killed, stopped or refused, the run carries on, or it ends everywhere soon
with one line that names who and why, with status 1, and leaves no process, socket or shared memory."""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from tests.validation.native_runs import (
    BUILD,
    MEMORY_PROGRAMS,
    MarkedRun,
    hosts,
    laplace,
)

FAILING_CALLS = BUILD / "tests" / "run" / "libfailing_calls.so"

#: With much to do, and what they say at their end.
PROGRAMS = (
    (laplace(4, 64, 60), "time:"),
    (laplace(1, 64, 30, "--no-check"), "time:"),
    ((MEMORY_PROGRAMS / "random_program", "--seed", 11, "--programs", 2), "programs"),
    ((MEMORY_PROGRAMS / "random_program", "--seed", 12, "--programs", 1, "--pages", 1, "--steps", 120, "--locks", 8), "programs"),
)
CLUSTERS = (
    ("--nodes", 3),
    ("--nodes", 2, "--threads-per-node", 2, "--transport", "tcp"),
    ("--nodes", 2, "--threads-per-node", 2),
    ("--nodes", 4, "--transport", "tcp"),
    ("--nodes", 3, *hosts(3)),
    ("--nodes", 2, "--threads-per-node", 2, *hosts(2)),
)
#: Programs that would run for hours.
ENDLESS = laplace(4, 512, 100_000_000, "--no-check")
MANY = (MEMORY_PROGRAMS / "random_program", "--seed", 11, "--programs", 100_000_000)
#: Whoever waited for it would hang.
NO_TIME_OUT = ("--timeout", 3600)


def check_death(run: MarkedRun, pattern: str) -> None:
    """The run has ended, and says what `pattern` looks for."""
    assert run.end() == 1
    assert re.search(pattern, run.one_error()), run.errors


# One process killed.

DEATH = r"process \d+ on node \d+.* was killed by signal 9 \(Killed\)"


def kill_at_random(seed: int) -> None:
    """Kills one process of a run at a moment that the seed chooses."""
    rng = random.Random(seed)
    cluster, stage = rng.choice(CLUSTERS), rng.choice(("start", "region", "end"))
    program, last = rng.choice(PROGRAMS) if stage == "end" else (rng.choice((ENDLESS, MANY)), "")
    options = ("--quiet", *NO_TIME_OUT, *cluster, "--", *program)
    with MarkedRun(*options) as run:
        if stage == "start":
            wanted = rng.randint(1, 3)
            run.wait_for(lambda: len(set(run.members()) - set(run.agents())) >= wanted, "the start of processes")
        elif stage == "region":
            run.wait_for(lambda: run.application_processes(program[0]), "the program")
        else:
            run.wait_for(lambda: last in run.output, "the program's last line")
        time.sleep(rng.uniform(0, 0.3 if stage == "region" else 0.03))
        run.note_names()
        members = run.application_processes(program[0]) or [one for one in run.members() if one not in run.agents()]
        assert members or stage == "end"
        with contextlib.suppress(ProcessLookupError):
            if members:
                os.kill(rng.choice(members), signal.SIGKILL)
        if run.end() == 0:
            # A process that had ended already, or nearly, is no loss.
            assert stage == "end" and run.errors == ""
            assert last in run.output
            return
        # The command may be just making its processes: then it is the system's refusal that it tells.
        assert re.search(DEATH, run.one_error()), run.errors


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(100, 200), marks=pytest.mark.long)], ids=len)
def test_one_process_killed_at_random_moments(seeds):
    for seed in seeds:
        kill_at_random(seed)


@pytest.mark.parametrize("cluster", [("--nodes", 2), ("--nodes", 2, *hosts(2))])
def test_a_killed_launcher_takes_everything_with_it(cluster):
    with MarkedRun("-q", *cluster, "--", *ENDLESS) as run:
        run.wait_for(lambda: run.output, "the program's first line")
        run.process.kill()
        run.process.wait()
        run.check_nothing_left(may_be_ending=True)


def test_a_killed_agent_ends_the_run_everywhere_and_is_named():
    with MarkedRun("-q", *NO_TIME_OUT, *hosts(3), "--", *ENDLESS) as run:
        run.wait_for(lambda: run.output, "the program's first line")
        victim = next(one for one in run.agents() if parent_of(one) == run.process.pid)
        os.kill(victim, signal.SIGKILL)
        check_death(run, r"host [abc]: `env` was killed by signal 9")


def parent_of(process: int) -> int:
    with open(f"/proc/{process}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


# Stopped, not dead.

#: A busy machine starts a run within this time, seconds.
TIME_OUT_S = 3


@pytest.mark.parametrize("cluster", [("--nodes", 2), ("--nodes", 2, *hosts(2))])
def test_a_stopped_node_ends_the_run_after_the_time_out(cluster):
    with MarkedRun("-q", "--timeout", TIME_OUT_S, *cluster, "--", *ENDLESS) as run:
        run.wait_for(lambda: run.output, "the program's first line")
        stopped = run.application_processes(ENDLESS[0])[-1]
        os.kill(stopped, signal.SIGSTOP)
        check_death(run, r"process \d on node \d.* has not answered for 3 s. Is it stopped")


def test_a_node_that_stops_for_less_than_the_time_out_is_awaited():
    program = (*laplace(4, 64, 6000), "--output", "/dev/null")
    with MarkedRun("-q", *NO_TIME_OUT, "--nodes", 2, *hosts(2), "--", *program) as run:
        run.wait_for(lambda: run.output, "the program's first line")
        for stopped in (run.application_processes(program[0])[0], run.agents()[0], run.process.pid):
            os.kill(stopped, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(stopped, signal.SIGCONT)
        assert run.end() == 0, run.errors


def test_a_stopped_agent_ends_the_run_after_the_time_out():
    with MarkedRun("-q", "--timeout", TIME_OUT_S, *hosts(2), "--", *ENDLESS) as run:
        run.wait_for(lambda: run.output, "the program's first line")
        os.kill(run.agents()[0], signal.SIGSTOP)
        check_death(run, r"host [ab]: its agent has not answered for 3 s")


# Strangers at the ports.


class Strangers:
    """Knock at every TCP port at which a run listens, as long as there are any: silent, talking nonsense, with a wrong
    secret of the right length, hanging up."""

    def __init__(self, run: MarkedRun):
        self._run, self._is_over = run, False
        self._sockets: list[socket.socket] = []
        self.visits = 0
        self.ports: set[tuple[str, int]] = set()
        self._thread = threading.Thread(target=self._knock)
        self._thread.start()

    def _knock(self) -> None:
        rng = random.Random(5)
        while not self._is_over and self._run.process.poll() is None:
            for place in self._run.listening_ports():
                for words in (b"", b"GET / HTTP/1.1\r\n\r\n", rng.randbytes(48), rng.randbytes(5000), None):
                    try:
                        visitor = socket.create_connection(place, timeout=1)
                        self.visits += 1
                        self.ports.add(place)
                        if words is None:
                            visitor.close()
                            continue
                        self._sockets.append(visitor)
                        visitor.sendall(words)
                    except OSError:
                        continue

    def end(self) -> None:
        self._is_over = True
        self._thread.join()
        for visitor in self._sockets:
            visitor.close()


@pytest.mark.parametrize("cluster", [("--nodes", 4, "--transport", "tcp"), ("--nodes", 4, *hosts(2), "--export", "SLOW_CONNECT")])
def test_strangers_at_every_port_disturb_nobody(cluster):
    # Strangers have the time to come to all ports: those that a process has yet to connect to stay open.
    slow = {"LD_PRELOAD": str(FAILING_CALLS), "SLOW_CONNECT": "600"}
    with MarkedRun("-q", *cluster, "--", *laplace(4, 64, 60), environment=slow) as run:
        strangers = Strangers(run)
        status = run.process.wait(100)
        strangers.end()
        assert status == 0, run.errors
        assert "identical to the sequential grid" in run.output
        run.check_nothing_left()
    assert len(strangers.ports) >= 4
    assert strangers.visits >= 20


def test_strangers_who_fill_the_launchers_port_do_not_keep_hosts_out(tmp_path):
    script = tmp_path / "launcher"
    script.write_text('sleep 1; exec "$@"\n')
    with MarkedRun("-q", "--hosts", "a,b", "--launcher", f"sh {script}", "--", *laplace(4, 64, 20)) as run:
        place = run.wait_for(run.listening_ports, "the launcher's port")[0]
        visitors = []
        for number in range(400):
            visitors.append(socket.create_connection(place, timeout=5))
            if number % 2:
                visitors[-1].sendall(bytes(48))
        assert run.end() == 0, run.errors
        for visitor in visitors:
            visitor.close()


# A system that refuses.


def refused(call: str, *options: object) -> str:
    environment = {"LD_PRELOAD": str(FAILING_CALLS), "FAIL_CALL": call}
    with MarkedRun("-q", *NO_TIME_OUT, *options, "--", *laplace(4, 64, 20), environment=environment) as run:
        assert run.end() == 1
        return run.one_error()


EMFILE, EAGAIN, ENOMEM = 24, 11, 12
ON_HOSTS = (*hosts(2), "--export", "FAIL_CALL")


@pytest.mark.parametrize(
    ("call", "options", "pattern"),
    [
        # The first one lists the libraries of the program.
        (f"fork {EAGAIN} 3", ("-n", 3), r"no process can be started .*`ulimit -u`"),
        (f"fork {EAGAIN} 3", ON_HOSTS, r"host b: .*no process can be started .*`ulimit -u`"),
        (f"fork {EAGAIN} 3", (*ON_HOSTS, "--threads-per-node", 2), r"host b: .*no process can be started .*`ulimit -u`"),
        (f"pthread_create {EAGAIN} 1", ("-n", 3), r"process \d on node \d ended the run: no thread .*ulimit -u"),
        (f"memfd_create {EMFILE} 2", ("-n", 3), r"a node's memory cannot be made: .*ulimit -n"),
        (f"memfd_create {EMFILE} 1", ON_HOSTS, r"host [ab]: a node's memory cannot be made: .*ulimit -n"),
        (f"socket {EMFILE} 1", ("-n", 3), r"process \d on node \d ended the run: no socket to listen on .*ulimit -n"),
        (f"socket {EMFILE} 1", ON_HOSTS, r"--listen 127.0.0.1: .*ulimit -n"),
        (f"socket {EMFILE} 2", ON_HOSTS, r"host [ab]: the launcher cannot be reached at .*ulimit -n"),
        (f"accept4 {EMFILE} 2", ("-n", 3), r"process \d on node \d ended the run: no connection can be accepted.*ulimit -n"),
        (f"accept4 {EMFILE} 2", ON_HOSTS, r"the hosts' connections cannot be accepted: .*ulimit -n"),
        (f"epoll_create1 {EMFILE} 1", ("-n", 3), r"process \d on node \d ended the run: the sockets .*ulimit -n"),
        (f"ftruncate {ENOMEM} 3", ("-n", 3), r"process \d on node \d ended the run: there is no address space"),
        (f"mprotect {ENOMEM} 100", ("-n", 3), r"process \d on node \d ended the run: .*vm.max_map_count=\d+"),
    ],
)
def test_a_refused_call_is_reported_with_its_remedy(call, options, pattern):
    assert re.search(pattern, refused(call, *options))


@pytest.mark.parametrize(
    ("limit", "value", "pattern"),
    [
        (resource.RLIMIT_AS, 2 << 30, r"process \d on node \d ended the run: there is no address space .*`ulimit -v`"),
        (resource.RLIMIT_FSIZE, 1 << 20, r"process \d on node \d was killed by signal 25 .*ulimit -f"),
        (resource.RLIMIT_NOFILE, 100, r"a process could not be given its files .*ulimit -n"),
    ],
)
def test_a_limit_of_the_shell_is_reported_with_its_remedy(limit, value, pattern):
    program = laplace(4, 64, 20)
    with MarkedRun("-q", "-n", 2, "--", *program, preparation=lambda: resource.setrlimit(limit, (value, value))) as run:
        assert run.end() == 1
        assert re.search(pattern, run.one_error())


def test_few_open_files_are_enough_for_many_processes():
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    with MarkedRun("-q", "-n", 24, "--", *laplace(4, 64, 10), preparation=limit) as run:
        assert run.end() == 0, run.errors


@pytest.mark.long
def test_more_pages_apart_than_the_kernel_has_mappings_are_no_trouble():
    most = int(Path("/proc/sys/vm/max_map_count").read_text())
    if most > 70_000:
        pytest.skip("this kernel has more mappings than the program would use")
    with MarkedRun("-q", "-n", 2, "--", MEMORY_PROGRAMS / "alternating") as run:
        assert run.end() == 0, run.errors
        assert run.output == "0 wrong\n"


def test_a_missing_host_is_reported_soon():
    with MarkedRun("-q", "--hosts", "a,b", "--launcher", "false {host}", "--", *laplace(4, 64, 10)) as run:
        assert run.end() == 1
        assert "host a cannot be used: `false a` ended with status 1" in run.one_error()


def test_the_first_process_of_a_node_may_be_the_last_to_begin():
    # Numbers of processes may begin anew between two of one run, so that they do not follow in every one.
    late = {"LD_PRELOAD": str(FAILING_CALLS), "FIRST_LAST": "20"}
    for _ in range(4):
        with MarkedRun("-q", "--nodes", 2, "--threads-per-node", 3, "--", *laplace(4, 64, 6), environment=late) as run:
            assert run.end() == 0, run.errors


@pytest.mark.parametrize("cluster", [("--nodes", 3), ("--nodes", 3, *hosts(3), "--export", "LATE_RELEASES")])
@pytest.mark.parametrize("milliseconds", ["0", "20"])
def test_a_lock_given_back_is_free_even_if_its_manager_learns_late(milliseconds, cluster):
    late = {} if milliseconds == "0" else {"LATE_RELEASES": milliseconds, "LD_PRELOAD": str(FAILING_CALLS)}
    with MarkedRun("-q", *cluster, "--", MEMORY_PROGRAMS / "try_locks", 30, environment=late) as run:
        assert run.end() == 0, run.errors
        assert run.output == "0 refused, 0 granted\n"
