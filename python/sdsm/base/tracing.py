"""Makes the main job's traces by `sdsm trace`, and keeps them as long as their origin is the same."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.output_file import json_text, write_output

TIME_LIMIT_S = 300.0


class Traceable(Protocol):
    """A program of workloads/ to trace. name: the trace file's."""

    @property
    def name(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def arguments(self) -> tuple[str, ...]: ...
    @property
    def threads(self) -> int: ...


def program_path(build: Path, program: str) -> Path:
    """Returns the file of a program of workloads/ in the build."""
    return build / "workloads" / program


@cache
def _sha256(path: Path, size: int, modified_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256(path: Path) -> str:
    """Returns the hash of a file's content. Raises OSError."""
    status = path.stat()
    return _sha256(path, status.st_size, status.st_mtime_ns)


def origin(run: Traceable, build: Path) -> dict[str, Any]:
    """Returns everything that a trace's content depends on: arguments, threads, and the hashes of the program, of the
    tracing command and of the build's shared libraries (among them the run-time that replaces libgomp).

    Raises CommandFailed if the program or the tracer has not been built.
    """
    program = program_path(build, run.program)
    made_by = [program, build / "sdsm-trace", *sorted(build.glob("*.so*"))]
    try:
        hashes = {path.name: sha256(path) for path in made_by}
    except OSError as error:
        raise CommandFailed(f"{error.filename} cannot be read ({error.strerror}); build it first") from error
    return {"arguments": list(run.arguments), "threads": run.threads, "sha256": hashes}


class Tracer:
    """Makes traces in `folder`, one at a time and with nothing else running, as their compute times are measured."""

    def __init__(self, build: Path, folder: Path, runner: CommandRunner, time_limit_s: float = TIME_LIMIT_S) -> None:
        self._build = build
        self._folder = folder
        self._runner = runner
        self._time_limit_s = time_limit_s

    def path(self, run: Traceable) -> Path:
        return self._folder / f"{run.name}.trace"

    def is_kept(self, run: Traceable) -> bool:
        """Whether a complete trace of the same origin exists. Raises CommandFailed as origin() does."""
        trace = self.path(run)
        try:
            record = json.loads(self._record(run).read_text(encoding="utf-8"))
            return bool(record == {"origin": origin(run, self._build), "trace_sha256": sha256(trace)})
        except (OSError, ValueError):
            return False

    def trace(self, run: Traceable) -> None:
        """Makes the trace. Raises CommandFailed or Stopped, and then leaves no trace of this name."""
        self._folder.mkdir(parents=True, exist_ok=True)
        trace = self.path(run)
        # An old trace of another origin must not pass for this run's if tracing fails.
        self._record(run).unlink(missing_ok=True)
        trace.unlink(missing_ok=True)
        made_from = origin(run, self._build)
        command = [str(self._build / "sdsm"), "trace", "-n", str(run.threads), "-o", str(trace)]
        command += ["--", str(program_path(self._build, run.program)), *run.arguments]
        try:
            self._runner.run(command, self._time_limit_s)
            record = {"origin": made_from, "trace_sha256": sha256(trace)}
        except OSError as error:
            raise CommandFailed(f"sdsm trace ended well but left no trace ({error.strerror})") from error
        except BaseException:
            trace.unlink(missing_ok=True)
            raise
        write_output(self._record(run), json_text(record))

    def _record(self, run: Traceable) -> Path:
        return self._folder / f"{run.name}.origin.json"
