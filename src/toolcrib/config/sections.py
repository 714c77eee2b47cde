"""How settings and entries are declared, as `k: int = whole(5, least=1, most=50)`, read from JSON and
checked, with the messages about wrong values.

Used for data that is needed before the first server starts, because pydantic would take a third of that time
(docs/decisions/0003-reading-by-hand.md and 0005-data-declarations.md).
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field
from typing import Any, ClassVar, Protocol, Self, dataclass_transform

from toolcrib.config.json_parser import KeyPath

KIND = "kind"
"""The key of a field's kind in its metadata."""


class InvalidValue(ValueError):
    """A value does not fit its field; `problem` continues a sentence that begins with the key."""

    def __init__(self, path: KeyPath, problem: str) -> None:
        super().__init__(f"{'.'.join(map(str, path))} {problem}".strip())
        self.path = path
        self.problem = problem


class FieldKind(Protocol):
    """Reads the value of one field."""

    def read(self, value: Any, path: KeyPath) -> Any:
        """The checked value; raises `InvalidValue`."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(dataclasses.field,))
class Section:
    """Immutable values with the fields that are made by the functions below.

    JSON keys are camelCase; snake_case works too. `null` counts as missing, unknown keys are ignored. A
    subclass needs no decorator: generating its methods as `@dataclass` does would slow down the start.
    """

    _fields: ClassVar[dict[str, Field[Any]]] = {}
    _names: ClassVar[dict[str, str]] = {}
    """The field of each key, in both spellings."""
    _required: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.add_fields({name: field for name, field in vars(cls).items() if isinstance(field, Field)})

    @classmethod
    def add_fields(cls, fields: Mapping[str, Any]) -> None:
        """Add fields that are declared elsewhere; to be done before the first instance."""
        cls._fields = {**cls._fields, **fields}
        cls._names = {key: name for name in cls._fields for key in (name, camel_case(name))}
        cls._required = tuple(name for name, field in cls._fields.items() if _is_required(field))

    def __init__(self, **given: Any) -> None:
        fields = self._fields
        if unknown := given.keys() - fields.keys():
            raise TypeError(f"{type(self).__name__} has no field {min(unknown)!r}")
        for name, field in fields.items():
            self.__dict__[name] = given[name] if name in given else _default(name, field)

    def __setattr__(self, name: str, value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({values})"

    @classmethod
    def read(cls, raw: Any, path: KeyPath = ()) -> Self:
        """The checked values of a JSON object; raises `InvalidValue` for the first wrong one."""
        if not isinstance(raw, Mapping):
            raise invalid_value(path, "an object: { … }", raw)
        given = dict[str, Any]()
        for key, value in raw.items():
            name = cls._names.get(key)
            if name is None or value is None or (key == name and key in given):
                continue
            given[name] = kind_of(cls._fields[name]).read(value, (*path, key))
        for name in cls._required:
            if name not in given:
                raise InvalidValue((*path, camel_case(name)), "is missing")
        return cls(**given)

    def replace(self, **changes: Any) -> Self:
        return type(self)(**{**self.__dict__, **changes})

    def as_json(self) -> dict[str, Any]:
        """All fields with the keys and values of the JSON file."""
        return {camel_case(name): _as_json(getattr(self, name)) for name in self._fields}


def fields_of(section: type[Section]) -> Mapping[str, Field[Any]]:
    """Its fields by name, inherited ones first."""
    return section._fields


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _default(name: str, field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    if field.default is MISSING:
        raise TypeError(f"the field {name!r} is missing")
    return field.default


def keys_of(section: type[Section]) -> frozenset[str]:
    """All keys that it reads, in both spellings."""
    return frozenset(section._names)


def kind_of(field: Any) -> FieldKind:
    kind: FieldKind = field.metadata[KIND]
    return kind


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def invalid_value(path: KeyPath, expected: str, value: Any) -> InvalidValue:
    """The error for a value; it names the JSON type only, because the value may be a secret."""
    found = json_type(value)
    instead = "" if expected.startswith(found) else f", not {found}"
    return InvalidValue(path, f"must be {expected}{instead}")


def json_type(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"


def _as_json(value: Any) -> Any:
    if isinstance(value, Section):
        return value.as_json()
    if isinstance(value, Mapping):
        return {name: _as_json(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def text(default: Any = MISSING, *, pattern: str = "", expected: str = "text") -> Any:
    """Text that matches the whole pattern, if there is one."""

    def fits(value: Any) -> bool:
        return isinstance(value, str) and (not pattern or re.fullmatch(pattern, value, re.DOTALL) is not None)

    return _field(_Plain(expected, fits), default)


def checked_text(default: str, expected: str, fits: Callable[[str], bool]) -> Any:
    """Text that passes the check."""
    return _field(_Plain(expected, lambda value: isinstance(value, str) and fits(value)), default)


def full_text(default: Any = MISSING) -> Any:
    """Text that is not empty."""
    return text(default, pattern=r".+", expected="text that is not empty")


def address(default: Any = MISSING) -> Any:
    """An HTTP address; may be empty if the default is."""
    pattern = r"https?://\S+" + ("|" if default == "" else "")
    return text(default, pattern=pattern, expected="an address: https://…")


def flag(default: bool) -> Any:
    return _field(_Plain("true or false", lambda value: isinstance(value, bool)), default)


def flag_or_text(default: bool) -> Any:
    return _field(_Plain("true, false or text", lambda value: isinstance(value, bool | str)), default)


def whole(default: Any, *, least: int, most: float = math.inf) -> Any:
    expected = _range(least, most).replace("a number", "a whole number")
    return _field(_Number(expected, lambda value: _is_number(value, int) and least <= value <= most), default)


def number(
    default: Any = MISSING, *, least: float = 0.0, above: float | None = None, most: float = math.inf
) -> Any:
    """A number from `least`, or from just above `above`, to `most`."""
    least = least if above is None else math.nextafter(above, math.inf)
    expected = _range(least, most) if above is None else f"a number above {above:g}"
    if above is not None and most != math.inf:
        expected += f" and at most {most:g}"

    def fits(value: Any) -> bool:
        return _is_number(value, int | float) and least <= value <= most

    return _field(_Number(expected, fits), default)


def choice(*choices: str, default: Any = "") -> Any:
    """One of these texts; the first is the default unless another is given."""
    return _field(_one_of(choices), choices[0] if default == "" else default)


def texts(default: Any = ()) -> Any:
    """A list of text, stored as a tuple."""
    return _field(_Texts(), default)


def either(json: type, first: Any, second: Any) -> Any:
    """The kind of the first field for values of this type, of the second for all others; None by default."""
    return _field(_Either(json, kind_of(first), kind_of(second)), None)


def named(field: Any) -> Any:
    """An object with any keys, whose values are each of this field's kind."""
    return _field(MappingKind(kind_of(field)), dict)


def named_texts() -> Any:
    return named(text(""))


def named_choices(*choices: str) -> Any:
    return named(choice(*choices))


def part(section: type[Section]) -> Any:
    """An object read as a section."""
    return _field(SectionKind(section), section)


def named_parts(section: type[Section]) -> Any:
    return _field(MappingKind(SectionKind(section)), dict)


def checked(expected: str, fits: Callable[[Any], bool]) -> Any:
    """Any value that passes the check."""
    return _field(_Plain(expected, fits), None)


class SectionKind:
    """Reads an object as a section."""

    def __init__(self, section: type[Section]) -> None:
        self.section = section

    def read(self, value: Any, path: KeyPath) -> Section:
        return self.section.read(value, path)


class MappingKind:
    """Reads an object with any keys."""

    def __init__(self, kind: FieldKind) -> None:
        self.kind = kind

    def read(self, value: Any, path: KeyPath) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise invalid_value(path, "an object: { … }", value)
        given = {name: inner for name, inner in value.items() if inner is not None}
        return {name: self.kind.read(inner, (*path, name)) for name, inner in given.items()}


class _Plain:
    def __init__(self, expected: str, fits: Callable[[Any], bool]) -> None:
        self.expected = expected
        self.fits = fits

    def read(self, value: Any, path: KeyPath) -> Any:
        if self.fits(value):
            return value
        raise invalid_value(path, self.expected, value)


class _Number(_Plain):
    """Shows a number that is out of range: it is no secret."""

    def read(self, value: Any, path: KeyPath) -> Any:
        if _is_number(value, int | float) and not self.fits(value):
            raise InvalidValue(path, f"must be {self.expected}, not {value}")
        return super().read(value, path)


class _Texts:
    def read(self, value: Any, path: KeyPath) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise invalid_value(path, "a list of text", value)
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise invalid_value((*path, index), "text", item)
        return tuple(value)


class _Either:
    def __init__(self, json: type, first: FieldKind, second: FieldKind) -> None:
        self.json = json
        self.first = first
        self.second = second

    def read(self, value: Any, path: KeyPath) -> Any:
        return (self.first if isinstance(value, self.json) else self.second).read(value, path)


def _one_of(choices: tuple[str, ...]) -> _Plain:
    *others, last = (f"{choice!r}" for choice in choices)
    return _Plain(f"{', '.join(others)} or {last}", lambda value: isinstance(value, str) and value in choices)


def _range(least: float, most: float) -> str:
    if most == math.inf:
        return f"a number of at least {least:g}"
    return f"a number between {least:g} and {most:g}"


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _field(kind: FieldKind, default: Any) -> Any:
    metadata = {KIND: kind}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)
