"""Runs `sdsm run` with a mark in the environment of everything that it starts, so that a test can find and disturb what
belongs to the run, and see whether anything of it is left behind."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build"
COMMAND = BUILD / "sdsm-run"
MEMORY_PROGRAMS = BUILD / "tests" / "memory"
#: Programs of tests/native/asked.
ASKED = BUILD / "tests" / "asked"

#: Agents on this machine, as if each address were a machine of its own.
ADDRESSES = ("a=127.0.0.1", "b=127.0.0.2", "c=127.0.0.3")
LOCAL_LAUNCHER = ("--launcher", "env")

#: What has not happened by then hangs, seconds. No test passes or fails by how fast the machine is.
HANGS_S = 600.0


def hosts(count: int) -> tuple:
    """Options that put the nodes on `count` addresses of this machine."""
    return ("--hosts", ",".join(ADDRESSES[:count]), *LOCAL_LAUNCHER)


class MarkedRun:
    """A run under way. Its output goes to files, so that nothing waits for a reader; `input` is a file or None."""

    def __init__(self, *options: object, environment: dict[str, str] | None = None, preparation=None, **popen):
        self.mark = f"SDSM_TEST_MARK={uuid.uuid4()}"
        name, value = self.mark.split("=")
        arguments = [str(part) for part in (COMMAND, *options)]
        self._output, self._errors = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            arguments,
            stdin=popen.pop("stdin", subprocess.DEVNULL),
            stdout=self._output,
            stderr=self._errors,
            env={**os.environ, name: value, **(environment or {})},
            preexec_fn=preparation,
            **popen,
        )
        self.names: set[str] = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._output.close()
        self._errors.close()

    @property
    def output(self) -> str:
        self._output.flush()
        return os.pread(self._output.fileno(), 1 << 24, 0).decode()

    @property
    def errors(self) -> str:
        return os.pread(self._errors.fileno(), 1 << 24, 0).decode()

    def members(self) -> list[int]:
        """Processes of the run, without the command itself."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in (os.getpid(), self.process.pid):
                continue
            try:
                if self.mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return sorted(found)

    def application_processes(self, program: Path) -> list[int]:
        """Those that have become the program."""
        return [number for number in self.members() if executable(number) == program.resolve()]

    def agents(self) -> list[int]:
        return [number for number in self.members() if "--agent" in command_line(number)]

    def sockets(self) -> dict[str, int]:
        """Inodes of the run's sockets, and the process of each."""
        found = {}
        for number in [self.process.pid, *self.members()]:
            try:
                for link in Path(f"/proc/{number}/fd").iterdir():
                    target = os.readlink(link)
                    if target.startswith("socket:["):
                        found[target[8:-1]] = number
            except OSError:
                continue
        return found

    def listening_ports(self) -> list[tuple[str, int]]:
        """TCP addresses at which something of the run listens."""
        own = self.sockets()
        return [(address, port) for address, port, state, inode in tcp_sockets() if state == "0A" and inode in own]

    def note_names(self) -> None:
        """Remembers the names that the run's sockets and shared memory have now, for check_nothing_left()."""
        own = self.sockets()
        for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
            fields = line.split()
            if len(fields) == 8 and fields[6] in own:
                self.names.add(fields[7])
        for number in self.members():
            try:
                self.names.update(re.findall(r"/dev/shm/\S+", Path(f"/proc/{number}/maps").read_text()))
            except OSError:
                continue

    def wait_for(self, condition, what: str):
        """Until condition() is true, or the run has ended. Returns its value."""
        until = time.monotonic() + HANGS_S
        while (begun := time.monotonic()) < until:
            value = condition()
            if value or self.process.poll() is not None:
                return value
            # What takes long leaves as much time to the run.
            time.sleep(max(0.001, time.monotonic() - begun))
        raise AssertionError(f"{what} did not happen within {HANGS_S} s")

    def end(self) -> int:
        """Waits for the command; checks that nothing of the run is left. Returns the exit status."""
        status = self.process.wait(HANGS_S)
        self.check_nothing_left()
        return status

    def check_nothing_left(self, may_be_ending: bool = False):
        until = time.monotonic() + (HANGS_S if may_be_ending else 0)
        while (left := self.members()) and time.monotonic() < until:
            time.sleep(0.01)
        assert not left, [command_line(number) for number in left]
        names = {line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines()}
        assert not names & self.names
        assert not [name for name in self.names if Path(name).exists()]

    def one_error(self) -> str:
        """The one line on stderr."""
        lines = self.errors.splitlines()
        assert len(lines) == 1, self.errors
        assert lines[0].startswith("sdsm: ")
        return lines[0]


def executable(process: int) -> Path | None:
    try:
        return Path(os.readlink(f"/proc/{process}/exe"))
    except OSError:
        return None


def command_line(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def tcp_sockets() -> list[tuple[str, int, str, str]]:
    """Address, port, state (hexadecimal) and inode of this machine's IPv4 TCP sockets."""
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        address, port = fields[1].split(":")
        octets = [str(int(address[i : i + 2], 16)) for i in (6, 4, 2, 0)]
        found.append((".".join(octets), int(port, 16), fields[3], fields[9]))
    return found


def output_of(*command: object) -> str:
    """Of a command that ends well."""
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, timeout=HANGS_S).stdout


def laplace(impl: int, size: int, iterations: int, *options: object) -> tuple:
    return (BUILD / "workloads" / "laplace", "--impl", impl, "--size", size, "--iterations", iterations, *options)


def without_times(text: str) -> str:
    """A program's output but for what it measures."""
    return re.sub(r"(?m)^time: .*$", "time:", text)


def thinned(by: int, *axes: Iterable) -> list:
    """Parameters: all combinations of the axes' values. The short set has each `by`-th, in which all pairs of values of two
    axes still meet where `by` is no longer than the others; the rest is long."""
    cases = itertools.product(*(enumerate(axis) for axis in axes))
    return [
        pytest.param(*(value for _, value in case), marks=() if sum(index for index, _ in case) % by == 0 else pytest.mark.long)
        for case in cases
    ]
