"""``gate completion``: a static script that completes commands and options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from gate.cli.commands import COMMANDS, options_of
from gate.cli.streams import Streams

EPILOG = """\
examples:
  gate completion bash > ~/.local/share/bash-completion/completions/gate
  gate completion zsh > ~/.zfunc/_gate          (with fpath=(~/.zfunc $fpath) before compinit)
  gate completion fish > ~/.config/fish/completions/gate.fish

The script is static: it starts no gate when you press the tab key."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate completion``."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell to write for")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the script."""
    words = {command: options_of(command) for command in COMMANDS}
    shell = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]
    streams.print(shell(dict(COMMANDS), words))
    return 0


def _bash(commands: Mapping[str, str], words: Mapping[str, tuple[str, ...]]) -> str:
    cases = "\n".join(f'    {command}) words="{" ".join(found)}" ;;' for command, found in words.items())
    return f"""\
# bash completion for gate
_gate() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(commands)}" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}}
complete -o filenames -F _gate gate"""


def _zsh(commands: Mapping[str, str], words: Mapping[str, tuple[str, ...]]) -> str:
    described = "\n".join(f"    '{name}:{_quiet(text)}'" for name, text in commands.items())
    cases = "\n".join(
        f"    {name}) compadd -- {' '.join(found)} ;;" for name, found in words.items() if found
    )
    return f"""\
#compdef gate
_gate() {{
  local -a commands
  commands=(
{described}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case "$words[2]" in
{cases}
  esac
  _files
}}
_gate "$@\""""


def _fish(commands: Mapping[str, str], words: Mapping[str, tuple[str, ...]]) -> str:
    lines = ["# fish completion for gate"]
    for name, text in commands.items():
        lines.append(f"complete -c gate -n __fish_use_subcommand -f -a {name} -d '{_quiet(text)}'")
        for word in words[name]:
            form = f"-l {word.removeprefix('--')}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c gate -n '__fish_seen_subcommand_from {name}' {form}")
    return "\n".join(lines)


def _quiet(text: str) -> str:
    return text.replace("'", "").replace(":", "")
