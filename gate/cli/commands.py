"""The commands by name, and how a command line is read: every mistake is a GateError like all others."""

from __future__ import annotations

import argparse

from gate.values import GateError

TYPE_CHECKING = False  # typing itself would cost more than all of --version
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

COMMANDS = {
    "run": "decide whether a candidate may replace its baseline",
    "compare": "a first answer from two result files, without a policy",
    "demo": "why two means decide nothing, in one screen; needs no file",
    "init": "propose a commented policy from two result files",
    "check": "validate a policy and say what it can and cannot claim",
    "stages": "which items to score before the first look, where a policy has stages",
    "plan": "how many items a decision needs, before anything is scored",
    "selftest": "plant regressions and gains, and say what a policy catches",
    "aa": "two runs of one system: the noise floor, and how often a policy takes noise for a gain",
    "items": "which items of past results still decide, and which never do",
    "backtest": "what a policy would have done over past cycles, with and without a real gain",
    "replay": "run both systems over the same recorded cases, for the gate to compare",
    "judge": "hold an automatic judge against what people decided, before its scores may gate",
    "baseline": "keep the results that others are compared with",
    "pull": "write the results of a tracked run to a file",
    "history": "start, show, verify or merge the history of past decisions",
    "verify": "reproduce a report, or tell a deployment whether a candidate was promoted",
    "schema": "print the JSON Schema of a policy, suite, report or history record",
    "render": "print a saved report in another format",
    "explain": "what a caution, a term or a test means",
    "formats": "list the result files that can be read",
    "completion": "print a completion script for bash, zsh or fish",
    "ci": "decide inside a CI job, by the policy of the base side",
}


class Once(argparse.Action):
    """An option that may be given once: the last of two would win silently."""

    def __call__(  # noqa: D102
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        given = namespace.__dict__.setdefault("_given", set())
        if option_string and self.dest in given:
            parser.error(f"{option_string} is given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are GateErrors like all others."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("action", None, Once)
        self.register("action", "store", Once)

    def error(self, message: str) -> NoReturn:
        """Turn argparse's complaint into the one error form."""
        near = nearest_option(self.prog.partition(" ")[2], message)
        raise GateError("usage", message, help=near or f"see {self.prog} --help")


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command, as ``gate COMMAND --help`` shows it."""
    from importlib import import_module

    parser = argparse.ArgumentParser(prog=f"gate {command}", allow_abbrev=False)
    import_module(f"gate.cli.{command}").arguments(parser)
    return parser


def options_of(command: str) -> tuple[str, ...]:
    """Every option and every fixed word that a command takes, those of its actions too."""
    return tuple(dict.fromkeys(_words_of(parser_of(command))))


def _words_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices
            for inner in action.choices.values():
                yield from _words_of(inner)
        elif not action.option_strings and action.choices:
            yield from (str(choice) for choice in action.choices)


def nearest_option(command: str, message: str) -> str | None:
    """``did you mean --baseline?`` for argparse's complaint about an option it does not know."""
    unknown = [word.partition("=")[0] for word in message.split() if word.startswith("--")]
    if not unknown or not message.startswith("unrecognized arguments"):
        return None
    from difflib import get_close_matches

    near = get_close_matches(unknown[0], options_of(command), n=1)
    return f"did you mean {near[0]}?" if near else None
