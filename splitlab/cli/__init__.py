"""The command line. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from splitlab.cli import runs, tables, trees
from splitlab.cli.options import (
    DIFFERS,
    DONE,
    INTERRUPTED,
    WRONG_INPUT,
    Commands,
    Parser,
    add_run_options,
    say,
    whole,
)
from splitlab.processes import lacks_memory

__all__ = [
    "DIFFERS", "DONE", "INTERRUPTED", "WRONG_INPUT", "Parser", "add_run_options", "guarded", "main", "parser", "whole",
]  # fmt: skip


def parser() -> Parser:
    """The commands and their options."""
    from splitlab import __version__

    top = Parser(prog="splitlab", description="Monte Carlo experiments on binary splits of nominal attributes.")
    top.add_argument("--version", action="version", version=f"splitlab {__version__}")
    commands: Commands = top.add_subparsers(required=True, metavar="COMMAND")
    for module in (runs, tables, trees):
        module.add_commands(commands)
    return top


def guarded(prog: str, action: object, *arguments: object) -> int:
    """Call ``action``; a user's mistake becomes one line on stderr and exit code 2."""
    try:
        return action(*arguments)  # type: ignore[operator]
    except KeyboardInterrupt as interrupt:
        say(f"{prog}: interrupted{f'; {interrupt}' if str(interrupt) else ''}")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        _say_failure(prog, error)
    return WRONG_INPUT


def _say_failure(prog: str, error: Exception) -> None:
    from splitlab.dependencies import user_code_of

    what = f"{type(error).__name__}: {error}"
    if lacks_memory(error):
        in_one_line = " ".join(what.split())
        say(f"{prog}: error: out of memory ({in_one_line}); what is finished is kept, and fewer --jobs need less")
    elif isinstance(error, OSError):
        say(f"{prog}: error: {f'{error.filename}: {error.strerror}' if error.filename else error}")
    elif isinstance(error, ValueError):
        say(f"{prog}: error: {error}")
    elif os.environ.get("SPLITLAB_DEBUG"):
        raise error
    elif place := user_code_of(error):
        say(f"{prog}: error: {place}: {what}")
    elif isinstance(error, TypeError):
        say(f"{prog}: error: {error}")
    else:
        say(f"{prog}: internal error: {what} (SPLITLAB_DEBUG=1 shows where; please report it)")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the ``splitlab`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to fail
    args = parser().parse_args(argv)
    return guarded("splitlab", args.command, args)
