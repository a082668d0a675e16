"""Keyword arguments as options of a command: `threads_per_node=2` is --threads-per-node 2."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from sdsm.base.command_line import BadInput


def words(options: Mapping[str, Any], taken: Collection[str] = ()) -> list[str]:
    """Returns options as words. True gives an option without a value; False and None give none. A list gives each value, a
    mapping each pair as NAME=VALUE. taken: names that the caller sets itself. Raises BadInput."""
    found: list[str] = []
    for name, value in options.items():
        if name in taken:
            raise BadInput(f"{name}: the function sees to it itself. Leave it out")
        option = f"--{name.replace('_', '-')}"
        if value is True:
            found.append(option)
        elif value is not None and value is not False:
            for one in _values(value):
                found += [option, one]
    return found


def _values(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}={one}" for name, one in value.items()]
    if isinstance(value, list | tuple):
        return [text(one) for one in value]
    return [text(value)]


def text(value: Any) -> str:
    """Returns a number or a name as text. Raises BadInput for an empty one, which must not pass for a missing one."""
    word = os.fspath(value) if isinstance(value, str | os.PathLike) else str(value)
    if not word:
        raise BadInput("a value is empty. Leave the argument out, or give one")
    return word
