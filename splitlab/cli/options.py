"""What the commands share: exit codes, the parser, types of options, and a way to say something."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

DONE, DIFFERS, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """argparse with one line per error, and no abbreviated options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and leave with exit code 2."""
        self.exit(WRONG_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


# The commands of a parser, to which each module of commands adds its own.
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_no_plugins(command: argparse.ArgumentParser) -> None:
    """The option that refuses user-defined functions."""
    command.add_argument("--no-plugins", action="store_true", help="import no functions that are named as splitters")


def add_run_options(target: argparse.ArgumentParser) -> None:
    """The options that every experiment has."""
    target.add_argument("--runs", type=whole, metavar="N", help="tables per configuration, instead of the config's")
    target.add_argument("--jobs", type=whole, metavar="J", help="worker threads (default: all processors)")
    target.add_argument("--out", type=Path, metavar="DIR", help="results folder (default: results/NAME)")


def whole(text: str) -> int:
    """A whole number in plain digits; nothing is reinterpreted."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19 and (digits == "0" or digits[0] != "0")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; write plain digits, such as 10000")
    return int(text)


def numbers(text: str) -> list[float]:
    """Decimal numbers between commas."""
    for part in text.split(","):
        if not re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", part):
            raise argparse.ArgumentTypeError(f"{part!r} is not a number; write one per class, such as 1,0,0.5")
    return [float(part) for part in text.split(",")]


def number(text: str) -> float:
    """A decimal number."""
    try:
        values = numbers(text)
    except argparse.ArgumentTypeError:
        values = []
    if len(values) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not one number; write one, such as 0.2")
    return values[0]


def say(line: str) -> None:
    """One line on stderr, whatever is in it, if it can be written."""
    if sys.stderr:
        with suppress(OSError, ValueError):
            print(" ".join(line.splitlines()), file=sys.stderr, flush=True)


def import_named(names: dict[str, str], allowed: bool = True) -> None:
    """Import the functions among splitters and impurities (commas between names), and say from where.

    The current folder is searched too.
    """
    from splitlab.engine.names import Plugins, plugin_problems

    plugins = Plugins(allowed=allowed, announce=say, folders=(Path(),))
    for (_, name), problem in plugin_problems(
        {field: tuple(name.split(",")) for field, name in names.items()}, plugins
    ):
        raise ValueError(f"{name}: {problem}")
