"""Strict reading of YAML: plain Python values, and for every value the place where it was written.

Why not `yaml.load`: it keeps the last of two equal keys, reads `010` as 8, `10:30` as 630 and `no` as false,
and forgets line numbers. Here the parser's *events* are turned into values by a few rules of our own:

    in quotes, or a block (| or >)                     -> str
    plain  -?(0|[1-9][0-9]*)                           -> int
    plain  decimal such as 0.2 or -1.5                 -> float
    plain  true, false                                 -> bool
    nothing, null, ~                                   -> None
    any other plain text (1e4, 010, 10:30, no, 0x10)   -> str, exactly as written

Whoever wants a number can then refuse the text and quote it. Anchors, aliases, tags, merge keys and further
documents are refused. The depth is limited while the events come in, so that nothing can recurse far.

A *path* is the tuple of keys and indices that leads to a value: ("grid", 0, "n"), shown as `grid[0].n`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from splitlab.files import is_regular_file
from splitlab.text import ConfigError, shorten

Path_ = tuple[str | int, ...]

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
MAX_ITEMS = 10_000  # of one list; nothing needs more, and range(10**12) must not be walked
MAX_DIGITS = 300  # below the int-to-str limit of Python and the overflow of float

_INT = re.compile(r"-?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_QUOTES = {"'": "'", '"': '"', "|": '"', ">": '"'}


def dotted(path: Path_) -> str:
    """A path as users write it.

    >>> dotted(("grid", 0, "n"))
    'grid[0].n'
    """
    parts = (f"[{key}]" if isinstance(key, int) else f".{shorten(key)}" for key in path)
    return "".join(parts).removeprefix(".")


def as_yaml(text: str) -> str:
    """`text` as YAML that every reader takes for text, YAML 1.1 with its `no` and `on` included."""
    words = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", text) and text.lower() not in words
    return text if plain else json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True)
class Place:
    """Where a value comes from (`label`, `line`), what was written there, and whether its path tells more."""

    label: str
    line: int | None
    written: str
    with_path: bool = True

    def __str__(self) -> str:
        return self.label if self.line is None else f"{self.label}:{self.line}"


@dataclass
class Source:
    """A value in plain Python (dict, list, str, int, float, bool, None) and the place of each part of it."""

    value: Any = None
    places: dict[Path_, Place] = field(default_factory=dict)

    def known(self, path: Path_) -> Path_:
        """The longest beginning of `path` that has a place: a missing key is reported at its mapping."""
        while path and path not in self.places:
            path = path[:-1]
        return path

    def place(self, path: Path_) -> Place:
        """The place of `path`, or of the nearest thing around it."""
        return self.places[self.known(path)]

    def at(self, path: Path_) -> str:
        """Where `path` is, to be mentioned inside a message."""
        line = self.place(path).line
        return dotted(self.known(path)) + ("" if line is None else f" on line {line}")

    def replace(self, key: str, other: Source) -> None:
        """Put `other` in the place of a top-level key; it counts as written last."""
        self.value[key] = other.value
        for path in [path for path in self.places if path[:1] == (key,)]:
            del self.places[path]
        self.places.update({(key, *path): place for path, place in other.places.items()})

    def error(self, path: Path_, message: str) -> ConfigError:
        """`PLACE: PATH: message`, to be raised by the caller."""
        known = self.known(path)
        place = self.places[known]
        name = f"{dotted(known)}: " if known and place.with_path else ""
        return ConfigError(f"{place}: {name}{message}")


def read_config(config: object, overrides: Sequence[str]) -> Source:
    """Read a file or a mapping; `overrides` (`KEY=VALUE`, with YAML values) replace its top-level keys."""
    if not isinstance(config, str | os.PathLike | Mapping):
        raise TypeError(f"config must be a path or a mapping, not {type(config).__name__}")
    if isinstance(overrides, str) or not all(isinstance(text, str) for text in overrides):
        raise TypeError("overrides must be a sequence of strings KEY=VALUE")
    source = read_python(config, "config") if isinstance(config, Mapping) else read_file(config)
    seen: set[str] = set()
    for text in overrides:
        label = f"--set {shorten(text)}"
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ConfigError(f"{label}: is not of the form KEY=VALUE, such as seed=1")
        if key in seen:
            raise ConfigError(f"{label}: key '{shorten(key)}' is set twice")
        seen.add(key)
        source.replace(key, read_text(value, label, numbered=False))
    return source


def read_file(path: str | os.PathLike[str]) -> Source:
    """Read a YAML file (UTF-8, at most 1 MB) whose top level is a mapping.

    Raises
    ------
    ConfigError
        When the file cannot be read or breaks a rule of this module; begins with `FILE:` or `FILE:LINE:`.
    """
    label = os.fsdecode(path) or "''"
    source = read_text(_decode(_read_bytes(Path(os.fsdecode(path)), label), label), label)
    if source.value is None:
        raise ConfigError(f"{label}: the file is empty")
    if not isinstance(source.value, dict):
        raise source.error((), f"the top level must be KEY: VALUE lines, not {source.place(()).written}")
    return source


def _read_bytes(path: Path, label: str) -> bytes:
    try:
        if not path.is_dir() and not is_regular_file(path):
            raise ConfigError(f"{label}: is no regular file")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"{label}: no such file") from None
    except ConfigError:
        raise
    except IsADirectoryError:
        raise ConfigError(f"{label}: is a directory, not a file") from None
    except OSError as error:
        raise ConfigError(f"{label}: cannot be read ({error.strerror})") from None
    except ValueError as error:  # a NUL or a lone surrogate in the file's name
        raise ConfigError(f"{label}: is no file name ({error})") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{label}: is larger than {MAX_BYTES} bytes; a config is a small text file")
    return data


def _decode(data: bytes, label: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{label}:{line}: not UTF-8 text (byte 0x{data[error.start]:02x})") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ConfigError(f"{label}:{line}: NUL character; a config is a text file")
    return text


def read_text(text: str, label: str, *, numbered: bool = True) -> Source:
    """Read one YAML document from a string; an empty one gives None.

    `label` begins every error message: a file name, or `--set KEY=VALUE` (not `numbered`: one line anyway).
    """
    return _Reader(text, label, numbered).read()


class _Reader:
    """Builds a `Source` from the events of PyYAML's parser (which itself does not recurse)."""

    def __init__(self, text: str, label: str, numbered: bool) -> None:
        self.text, self.label, self.numbered = text, label, numbered
        self.line = 1
        self.places: dict[Path_, Place] = {}

    def read(self) -> Source:
        try:
            return self._document()
        except yaml.reader.ReaderError as error:
            self.line = self.text.count("\n", 0, error.position) + 1
            raise self._error(f"character {chr(error.character)!r} is not allowed") from None
        except yaml.MarkedYAMLError as error:
            if mark := error.problem_mark or error.context_mark:
                self.line = mark.line + 1
            raise self._error(f"not valid YAML: {error.problem or error.context}") from None
        except (yaml.YAMLError, OverflowError) as error:
            raise self._error(f"not valid YAML: {error}") from None
        except ConfigError:
            raise
        except ValueError as error:  # PyYAML hands "\UFFFFFFFF" to chr(), and huge version numbers to int()
            raise self._error(f"not valid YAML: {error}") from None

    def _error(self, message: str) -> ConfigError:
        return ConfigError(f"{self._place('')}: {message}")

    def _place(self, written: str) -> Place:
        return Place(self.label, self.line if self.numbered else None, written)

    def _next(self) -> yaml.Event:
        event = next(self.events)
        assert event.start_mark is not None  # only events that were made by hand have none
        self.line = event.start_mark.line + 1
        if getattr(event, "anchor", None) is not None:
            raise self._error("anchors (&) and aliases (*) are not read; write the value out, or put it in quotes")
        if getattr(event, "tag", None) is not None:
            raise self._error("tags (!) are not read; leave the tag out, or put the value in quotes")
        return event

    def _document(self) -> Source:
        self.events = yaml.parse(self.text, Loader=yaml.SafeLoader)
        self._next()  # the stream's start
        if isinstance(self._next(), yaml.StreamEndEvent):
            self.places[()] = self._place("an empty value")
            return Source(None, self.places)
        value = self._node(self._next(), ())
        self._next()  # the document's end
        if not isinstance(self._next(), yaml.StreamEndEvent):
            raise self._error("a second document begins here (---); there must be one only")
        return Source(value, self.places)

    def _node(self, event: yaml.Event, path: Path_, line: int | None = None) -> Any:
        """The value that begins with `event`; `line` is that of its key, where one would look for it."""
        self.line = line or self.line
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path)
        if len(path) >= MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._mapping(path)

    def _scalar(self, event: yaml.ScalarEvent, path: Path_) -> Any:
        quote = _QUOTES.get(event.style or "", "")
        self.places[path] = self._place(
            quote + shorten(event.value) + quote if quote or event.value else "an empty value"
        )
        return event.value if quote else self._plain(event.value)

    def _plain(self, text: str) -> str | int | float | bool | None:
        if text in _WORDS:
            return _WORDS[text]
        number = _INT.fullmatch(text) or _FLOAT.fullmatch(text)
        if number and len(text) > MAX_DIGITS:
            raise self._error(f"{shorten(text, 20)} is a number of {len(text)} digits, which is too long")
        if not number:
            return text
        return float(text) if "." in text else int(text)

    def _sequence(self, path: Path_) -> list[Any]:
        self.places[path] = self._place("a list")
        values: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            if len(values) == MAX_ITEMS:
                raise self._error(f"a list of more than {MAX_ITEMS} items is too long")
            values.append(self._node(event, (*path, len(values))))
        return values

    def _mapping(self, path: Path_) -> dict[str, Any]:
        self.places[path] = self._place("a mapping")
        values: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key, line = self._key(event, path), self.line
            values[key] = self._node(self._next(), (*path, key), line)
        return values

    def _key(self, event: yaml.Event, path: Path_) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._error("a key must be text, not a list or a mapping")
        if event.style is None and event.value == "<<":
            raise self._error("merge keys (<<) are not read; write the keys out")
        key = event.value if event.style else self._plain(event.value)
        if not isinstance(key, str) or not key.isprintable():
            raise self._error(f"a key must be text, not {shorten(event.value) or 'empty'}")
        if (*path, key) in self.places:
            first = self.places[(*path, key)].line
            where = "" if first is None else f"; it is already on line {first}"
            raise self._error(f"key '{shorten(key)}' is repeated{where}")
        return key


def read_python(value: object, label: str) -> Source:
    """Copy a value handed over from Python, under the rules for files; `label` begins every error message.

    NumPy's scalars and arrays (anything with `tolist`) become plain numbers and lists; tuples become lists.
    """
    source = Source()
    source.value = _copy(value, label, (), source.places)
    return source


def _copy(value: Any, label: str, path: Path_, places: dict[Path_, Place]) -> Any:
    if callable(tolist := getattr(value, "tolist", None)):
        value = tolist()
    if not isinstance(value, Mapping | list | tuple | range):
        places[path] = Place(label, None, _repr(value))
        return str(value) if isinstance(value, str) else value
    if len(path) >= MAX_DEPTH:
        raise ConfigError(f"{label}: {shorten(dotted(path))}: nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return _copy_mapping(value, label, path, places)
    places[path] = Place(label, None, "a list")
    if len(value) > MAX_ITEMS:
        raise ConfigError(f"{label}: {dotted(path)}: a list of more than {MAX_ITEMS} items is too long")
    return [_copy(item, label, (*path, i), places) for i, item in enumerate(value)]


def _copy_mapping(value: Mapping[Any, Any], label: str, path: Path_, places: dict[Path_, Place]) -> dict[str, Any]:
    places[path] = Place(label, None, "a mapping")
    for key in value:
        if not isinstance(key, str) or not key.isprintable():
            name = f"{dotted(path)}: " if path else ""
            raise ConfigError(f"{label}: {name}a key must be text, not {_repr(key)}")
    return {str(key): _copy(item, label, (*path, str(key)), places) for key, item in value.items()}


def _repr(value: object) -> str:
    try:
        return shorten(repr(value))
    except ValueError:  # an int beyond Python's limit of digits
        return "a number of thousands of digits"
