"""Reads JSON objects into frozen dataclasses and writes them back, for the messages of the gRPC interface.

A choice is a lower-case word; its full enum name is accepted too if its type says the prefix of these, as in
`Annotated[Literal["and", "or"], "OPERATOR_"]`. Unknown keys, wrong types and texts that
are too long raise `ToolFailure` with the place, such as `macro.actions[2].wait.duration`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, cast

from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

T = TypeVar("T")
MAX_TEXT = 20_000
MAX_ITEMS = 2_000
MAX_JSON = 2 * MAX_TEXT
DEEPEST = 64
"""Levels of nested objects; readers of recursive records set lower limits of their own."""


class OneOf:
    """Mixed into a record of which exactly one of these fields is set."""

    ONE_OF: ClassVar[tuple[str, ...]] = ()

    @property
    def chosen(self) -> str:
        """The name of the field that is set."""
        return next(name for name in self.ONE_OF if getattr(self, name) is not None)


def read_record(kind: type[T], value: Any, path: str, depth: int = 0) -> T:
    """Raises `ToolFailure` if the value is not such a record."""
    if not isinstance(value, Mapping):
        raise ToolFailure(f"{path} must be an object.")
    if depth > DEEPEST:
        raise ToolFailure(f"{path} is nested too deeply.")
    hints = _hints(cast("Any", kind))
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in value:
        if key not in fields:
            raise ToolFailure(f"{path} has no field {key!r}.", did_you_mean(str(key), list(fields)))
    given = {
        name: _read(hints[name], item, f"{path}.{name}", depth)
        for name, item in value.items()
        if item is not None
    }
    given = {name: item for name, item in given.items() if item is not None}
    _check_complete(kind, fields, given, path)
    return kind(**given)


def write_record(record: Any) -> dict[str, Any]:
    """The JSON object; fields with their default value are left out."""
    return {
        field.name: _plain(getattr(record, field.name))
        for field in dataclasses.fields(record)
        if getattr(record, field.name) != _default(field)
    }


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _check_complete(kind: type[Any], fields: Mapping[str, Any], given: Mapping[str, Any], path: str) -> None:
    missing = [name for name, field in fields.items() if name not in given and _is_required(field)]
    if missing:
        raise ToolFailure(f"{path} needs {', '.join(missing)}.")
    choices: tuple[str, ...] = getattr(kind, "ONE_OF", ())
    chosen = [name for name in choices if name in given]
    if choices and len(chosen) != 1:
        problem = f"has {len(chosen)} of them" if chosen else "has none of them"
        raise ToolFailure(f"{path} needs exactly one of {', '.join(choices)}; it {problem}.")


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _read(hint: Any, value: Any, path: str, depth: int) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _read(next(inner for inner in arguments if inner is not type(None)), value, path, depth)
    if origin is typing.Annotated:
        return _choice(typing.get_args(arguments[0]), value, path, arguments[1])
    if origin is typing.Literal:
        return _choice(arguments, value, path, "")
    if origin is tuple:
        return _list(arguments[0], value, path, depth)
    if origin is dict:
        return _object(value, path)
    if origin is not None:
        return _texts(value, path)
    if dataclasses.is_dataclass(hint):
        return read_record(hint, value, path, depth + 1)  # type: ignore[arg-type]
    return _SIMPLE[hint](value, path)


def _choice(choices: tuple[str, ...], value: Any, path: str, prefix: str) -> str | None:
    word = value.removeprefix(prefix).casefold() if isinstance(value, str) else ""
    if prefix and word == "unspecified":
        return None
    if word not in choices:
        raise ToolFailure(f"{path} is one of {', '.join(choices)}, not {value!r}.")
    return word


def _list(hint: Any, value: Any, path: str, depth: int) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or len(value) > MAX_ITEMS:
        raise ToolFailure(f"{path} must be a list of at most {MAX_ITEMS} items.")
    return tuple(_read(hint, item, f"{path}[{index}]", depth) for index, item in enumerate(value))


def _object(value: Any, path: str) -> dict[str, Any]:
    """JSON that is checked elsewhere."""
    if not isinstance(value, Mapping) or len(json.dumps(value, default=str, ensure_ascii=False)) > MAX_JSON:
        raise ToolFailure(f"{path} must be an object of at most {MAX_JSON} characters.")
    return dict(value)


def _texts(value: Any, path: str) -> dict[str, str]:
    """A map of texts; numbers and truth values become texts."""
    if not isinstance(value, Mapping) or len(value) > MAX_ITEMS:
        raise ToolFailure(f"{path} must be an object of texts.")
    return {_text(str(key), path): _text(as_text(item), f"{path}.{key}") for key, item in value.items()}


def as_text(value: Any) -> Any:
    """A number or truth value as text; everything else unchanged."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise ToolFailure(f"{path} must be a text of at most {MAX_TEXT} characters.")
    return value


def _number(value: Any, path: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise ToolFailure(f"{path} must be a number.")
    return float(value)


def _integer(value: Any, path: str) -> int:
    number = _number(value, path)
    if not number.is_integer():
        raise ToolFailure(f"{path} must be a whole number.")
    return int(number)


def _truth(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise ToolFailure(f"{path} must be true or false.")
    return value


_SIMPLE: dict[Any, Any] = {str: _text, float: _number, int: _integer, bool: _truth}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return write_record(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value
