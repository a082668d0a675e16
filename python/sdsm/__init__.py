"""sdsm's commands as functions that return data frames: docs/python.md shows them at work.

api           these functions, and what they return
base          what the commands share: command line, children, outputs, results
readers       outputs of benchmarks
NAME/command  the command `sdsm NAME`: each such folder is one, and nothing lists them
manual        manual pages and completions, from the commands' --help

Bad input raises BadInput (a ValueError), what fails while it runs RunFailed (a RuntimeError); the text is the command's own.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdsm.base import places
from sdsm.base.command_line import BadInput, RunFailed

if TYPE_CHECKING:
    from sdsm.api.commands import compare, explain, load, run, simulate, sweep, trace
    from sdsm.api.results import Comparison, Explanation, Result, Sweep, Trace

__version__ = places.version()
__all__ = [
    "BadInput", "Comparison", "Explanation", "Result", "RunFailed", "Sweep", "Trace",
    "compare", "explain", "load", "run", "simulate", "sweep", "trace",
]  # fmt: skip

# sdsm.sweep is the function, although a folder has the same name: a folder is bound at its first import, and not again.
for _name in __all__:
    if (Path(__file__).parent / _name).is_dir():
        importlib.import_module(f"sdsm.{_name}")
        del globals()[_name]


def __getattr__(name: str) -> Any:
    """Imports the functions at their first use: they need pandas, which no command does."""
    if name not in __all__:
        raise AttributeError(f"module 'sdsm' has no attribute '{name}'")
    try:
        from sdsm.api import commands
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"the Python package {error.name} is missing. {places.how_to_get_packages()}", name=error.name) from None
    globals().update({one: getattr(commands, one) for one in __all__})
    return globals()[name]
