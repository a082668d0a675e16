"""python -m sdsm_manual SDSM FOLDER: manual pages and completions of the built SDSM and its subcommands, into FOLDER."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

from sdsm_manual import completions, pages
from sdsm_manual.help_text import Help, parse


def answer(*command: str) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sdsm: {' '.join(command)}: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return done.stdout


def main(sdsm: str, folder: Path) -> None:
    version = answer(sdsm, "--version").split()[1]
    names = re.findall(r"(?m)^  ([a-z][a-z0-9-]*) ", answer(sdsm, "--help"))
    commands: dict[str, Help] = {name: parse(answer(sdsm, name, "--help")) for name in names}
    manual = folder / "man" / "man1"
    manual.mkdir(parents=True, exist_ok=True)
    written = {"sdsm": pages.overview(version, commands)}
    written |= {f"sdsm-{name}": pages.page(f"sdsm {name}", version, text) for name, text in commands.items()}
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
    main(sys.argv[1], Path(sys.argv[2]))
