"""Reads JSON objects and enum values into Python and writes them back, for messages of the gRPC interface.
Decides how strictly they are checked: longest text, most items, depth, and the errors.

pydantic checks them. It is loaded with the first record, because most tools do without it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from pydantic_core import ValidationError, to_json

from toolcrib.bundled.desktop.failures import InvalidFormat
from toolcrib.schema.mistakes import first_mistake
from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
MAX_TEXT = 20_000
MAX_ITEMS = 2_000
DEEPEST = 190
"""Levels of lists and objects; readers of recursive records set lower limits of their own."""
RULES: dict[str, Any] = {
    "extra": "forbid",
    "strict": True,
    "str_max_length": MAX_TEXT,
    "allow_inf_nan": False,
}
"""The `__pydantic_config__` of a record; those inside it inherit it."""


class OneOf:
    """Mixed into a record of which exactly one of these fields is set."""

    ONE_OF: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        chosen = [name for name in self.ONE_OF if getattr(self, name) is not None]
        if len(chosen) != 1:
            problem = f"has {len(chosen)} of them" if chosen else "has none of them"
            raise ValueError(f"needs exactly one of {', '.join(self.ONE_OF)}; it {problem}")

    @property
    def chosen(self) -> str:
        """The name of the field that is set."""
        return next(name for name in self.ONE_OF if getattr(self, name) is not None)


@dataclass(frozen=True)
class Before:
    """Changes a value before it is checked: pydantic's `BeforeValidator`, without loading pydantic."""

    change: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> dict[str, Any]:
        function = {"type": "no-info", "function": self.change}
        return {"type": "function-before", "function": function, "schema": handler(source)}


def enum_word(prefix: str, unspecified: str = "") -> Before:
    """Accepts the full name of an enum's value for its lower-case word."""

    def change(value: Any) -> Any:
        word = value.removeprefix(prefix).casefold() if isinstance(value, str) else value
        return unspecified if word == "unspecified" else word

    return Before(change)


def whole(value: Any) -> Any:
    """2.0 as 2; everything else unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def as_text(value: Any) -> Any:
    """A number or truth value as text; everything else unchanged."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(whole(value)) if isinstance(value, int | float) else value


def read_record(kind: type[T], value: Any, path: str) -> T:
    """Raises `ToolFailure` if the value is not such a record."""
    adapter: TypeAdapter[T] = _adapter(cast("Any", kind))
    try:
        # As JSON, because pydantic is strict about JSON types only there.
        return adapter.validate_json(to_json(_given(value), inf_nan_mode="constants"))
    except ValidationError as error:
        raise ToolFailure(*first_mistake(error, adapter.json_schema(), path)) from None
    except ValueError as error:
        raise ToolFailure(f"{path} cannot be read: {error}.") from None


def write_record(record: Any) -> dict[str, Any]:
    """The JSON object; fields with their default value are left out."""
    adapter = _adapter(cast("Any", type(record)))
    written: dict[str, Any] = adapter.dump_python(record, mode="json", exclude_defaults=True)
    return written


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _given(value: Any, depth: int = 0) -> Any:
    """Without what is null, which counts as not given."""
    if isinstance(value, Mapping | list | tuple) and len(value) > MAX_ITEMS:
        raise ValueError(f"a list or object in it has more than {MAX_ITEMS} items")
    if depth > DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, Mapping):
        return {key: _given(inner, depth + 1) for key, inner in value.items() if inner is not None}
    return [_given(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value


def read_enum(
    parameter: str, given: str | None, prefix: str, choices: Mapping[str, str], default: str
) -> str:
    """The chosen value; `choices` maps each accepted word to it. Raises `InvalidFormat` with the choices."""
    word = (given or "").strip().lower().removeprefix(f"{prefix.lower()}_")
    if word in ("", "unspecified"):
        return default
    if word not in choices:
        raise InvalidFormat(f"{parameter} cannot be {given!r}.", f"Choose one of: {', '.join(choices)}.")
    return choices[word]
