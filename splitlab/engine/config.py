"""Configs: how a YAML file becomes the checked experiment of its kind. Which kinds there are is not known here."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ValidationInfo

from splitlab.engine.names import Plugins, problem_of_name
from splitlab.engine.yaml_source import Path_, Place, Source, as_yaml, dotted, read_config, read_python
from splitlab.text import ConfigError, did_you_mean, shorten

MAX_RUNS = 10**9


def _problem(predicate: str) -> PydanticCustomError:
    return PydanticCustomError("splitlab", "{message}", {"message": predicate})


def whole(low: int, high: int) -> BeforeValidator:
    def check(value: object, info: ValidationInfo) -> object:
        rule = f"{info.field_name} must be a whole number from {low} to {high}"
        if type(value) is not int:
            quoted = isinstance(value, str) and re.fullmatch("[1-9][0-9]*", value)
            how = "in plain digits without quotes" if quoted else "in plain digits"
            raise _problem(f"is not a whole number; write a whole number {how}, such as 10000 ({rule})")
        if not low <= value <= high:
            raise _problem(f"is too {'small' if value < low else 'large'}; {rule}")
        return value

    return BeforeValidator(check)


def check_name(value: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", value):
        return value
    rule = "letters a-z and A-Z, digits and . _ - only, no . or - at the start, 1 to 100 characters"
    raise _problem(f"cannot be a name; name must have {rule}")


def check_published(value: str) -> str:
    if value.strip() and value.isprintable():
        return value
    raise _problem("must be a name or a path, in printable characters")


def _check_known(value: str, info: ValidationInfo) -> str:
    if problem := problem_of_name(value, info.field_name or "", info.context):
        raise _problem(problem)
    return value


def as_tuple(value: object) -> object:
    """A list as a tuple: experiments do not change."""
    return tuple(value) if isinstance(value, list) else value


def _one_or_more(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


one_or_more = (BeforeValidator(_one_or_more), Field(min_length=1))
Names = Annotated[tuple[Annotated[str, AfterValidator(_check_known)], ...], *one_or_more]


class Closed(BaseModel):
    """A part of a config: other keys, and values of other types, are errors."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _lists_as_tuples(cls, written: Any) -> Any:
        """Lists of YAML as tuples, for the fields that are tuples."""
        if not isinstance(written, Mapping):
            return written
        tuples = {key for key, field in cls.model_fields.items() if get_origin(field.annotation) is tuple}
        return {key: as_tuple(value) if key in tuples else value for key, value in written.items()}


class Experiment(Closed):
    """An experiment as its config says it, checked. Each kind of experiment has a model of its own.

    Attributes
    ----------
    name : str
        Also the name of the folder of results.
    kind : str
    source : pathlib.Path or None
        The config file; no part of equality.
    """

    # Keys that are written last, and values that are not written.
    LAST: ClassVar[tuple[str, ...]] = ("published", "grid")
    UNWRITTEN: ClassVar[Mapping[str, object]] = {}
    FOREIGN: ClassVar[tuple[str, ...]] = ()  # keys of other kinds, which people try here: an error says so

    name: Annotated[str, AfterValidator(check_name)]
    kind: str
    _source: Path | None = PrivateAttr(default=None)

    @property
    def source(self) -> Path | None:
        """The config file."""
        return self._source

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, f) == getattr(other, f) for f in type(self).model_fields)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, field) for field in type(self).model_fields))

    def changed(self, **values: Any) -> Self:
        """The experiment with other values for some keys, which are not checked."""
        return self.model_copy(update=values)

    def resolved(self, source: Source) -> Self:
        """The experiment in the form that is kept with its results; ConfigError for what several keys say together."""
        return self

    @classmethod
    def put_runs(cls, source: Source, given: Source, place: Place) -> None:
        """Replace the numbers of runs in a config by ``given``, marked as coming from ``place``."""

    def to_yaml(self) -> str:
        """The config; reading it gives an equal experiment."""
        keys = [key for key in type(self).model_fields if key not in self.LAST]
        keys += [key for key in self.LAST if key in type(self).model_fields]
        values = {key: getattr(self, key) for key in keys}
        written = {key: value for key, value in values.items() if (key, value) not in self.UNWRITTEN.items()}
        return "".join(f"{key}:{_written(value)}\n" for key, value in written.items())


def _written(value: object) -> str:
    """A value as it stands behind the colon of its key."""
    if isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        return "".join(f"\n  - {{{', '.join(f'{k}: {_scalar(_single(v))}' for k, v in entry)}}}" for entry in value)
    return f" {_scalar(value)}"


def _single(value: object) -> object:
    """The only item of a tuple that has just one."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_scalar, value))}]"
    return as_yaml(value) if isinstance(value, str) else str(value)


ModelOf = Callable[[str], type[Experiment] | None]  # the model of a kind, None for an unknown one


def load_experiment(
    config: str | os.PathLike[str] | Mapping[str, Any],
    model_of: ModelOf,
    kinds: Sequence[str],
    *,
    runs: int | None = None,
    overrides: Sequence[str] = (),
    name_default: str | None = None,
    plugins: Plugins | None = None,
) -> Experiment:
    """Read and check a config; `splitlab.study.load_experiment` does so for the kinds that there are.

    Parameters
    ----------
    config : path or Mapping
        A YAML file, or its content as a dict (NumPy integers and arrays, and tuples, are accepted).
    model_of : callable
        Gives the model of a kind by its name, and None for an unknown one.
    kinds : sequence of str
        The names of kinds that messages list; the first is the default.
    runs : int, optional
        Replaces the `runs` of every cell.
    overrides : sequence of str
        `KEY=VALUE`: top-level keys with YAML values, replacing those of the config.
    name_default : str, optional
        The name of a config that has none.
    plugins : Plugins, optional
        What is done about names ``package.module:function``; by default they are imported.

    Returns
    -------
    Experiment
        An instance of the model of its kind.

    Raises
    ------
    ConfigError
        A ValueError; one line with the place, the value, and what would be right.
    TypeError
        When `config` is neither a path nor a mapping, or `overrides` no sequence of strings.
    """
    source = read_config(config, overrides)
    if name_default is not None and "name" not in source.value:
        source.replace("name", read_python(name_default, "name_default"))
    path = None if isinstance(config, Mapping) else Path(config)
    context = replace(plugins or Plugins(), folders=(*([path.parent] if path else []), Path()))
    model = _model_of_kind(source, model_of, kinds, context)
    if runs is not None:
        given = read_python(runs, "--runs")
        model.put_runs(source, given, replace(given.places[()], with_path=False))
    for key in (key for key in source.value if key in model.FOREIGN):
        raise source.error((key,), "does not go with this kind of experiment; leave it out")
    try:
        experiment = model.model_validate(source.value, context=context)
    except ValidationError as error:
        raise _first_error(error.errors(include_url=False, include_input=False), model, source) from None
    experiment._source = path
    return experiment.resolved(source)


def _model_of_kind(source: Source, model_of: ModelOf, kinds: Sequence[str], plugins: Plugins) -> type[Experiment]:
    """The model of the kind that a config names; user-defined ones, ``package.module:Class``, are imported."""
    kind = source.value.get("kind", kinds[0])
    if isinstance(kind, str):
        if problem := problem_of_name(kind, "kind", plugins):
            raise source.error(("kind",), f"{source.place(('kind',)).written} {problem}")
        if model := model_of(kind):
            return model
    written, available = source.place(("kind",)).written, f"available: {', '.join(kinds)}"
    raise source.error(("kind",), f"{written} is not a kind; {did_you_mean(kind, kinds) or available}")


_PREDICATES = {  # of pydantic's own types of error
    "string_type": "is not text; write a name, in quotes when it looks like a number or a word of YAML",
    "string_unicode": "is not text that UTF-8 can hold",
    "bool_type": "is neither true nor false",
    "tuple_type": "is not a list; write one entry per line, each beginning with '- '",
    "list_type": "is not a list; write one entry per line, each beginning with '- '",
    "too_short": "has no items; at least one is needed",
    "model_type": "is not a mapping; write KEY: VALUE pairs",
    "literal_error": "is not possible here; write {expected}",
}


def _first_error(errors: list[ErrorDetails], model: type[BaseModel], source: Source) -> ConfigError:
    """The first error in the order of writing; what is missing was written nowhere and comes last."""
    order = {path: i for i, path in enumerate(source.places)}
    first = min(errors, key=lambda e: (e["type"] == "missing", order[source.known(e["loc"])]))
    path = first["loc"]
    if first["type"] == "missing":
        return source.error(path[:-1], f"key '{path[-1]}' is missing")
    if first["type"] == "extra_forbidden":
        return _unknown_key(path, model, source)
    details = first.get("ctx", {})
    predicate = details.get("message") or _PREDICATES.get(first["type"], first["msg"]).format(**details)
    return source.error(path, f"{source.place(path).written} {predicate}")


def _unknown_key(path: Path_, model: type[BaseModel], source: Source) -> ConfigError:
    for name in (key for key in path[:-1] if isinstance(key, str)):
        model = get_args(model.model_fields[name].annotation)[0]  # list[GridEntry] -> GridEntry
    key, known = str(path[-1]), list(model.model_fields)
    where = f"{dotted(path[:-1])}: " if len(path) > 1 else ""
    hint = did_you_mean(key, known) or f"known keys: {', '.join(known)}"
    return ConfigError(f"{source.place(path)}: {where}unknown key '{shorten(key)}'; {hint}")


def refuse_repeats(key: str, names: Sequence[str], source: Source) -> None:
    """ConfigError when a name of the list under `key` is there twice."""
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        if first.setdefault(name, i) < i:
            earlier = source.at((key, first[name]))
            raise source.error((key, i), f"'{shorten(name)}' is repeated; it is already in {earlier}")
