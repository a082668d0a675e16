"""Finds sdsm's own parts: in a checkout with its build folder, or below a prefix or a virtual environment."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = PACKAGE.parent.parent
_PREFIX = _CHECKOUT.parent.parent  # of a checkout just below the root: the root
IS_INSTALLED = not (_CHECKOUT / "CMakeLists.txt").exists()
_SHARED = _PREFIX / "share" / "sdsm" if IS_INSTALLED else _CHECKOUT

#: Folder of sdsm, sdsm-NAME, the run-times and, in workloads/, the OpenMP programs. `sdsm` says which build folder it
#: is.
PROGRAMS = Path(os.environ.get("SDSM_PROGRAMS") or (_PREFIX / "libexec" / "sdsm" if IS_INSTALLED else _CHECKOUT / "build"))
PLATFORMS = _SHARED / "platforms"
#: Published and assumed data.
CALIBRATION = _SHARED / "calibration"
#: Default folder for the results of a campaign.
RESULTS = Path("results") if IS_INSTALLED else _CHECKOUT / "results"


def version() -> str:
    """Version of the sdsm that this file belongs to."""
    if IS_INSTALLED:
        return (_SHARED / "version").read_text().strip()
    return (_CHECKOUT / "CMakeLists.txt").read_text().partition("project(sdsm VERSION ")[2].split()[0]


def how_to_get_packages() -> str:
    """Returns one line for stderr. An installed sdsm may belong to somebody else: nothing is written to it."""
    if not IS_INSTALLED:
        return "scripts/setup installs it"
    own = "~/.sdsm-python"
    return (
        f"Install it for yourself: python3 -m venv {own} && {own}/bin/pip install -r {_SHARED}/requirements.txt && "
        f"export SDSM_PYTHON={own}/bin/python"
    )
