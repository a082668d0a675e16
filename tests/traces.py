"""What tests of a session share, whichever of its processes runs them: above all traces, as a trace knows no cluster."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

BUILD = Path(__file__).resolve().parents[1] / "build"

#: Of this session, for all of its processes; tests/conftest.py sets it.
folder = Path()


def shared(key: str, make: Callable[[Path], object]) -> Path:
    """A file that nobody may change. The first to ask for it makes it; others wait meanwhile."""
    file = folder / hashlib.sha256(key.encode()).hexdigest()[:20]
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            part = file.with_suffix(".part")
            make(part)
            part.rename(file)
    return file


def traced(threads: int, *program: object, options: tuple = ("--passes", 1)) -> Path:
    """The trace of a program with these arguments and threads."""
    words = [str(word) for word in ("-q", *options, "-n", threads, "--", *program)]

    def make(file: Path) -> None:
        subprocess.run([BUILD / "sdsm-trace", "-o", file, *words], check=True, capture_output=True, timeout=280)

    return shared(" ".join(words), make)
