"""Where sdsm's own parts lie: in a checkout with its build folder, or where `cmake --install` has put them."""

from __future__ import annotations

import os
from pathlib import Path

_HOME = Path(__file__).resolve().parents[1]
IS_INSTALLED = not (_HOME / "CMakeLists.txt").exists()

#: sdsm, sdsm-NAME, the run-times and, in workloads/, the OpenMP programs. `sdsm` says which build folder it lies in.
PROGRAMS = Path(os.environ.get("SDSM_PROGRAMS") or (_HOME if IS_INSTALLED else _HOME / "build"))
#: Platform files. Installed: PREFIX/share/sdsm/platforms beside PREFIX/libexec/sdsm.
PLATFORMS = (_HOME.parents[1] / "share" / "sdsm" if IS_INSTALLED else _HOME) / "platforms"
#: What a campaign makes, unless told otherwise.
RESULTS = Path("results") if IS_INSTALLED else _HOME / "results"


def version() -> str:
    """Of the sdsm that this file belongs to."""
    if IS_INSTALLED:
        return (_HOME / "version").read_text().strip()
    return (_HOME / "CMakeLists.txt").read_text().partition("project(sdsm VERSION ")[2].split()[0]


def how_to_get_packages() -> str:
    if not IS_INSTALLED:
        return "scripts/setup installs it"
    requirements = PLATFORMS.parent / "requirements.txt"
    return f"Install it: python3 -m venv {_HOME}/.venv && {_HOME}/.venv/bin/pip install -r {requirements}"
