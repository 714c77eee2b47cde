"""References in settings: `{{find.matches[0].text}}`, parsed once and resolved against values. Decides their
syntax, how values are written inside text, and that what is missing is null.

A string that is one reference has the referenced value with its type; a reference inside other text is
inserted as text. A backslash before `{{` makes it literal. What is missing is null, and empty inside text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolcrib.errors import UsageError

Path = tuple[str | int, ...]
Values = Mapping[str, Any]
"""The value of each root: the results of nodes by their id, `input`, `run`, `item` and `index`."""

MOST_PARTS = 32
LONGEST_SHOWN = 80

_OPEN = re.compile(r"\\\{\{|\{\{")
_ROOT = re.compile(r"\s*([a-z][a-z0-9_]{0,63})")
_PART = re.compile(r"""\.([A-Za-z_][\w-]*)|\[(-?\d{1,9})\]|\["([^"\\]*)"\]|\['([^'\\]*)'\]""")
_CLOSE = re.compile(r"\s*\}\}")


class BadReference(UsageError):
    """The text between `{{` and `}}` is not a reference."""

    kind = "bad_reference"


@dataclass(frozen=True)
class Reference:
    root: str
    path: Path = ()

    def __str__(self) -> str:
        return "{{" + self.root + "".join(map(_spell, self.path)) + "}}"

    def resolve(self, values: Values) -> Any:
        """The value; None if any part of the path is missing."""
        value = values.get(self.root)
        for part in self.path:
            value = _step(value, part)
        return value


@dataclass(frozen=True)
class Template:
    """A parsed string: literal text and references in their order."""

    parts: tuple[str | Reference, ...]

    @property
    def whole(self) -> Reference | None:
        """The reference, if the string is nothing else."""
        only = self.parts[0] if len(self.parts) == 1 else None
        return only if isinstance(only, Reference) else None

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(part for part in self.parts if isinstance(part, Reference))

    def resolve(self, values: Values) -> Any:
        if self.whole is not None:
            return self.whole.resolve(values)
        return "".join(
            part if isinstance(part, str) else as_text(part.resolve(values)) for part in self.parts
        )


def has_reference(value: Any) -> bool:
    """Whether this is a string with a reference in it, correct or not."""
    return isinstance(value, str) and "{{" in value and "{{" in value.replace(r"\{{", "")


def parse(text: str) -> Template:
    """Raises `BadReference`."""
    return _parse(text) if len(text) <= 10_000 else _parse.__wrapped__(text)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Template:
    parts: list[str | Reference] = []
    literal, position = "", 0
    while opening := _OPEN.search(text, position):
        literal += text[position : opening.start()]
        if opening[0].startswith("\\"):
            literal, position = literal + "{{", opening.end()
            continue
        reference, position = _read(text, opening.end())
        parts += [literal, reference] if literal else [reference]
        literal = ""
    literal += text[position:]
    return Template((*parts, literal) if literal else tuple(parts))


def _read(text: str, position: int) -> tuple[Reference, int]:
    root = _ROOT.match(text, position)
    if root is None:
        raise _bad(text, position)
    position, path = root.end(), list[str | int]()
    while part := _PART.match(text, position):
        name, index, *quoted = part.groups()
        path.append(int(index) if index is not None else next(x for x in (name, *quoted) if x is not None))
        position = part.end()
    close = _CLOSE.match(text, position)
    if close is None or len(path) > MOST_PARTS:
        raise _bad(text, root.start())
    return Reference(root[1], tuple(path)), close.end()


def _bad(text: str, position: int) -> BadReference:
    shown = text[position : position + LONGEST_SHOWN].partition("}}")[0]
    return BadReference(
        f"{{{{{shown}}}}} is not a reference.",
        hint=r"Write {{step.field}}, {{step.list[0].field}} or {{input.name}}; write \{{ for literal braces.",
    )


def references_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every string with a reference inside a JSON value, with its place."""
    if has_reference(value):
        yield path, value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from references_in(entry, (*path, key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            yield from references_in(entry, (*path, index))


def resolve(value: Any, values: Values) -> Any:
    """A JSON value with all its references replaced."""
    if isinstance(value, str):
        return parse(value).resolve(values) if "{{" in value else value
    if isinstance(value, Mapping):
        return {key: resolve(entry, values) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [resolve(entry, values) for entry in value]
    return value


def as_text(value: Any) -> str:
    """How a value is written inside text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(str(part))
    if isinstance(value, list | tuple) and isinstance(part, int):
        return value[part] if -len(value) <= part < len(value) else None
    return None


def _spell(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if re.fullmatch(r"[A-Za-z_][\w-]*", part) else f'["{part}"]'
