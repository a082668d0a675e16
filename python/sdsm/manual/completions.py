"""Completions of `sdsm` for bash, zsh and fish: subcommands, their options, and the words that an option takes."""

from __future__ import annotations

import shlex

from sdsm.manual.help_text import Help


def bash(commands: dict[str, Help]) -> str:
    cases = []
    for name, text in commands.items():
        words = " ".join(option for entry in text.entries() for option in entry.names)
        choices = "".join(
            f"      {'|'.join(entry.names)}) COMPREPLY=($(compgen -W {shlex.quote(' '.join(entry.choices))} -- \"$word\")); return ;;\n"
            for entry in text.entries() if entry.choices and entry.names
        )  # fmt: skip
        inner = f'      case $before in\n{choices}      esac\n' if choices else ""
        cases.append(f"    {name})\n{inner}      options={shlex.quote(words)} ;;\n")
    return f"""# Completion of sdsm for bash; made from the commands' --help.
_sdsm() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} options=
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W {shlex.quote(' '.join([*commands, 'help', '--help', '--version']))} -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
    help) COMPREPLY=($(compgen -W {shlex.quote(' '.join(commands))} -- "$word")); return ;;
{''.join(cases)}  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
  esac
}}
complete -o default -o bashdefault -F _sdsm sdsm
"""


def fish(commands: dict[str, Help]) -> str:
    lines = ["# Completion of sdsm for fish; made from the commands' --help."]
    for name, text in commands.items():
        lines.append(f"complete -c sdsm -n __fish_use_subcommand -f -a {name} -d {_fish(text.description)}")
    for name, text in commands.items():
        for entry in text.entries():
            if not entry.names:
                continue
            flags = [f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}" for option in entry.names]
            value = f"-x -a {_fish(' '.join(entry.choices))}" if entry.choices else "-r" if entry.takes_value else ""
            start = f"complete -c sdsm -n '__fish_seen_subcommand_from {name}'"
            lines.append(" ".join(filter(None, (start, *flags, value, f"-d {_fish(_short(entry.text))}"))))
    return "\n".join(lines) + "\n"


def zsh(commands: dict[str, Help]) -> str:
    described = "\n".join(f"    {_zsh(name)}:{_zsh(text.description)}" for name, text in commands.items())
    cases = []
    for name, text in commands.items():
        specifications = []
        for entry in text.entries():
            for option in entry.names:
                value = f":value:({' '.join(entry.choices)})" if entry.choices else ":value:_files" if entry.takes_value else ""
                text_shown = _short(entry.text).replace("[", "(").replace("]", ")").replace(":", " ")
                specifications.append(_zsh(f"{option}[{text_shown}]{value}"))
        cases.append(f"    {name}) _arguments {' '.join([*specifications, _zsh('*:file:_files')])} ;;")
    return f"""#compdef sdsm
# Completion of sdsm for zsh; made from the commands' --help.
_sdsm() {{
  local -a subcommands
  subcommands=(
{described}
  )
  if (( CURRENT == 2 )); then
    _describe subcommand subcommands
    return
  fi
  local chosen=$words[2]
  shift words
  (( CURRENT-- ))
  case $chosen in
{chr(10).join(cases)}
  esac
}}
_sdsm "$@"
"""


def _short(text: str) -> str:
    """Shortens an option's text for a menu."""
    first = text.split(". ")[0].split(": ")[0]
    return first if len(first) <= 70 else first[:69].rsplit(" ", 1)[0] + "…"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _zsh(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
