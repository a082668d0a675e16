"""The manners of the commands written in Python: those of commands/, in C++."""

from __future__ import annotations

import argparse
import difflib
import functools
import importlib
import importlib.util
import io
import os
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

from sdsm.base import places

Value = TypeVar("Value")
DONE, RUN_FAILED, BAD_INPUT = 0, 1, 2


class BadInput(ValueError):
    """Bad input or usage: exit status 2. The text is one line."""


class RunFailed(RuntimeError):
    """The run failed: exit status 1. The text is one line."""


class Interrupted(KeyboardInterrupt):
    """SIGTERM or SIGHUP has come. Clean-up after Ctrl-C works after these, too."""


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line in one line, with the command whose --help explains more, as the other commands do."""

    def __init__(self, prog: str, description: str, epilog: str) -> None:
        as_written = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=prog, description=description, epilog=epilog, formatter_class=as_written)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options may stand between files."""
        return self.parse_intermixed_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        say(f"{message.removeprefix('argument ')}. `{self.prog} --help` explains the options")
        sys.exit(BAD_INPUT)

    def print_help(self, file: Any = None) -> None:
        """Replaces argparse's own, which ignores a full disk from Python 3.12 on."""
        (file or sys.stdout).write(self.format_help())


def file_name(text: str) -> Path:
    """For add_argument(type=...): refuses an empty text, as an unset variable must not pass for a missing option."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known name that was meant by one with a slip, if one is near enough."""
    return difflib.get_close_matches(name, list(known), 1)


def platform_name(text: str) -> Path:
    """For add_argument(type=...): a platform file, or the name of one of sdsm's own; platforms/file/ has the same rule.
    Refuses a name without a folder that is neither, with the nearest one; the reader checks whether a file in a folder
    exists."""
    path = file_name(text)
    if path.exists() or "/" in text:
        return path
    for name in (text, f"{text}.xml"):
        if (own := places.PLATFORMS / name).is_file():
            return own
    known = sorted(one.stem for one in places.PLATFORMS.glob("*.xml"))
    near = "".join(f". Did you mean {one}?" for one in nearest(text.removesuffix(".xml"), known))
    raise argparse.ArgumentTypeError(
        f"there is no file {text}{near or '.'} Give a SimGrid platform file, or the name of one of sdsm's: {', '.join(known)}"
    )


def with_reason(parse: Callable[[str], Value]) -> Callable[[str], Value]:
    """For add_argument(type=...): shows the text of parse()'s ValueError to the user."""

    def parsed(text: str) -> Value:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


def whole(least: int, most: int) -> Callable[[str], int]:
    """For add_argument(type=...): a whole number in digits."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
            raise ValueError(f"'{text}' is not a whole number from {least} to {most}")
        return int(text)

    return with_reason(parse)


def say(text: str) -> None:
    """Prints a line on stderr. If that fails, nothing else changes."""
    try:
        print(f"sdsm: {text}", file=sys.stderr, flush=True)
    except OSError:
        _drop_what_is_unwritten(sys.stderr)


def command(main: Callable[[list[str] | None], int]) -> Callable[..., int]:
    """Makes main(arguments) print why it failed and return the exit status of its exception."""

    @functools.wraps(main)
    def status_of(arguments: list[str] | None = None) -> int:
        # Figures need no display, and what a user chose for another program (Jupyter's) may not be installed for this one.
        os.environ["MPLBACKEND"] = "agg"
        try:
            try:
                return main(arguments)
            finally:
                # A full disk behind stdout is a failure; also behind --help, which ends by SystemExit.
                sys.stdout.flush()
        except BadInput as error:
            say(str(error))
            return BAD_INPUT
        except RunFailed as error:
            say(str(error))
        except ModuleNotFoundError as error:
            return _missing(error)
        except OSError as error:
            return _not_written(error)
        return RUN_FAILED

    return status_of


def run(module: str) -> NoReturn:
    """Runs the module's main() as the program's, with closed streams opened and interruptions handled from the start."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")  # a name is printed as it is, UTF-8 or not

    def interrupt(*_: object) -> None:
        raise Interrupted

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        status = _refuse_another_version() or importlib.import_module(module).main()
    except ModuleNotFoundError as error:
        status = _missing(error, module)
    except KeyboardInterrupt:
        say("interrupted; nothing is left half done")
        status = RUN_FAILED
    sys.exit(status)


def _refuse_another_version() -> int:
    """Returns an exit status: the caller puts its version in the environment, and parts of two versions do not fit."""
    caller, own = os.environ.get("SDSM_VERSION"), places.version()
    if not caller or caller == own:
        return DONE
    say(f"{sys.argv[0]} is of sdsm {own}, but what started it is sdsm {caller}. Install all parts from one version")
    return BAD_INPUT


#: Texts for single options, by the missing module.
_OPTIONAL = {"pyarrow": "pyarrow", "pyarrow.parquet": "pyarrow", "distributed": "distributed", "cloudpickle": "distributed"}


def _missing(error: ModuleNotFoundError, module: str = "") -> int:
    """Returns an exit status for the command module `module`, which could not be imported."""
    if module and {"-h", "--help"} & set(sys.argv[1:]) and (text := description(module)):
        print(f"usage: sdsm {Path(sys.argv[0]).name.removeprefix('sdsm-')} ...\n\n{text}")
    optional = _OPTIONAL.get(error.name or "")
    advice = f"Install it: {sys.executable} -m pip install {optional}" if optional else places.how_to_get_packages()
    say(f"the Python package {optional or error.name} is missing. {advice}")
    return RUN_FAILED


def description(module: str) -> str:
    """Returns the DESCRIPTION of a command's module that cannot be imported; empty if it has none."""
    import ast  # takes longer to load than many a command does

    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        return ""
    for statement in ast.parse(Path(found.origin).read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="DESCRIPTION")], value=ast.Constant(value=str(text))):
                return text
    return ""


def _open_closed_streams() -> None:
    """Opens /dev/null in place of closed descriptors, so that no other file takes their numbers; what uses them fails."""
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _drop_what_is_unwritten(stream: IO[str]) -> None:
    """Keeps the flush at exit from failing again with a complaint of Python's."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _not_written(error: OSError) -> int:
    """Reports the output that could not be written: a file by its name (write_output() sees to that), else standard
    output.

    Returns the exit status: 0 if the reader of standard output has read enough.
    """
    if error.filename is None:
        _drop_what_is_unwritten(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return DONE
    say(f"{error.filename or 'standard output'}: {error.strerror or error}. Make room, or name another place")
    return RUN_FAILED
