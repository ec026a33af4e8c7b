"""``gate completion``: a static script that completes commands and options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module

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
    from gate.cli.main import COMMANDS

    words = {command: options_of(command) for command in COMMANDS}
    shell = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]
    streams.print(shell(dict(COMMANDS), words))
    return 0


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command, as ``gate COMMAND --help`` shows it."""
    parser = argparse.ArgumentParser(prog=f"gate {command}", allow_abbrev=False)
    import_module(f"gate.cli.{command}").arguments(parser)
    return parser


def options_of(command: str) -> tuple[str, ...]:
    """Every option and every fixed word that a command takes."""
    words: list[str] = []
    for action in parser_of(command)._actions:
        words += [option for option in action.option_strings if option.startswith("--")]
        if isinstance(action, argparse._SubParsersAction):
            words += list(action.choices)
        elif not action.option_strings and action.choices:
            words += [str(choice) for choice in action.choices]
    return tuple(words)


def nearest_option(command: str, message: str) -> str | None:
    """``did you mean --baseline?`` for argparse's complaint about an option it does not know."""
    unknown = [word.partition("=")[0] for word in message.split() if word.startswith("--")]
    if not unknown or not message.startswith("unrecognized arguments"):
        return None
    near = get_close_matches(unknown[0], options_of(command), n=1)
    return f"did you mean {near[0]}?" if near else None


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
