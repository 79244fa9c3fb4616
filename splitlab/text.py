"""Words for messages: errors, quotes of what a user wrote, suggestions, durations."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


class ConfigError(ValueError):
    """The configuration is wrong; `str(error)` is one printable line that says where and why."""

    def __init__(self, message: str) -> None:
        super().__init__(escape(message))


def escape(text: str) -> str:
    """`text` with line breaks, control characters and lone surrogates written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shorten(text: str, limit: int = 60) -> str:
    """`text` on one line, cut to about `limit` characters."""
    line = escape(text[: 2 * limit])
    return line if len(line) <= limit else line[:limit] + "..."


def did_you_mean(text: object, known: Iterable[str]) -> str:
    """A question that names the nearest of the known words, or nothing."""
    close = nearest(text, {name: name for name in known})
    return f"did you mean '{close}'?" if close else ""


def nearest(text: object, known: Mapping[str, str]) -> str:
    """What the nearest of the known words stands for, or nothing; letters count as the same in upper and lower case."""
    if not isinstance(text, str):
        return ""
    words = {word.casefold(): meaning for word, meaning in known.items()}
    close = difflib.get_close_matches(text[:100].casefold(), list(words), n=1)
    return words[close[0]] if close else ""


def counted(number: int, what: str) -> str:
    """A number of things, in the plural where it belongs: '1 run', '12 runs', '2 entries', '3 classes'."""
    if number == 1:
        return f"1 {what}"
    if what.endswith("y"):
        return f"{number:,} {what[:-1]}ies"
    return f"{number:,} {what}{'es' if what.endswith('s') else 's'}"


def are(number: int) -> str:
    """The verb that goes with a number of things."""
    return "is" if number == 1 else "are"


def duration(seconds: float) -> str:
    """A duration in words, to two digits: '40 s', '3.2 hours', '1.5e+06 years'."""
    for unit, length in (("years", 3.15576e7), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.0f} s" if seconds >= 99.5 else f"{seconds:.2g} s"
