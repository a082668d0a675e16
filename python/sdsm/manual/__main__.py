"""python -m sdsm.manual FOLDER: manual pages and completions of this sdsm and its commands, into FOLDER."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import subprocess
import sys
from pathlib import Path

from sdsm.base import dispatcher, places
from sdsm.base.command_line import description, say
from sdsm.manual import completions, pages
from sdsm.manual.help_text import Help, parse


def help_of(name: str, command: str | Path) -> str:
    """Returns the command's --help. A command with missing Python packages still describes itself."""
    if isinstance(command, Path):
        return subprocess.run([str(command), "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            importlib.import_module(command).main(["--help"])
    except ModuleNotFoundError as error:
        say(f"the page of sdsm {name} has no options, as the Python package {error.name} is missing. {places.how_to_get_packages()}")
        return f"usage: sdsm {name} ...\n\n{description(command)}"
    return printed.getvalue()


def main(folder: Path) -> None:
    version = places.version()
    commands: dict[str, Help] = {name: parse(help_of(name, command)) for name, command in dispatcher.own_commands().items()}
    manual = folder / "man" / "man1"
    manual.mkdir(parents=True, exist_ok=True)
    written = {f"sdsm-{name}": pages.page(f"sdsm {name}", version, text) for name, text in commands.items()}
    written["sdsm"] = pages.overview(version, commands)
    for name, text in written.items():
        # Debian wants pages compressed; mtime 0, so that the same page is the same file.
        (manual / f"{name}.1.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    for place, text in (
        ("bash-completion/completions/sdsm", completions.bash(commands)),
        ("zsh/site-functions/_sdsm", completions.zsh(commands)),
        ("fish/vendor_completions.d/sdsm.fish", completions.fish(commands)),
    ):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
