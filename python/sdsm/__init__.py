"""sdsm's commands as functions that return data frames: docs/python.md shows them at work.

commands  trace, simulate, run, sweep, explain, compare, load
results   what they return
options   keyword arguments as options of a command

Bad input raises BadInput (a ValueError), what fails while it runs RunFailed (a RuntimeError); the text is the command's own.
"""

import sys
from pathlib import Path


def _parts() -> list[str]:
    """Folders of the modules that the commands share: of a checkout, or of a prefix that holds this package in
    lib/python3/dist-packages."""
    here = Path(__file__).resolve()
    if (here.parents[2] / "CMakeLists.txt").exists():
        return [str(here.parents[2]), str(here.parents[2] / "scripts")]
    return [str(here.parents[4] / "libexec" / "sdsm")]


sys.path += [folder for folder in _parts() if folder not in sys.path]
try:
    import calibration

    if str(Path(calibration.__file__ or "").resolve().parents[1]) not in _parts():
        raise ImportError(f"{calibration.__file__} hides a module of sdsm's that has the same name. Rename it, or start Python elsewhere")

    from calibration.command_line import BadInput, RunFailed
    from sdsm.commands import compare, explain, load, run, simulate, sweep, trace
    from sdsm.results import Comparison, Explanation, Result, Sweep, Trace
except ModuleNotFoundError as error:
    from calibration import places

    raise ModuleNotFoundError(f"the Python package {error.name} is missing. {places.how_to_get_packages()}", name=error.name) from None

__version__ = calibration.places.version()
__all__ = [
    "BadInput", "Comparison", "Explanation", "Result", "RunFailed", "Sweep", "Trace",
    "compare", "explain", "load", "run", "simulate", "sweep", "trace",
]  # fmt: skip
