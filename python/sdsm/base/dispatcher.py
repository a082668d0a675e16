"""sdsm NAME ...: what the launcher (cmake/sdsm.in) leaves to Python. A command is a program sdsm-NAME, or a folder NAME of this
package with a command.py that has main() and DESCRIPTION. Of several, the first of these is taken: a program beside the others,
one on PATH, a folder of the package, a program beside this Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sdsm.base import places
from sdsm.base.command_line import BAD_INPUT, DONE, BadInput, RunFailed, command, description, nearest, run

OVERVIEW = """\
Predict, explain and run OpenMP programs on clusters whose shared memory is made in software.
Usage: sdsm SUBCOMMAND [ARGUMENT...]

{commands}

sdsm help SUBCOMMAND explains one of them; sdsm --version tells the version."""
_ENVIRONMENT = Path(sys.executable).parent


def own_commands() -> dict[str, str | Path]:
    """sdsm's own by name, sorted: a program's file, or the name of a module."""
    modules = {file.parent.name: f"sdsm.{file.parent.name}.command" for file in places.PACKAGE.glob("*/command.py")}
    return dict(sorted((modules | _programs(places.PROGRAMS)).items()))


def commands() -> dict[str, str | Path]:
    """All there are, as own_commands()."""
    found: dict[str, str | Path] = {**_programs(_ENVIRONMENT), **own_commands()}
    for folder in reversed(os.environ.get("PATH", "").split(os.pathsep)):
        found |= _programs(folder)
    return dict(sorted((found | _programs(places.PROGRAMS)).items()))


def _programs(folder: str | Path) -> dict[str, Path]:
    named = {file.name.removeprefix("sdsm-"): file for file in Path(folder).glob("sdsm-*")}
    return {name: file for name, file in named.items() if re.fullmatch("[a-z0-9-]+", name) and file.is_file() and os.access(file, os.X_OK)}


def _words(program: Path) -> list[str]:
    """How it is started: a Python script needs the Python that has sdsm's packages, not whichever comes first on PATH."""
    with program.open("rb") as file:
        first = file.readline(80)
    is_python = first.startswith(b"#!") and b"python" in first and program.parent != _ENVIRONMENT
    return [sys.executable, str(program)] if is_python else [str(program)]


def _printed(program: Path, option: str) -> list[str]:
    done = subprocess.run([*_words(program), option], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    return done.stdout.splitlines()


def _described(found: str | Path) -> str:
    """The first sentence-like line of --help: neither the usage (which may begin with the command itself) nor what continues it."""
    lines = description(found).splitlines() if isinstance(found, str) else _printed(found, "--help")
    return next((line for line in lines if not re.match(r"(?i)usage|sdsm |[ \t\[(-]|$", line)), "")


def overview() -> str:
    return OVERVIEW.format(commands="\n".join(f"  {name:<12} {_described(found)}" for name, found in commands().items()))


def version() -> str:
    """Behind the first line, the simulator tells of SimGrid and the formats."""
    simulator = commands().get("simulate")
    return "\n".join(
        [f"sdsm {places.version()}", *(_printed(simulator, "--version")[1:] if isinstance(simulator, Path) else ())]
    )


def _become(name: str, arguments: Sequence[str]) -> int:
    """Runs the command. Raises BadInput where there is none, RunFailed where it cannot be started."""
    known = commands()
    if name not in known:
        near = [one for one in known if name and one.startswith(name)] or nearest(name, known)
        guess = f"; did you mean 'sdsm {near[0]}'? (sdsm help lists them all)" if near else "; sdsm help lists those there are"
        raise BadInput(f"no subcommand '{name}'{guess}")
    found = known[name]
    if isinstance(found, str):
        sys.argv = [f"sdsm-{name}", *arguments]
        run(found)
    words = _words(found)
    os.environ.setdefault("SDSM_VERSION", places.version())
    try:
        os.execv(words[0], [*words, *arguments])
    except OSError as error:
        raise RunFailed(f"{words[0]} cannot be started ({error.strerror})") from error


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status, where no other program takes this one's place."""
    match sys.argv[1:] if arguments is None else arguments:
        case []:
            print(overview(), file=sys.stderr)
            return BAD_INPUT
        case ["--version", *_]:
            print(version())
        case ["-h" | "--help", *_] | ["help"] | ["help", "help" | "-h" | "--help", *_]:
            print(overview())
        case ["help", name, *_]:
            return _become(name, ["--help"])
        case [name, *_] if name.startswith("-"):
            raise BadInput(f"unknown option {name} (options of a subcommand come after its name); sdsm help lists the subcommands")
        case [name, *rest]:
            return _become(name, rest)
    return DONE
