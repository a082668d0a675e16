"""Runs the project's commands: bounded in time, stoppable, and with a one-line reason for failure."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from sdsm.base.command_line import RunFailed


class CommandFailed(RunFailed):
    """A command failed. The text is one line for a table: what happened, and the command's own reason.

    status: its exit status; None where it was not started or ended by itself. said: its own reason alone.
    """

    def __init__(self, text: str, status: int | None = None, said: str = "") -> None:
        super().__init__(text)
        self.status, self.said = status, said


class Stopped(RuntimeError):
    """The command was ended, or not started, because the job had to stop."""


def clean_environment() -> dict[str, str]:
    """Returns this process's environment without OpenMP settings, which would change a traced program's schedule or threads."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "LD_PRELOAD"))}


class CommandRunner:
    """Runs commands from several threads; stop() ends those that run and refuses further ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, command: Sequence[str], time_limit_s: float, tell: Callable[[str], None] | None = None) -> str:
        """Returns the command's stdout. Its stdin is empty; its process group is its own, so that a Ctrl-C reaches it
        only through stop(). tell: receives each line of its stderr if it ended well.

        Raises CommandFailed if it cannot be started, exits other than 0 or takes longer than time_limit_s of wall
        time; Stopped after stop().
        """
        with self._lock:
            if self._stopped:
                raise Stopped("not run")
            try:
                process = subprocess.Popen(
                    list(command),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    env=clean_environment(),
                    start_new_session=True,
                )
            except OSError as error:
                raise CommandFailed(f"{command[0]} cannot be started ({error.strerror}). Build it first") from error
            self._running.add(process)
        try:
            try:
                out, err = process.communicate(timeout=time_limit_s)
            except subprocess.TimeoutExpired:
                _end(process)
                process.communicate()
                raise CommandFailed(f"took longer than {time_limit_s:g} s and was ended") from None
            except BaseException:
                _end(process)
                process.communicate()
                raise
        finally:
            with self._lock:
                self._running.discard(process)
        if self._stopped:
            raise Stopped("not run")
        if process.returncode != 0:
            raise _failure(process.returncode, err)
        if tell is not None:
            for line in err.splitlines():
                tell(line.removeprefix("sdsm: "))
        return out

    def stop(self) -> None:
        """Ends every running command and makes further run() calls raise Stopped."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    # Traced programs are children of the command: the whole group goes.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _failure(returncode: int, stderr: str) -> CommandFailed:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    own = [line.removeprefix("sdsm: ") for line in lines if line.startswith("sdsm: ")]
    said = (own or lines or ["it said nothing"])[-1]
    how = f"ended by signal {-returncode}" if returncode < 0 else f"exit status {returncode}"
    # Output of a program that the command ran.
    others = [line for line in lines if not line.startswith("sdsm: ")] if own else []
    return CommandFailed(f"{how}: {said}" + (f" (on stderr before: {others[-1]})" if others else ""), returncode, said)
