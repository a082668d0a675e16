"""The code of a Dask cluster's worker: this module is sent there alone, so it needs nothing but Python."""

from __future__ import annotations

import hashlib
import socket
import subprocess
from collections.abc import Mapping, Sequence


def simulate(command: Sequence[str], files: Mapping[str, str], time_limit_s: float) -> tuple[int, str, str]:
    """Returns exit status, standard output, and a line about a failure. files: SHA-256 by path, which must match here."""
    for path, expected in files.items():
        try:
            with open(path, "rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            return 1, "", f"{path}: {error.strerror} on {socket.gethostname()}. Workers need the same files at the same paths"
        if found != expected:
            return 1, "", f"{path} is another file on {socket.gethostname()}. Workers need the same files at the same paths"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=time_limit_s, check=False
        )
    except OSError as error:
        return 1, "", f"{command[0]} cannot be started ({error.strerror})"
    except subprocess.TimeoutExpired:
        return 1, "", f"took longer than {time_limit_s:g} s and was ended"
    said = [line.removeprefix("sdsm: ") for line in done.stderr.splitlines() if line.strip()]
    return done.returncode, done.stdout, said[-1] if said else "it said nothing"
