"""What the fields of a `Section` take: `k: int = whole(5, least=1, most=50)`."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from toolcrib.config.fields import range_words
from toolcrib.config.parsing import KeyPath
from toolcrib.config.reading import KIND, Kind, Section, Unfit, unfit


def text(default: Any = MISSING, *, pattern: str = "", expected: str = "text") -> Any:
    """Text; where there is a pattern, all of it must match."""

    def fits(value: Any) -> bool:
        return isinstance(value, str) and (not pattern or re.fullmatch(pattern, value, re.DOTALL) is not None)

    return _field(_Plain(expected, fits), default)


def full_text(default: Any = MISSING) -> Any:
    """Text that is not empty."""
    return text(default, pattern=r".+", expected="text that is not empty")


def address(default: Any = MISSING) -> Any:
    """Where something is reached over HTTP; nothing, where that is the default."""
    pattern = r"https?://\S+" + ("|" if default == "" else "")
    return text(default, pattern=pattern, expected="an address: https://…")


def flag(default: bool) -> Any:
    """True or false."""
    return _field(_Plain("true or false", lambda value: isinstance(value, bool)), default)


def flag_or_text(default: bool) -> Any:
    """True, false, or text."""
    return _field(_Plain("true, false or text", lambda value: isinstance(value, bool | str)), default)


def whole(default: Any, *, least: int, most: float = math.inf) -> Any:
    """A whole number within bounds."""
    expected = range_words(least, most).replace("a number", "a whole number")
    return _field(_Number(expected, lambda value: _is_number(value, int) and least <= value <= most), default)


def number(
    default: Any = MISSING, *, least: float = 0.0, above: float | None = None, most: float = math.inf
) -> Any:
    """A number within bounds, of which the lower one may be too little already."""
    least = least if above is None else math.nextafter(above, math.inf)
    expected = range_words(least, most) if above is None else f"a number above {above:g}"
    if above is not None and most != math.inf:
        expected += f" and at most {most:g}"

    def fits(value: Any) -> bool:
        return _is_number(value, int | float) and least <= value <= most

    return _field(_Number(expected, fits), default)


def choice(*choices: str, default: str = "") -> Any:
    """One of a few words; the first, unless told otherwise."""
    return _field(_one_of(choices), default or choices[0])


def texts(default: Any = ()) -> Any:
    """A list of text, kept as a tuple."""
    return _field(_Texts(), default)


def named_texts() -> Any:
    """An object of text."""
    return _field(Named(_Plain("text", lambda value: isinstance(value, str))), dict)


def named_choices(*choices: str) -> Any:
    """An object whose values are each one of a few words."""
    return _field(Named(_one_of(choices)), dict)


def part(section: type[Section]) -> Any:
    """A section inside."""
    return _field(Part(section), section)


def named_parts(section: type[Section]) -> Any:
    """An object of sections."""
    return _field(Named(Part(section)), dict)


@dataclass(frozen=True)
class Part:
    """Takes an object and reads a section out of it."""

    section: type[Section]

    def read(self, value: Any, path: KeyPath) -> Section:
        """The section."""
        return self.section.read(value, path)


@dataclass(frozen=True)
class Named:
    """Takes an object with any names."""

    kind: Kind

    def read(self, value: Any, path: KeyPath) -> dict[str, Any]:
        """What stands under each name."""
        if not isinstance(value, Mapping):
            raise unfit(path, "an object: { … }", value)
        return {name: self.kind.read(inner, (*path, name)) for name, inner in value.items()}


@dataclass(frozen=True)
class _Plain:
    """Takes a value as it is, if it fits."""

    expected: str
    fits: Callable[[Any], bool]

    def read(self, value: Any, path: KeyPath) -> Any:
        if self.fits(value):
            return value
        raise unfit(path, self.expected, value)


class _Number(_Plain):
    """Takes a number as it is, if it fits; where a number is meant it is no secret."""

    def read(self, value: Any, path: KeyPath) -> Any:
        if _is_number(value, int | float) and not self.fits(value):
            raise Unfit(path, f"must be {self.expected}, not {value}")
        return super().read(value, path)


class _Texts:
    """Takes a list of text."""

    def read(self, value: Any, path: KeyPath) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise unfit(path, "a list of text", value)
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise unfit((*path, index), "text", item)
        return tuple(value)


def _one_of(choices: tuple[str, ...]) -> _Plain:
    *others, last = (f"{one!r}" for one in choices)
    return _Plain(f"{', '.join(others)} or {last}", lambda value: isinstance(value, str) and value in choices)


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _field(kind: Kind, default: Any) -> Any:
    metadata = {KIND: kind}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)
