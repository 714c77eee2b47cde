"""What is wrong with a value that pydantic refused: the place, the reason, and what may have been meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolcrib.schema.value_types import Missing, Schema, ValueType, part_of, value_type
from toolcrib.suggestions import did_you_mean

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, ValidationError

UNKNOWN_NAME = ("extra_forbidden", "unexpected_keyword_argument")
"""The second is that of a dataclass."""


def first_mistake(error: ValidationError, schema: Schema, root: str = "") -> tuple[str, str]:
    """A sentence and a hint; `root` is the name of the whole value.

    An unknown name comes first: if it is misspelt, the right one is missing too.
    """
    details = error.errors(include_url=False)
    first = next((detail for detail in details if detail["type"] in UNKNOWN_NAME), details[0])
    return sentence((root, *first["loc"]) if root else first["loc"], first), hint_for(first, schema)


def sentence(place: Sequence[str | int], detail: ErrorDetails) -> str:
    """The value itself is not shown: it may be a secret."""
    spelt = spell(place)
    if detail["type"] == "missing":
        return f"{spelt} is required."
    if detail["type"] in UNKNOWN_NAME:
        return f"{spelt} is not known."
    if detail["type"] == "model_type":
        return f"{spelt or 'It'} must be an object."
    said = detail["msg"].removeprefix("Value error, ").removesuffix(".")
    return f"{spelt}: {said}." if spelt else f"{said[:1].upper()}{said[1:]}."


def hint_for(detail: ErrorDetails, schema: Schema) -> str:
    """What a wrong name or value may have meant."""
    if detail["type"] == "literal_error" and isinstance(detail["input"], str):
        names = re.findall(r"'([^']+)'", str(detail.get("ctx", {}).get("expected", "")))
        return did_you_mean(detail["input"][:100], names)
    if detail["type"] not in UNKNOWN_NAME:
        return ""
    known = _known_names(schema, detail["loc"])
    listed = f"Known: {', '.join(known[:20])}." if known else ""
    return did_you_mean(str(detail["loc"][-1])[:100], known, otherwise=listed)


def _known_names(schema: Schema, place: Sequence[str | int]) -> tuple[str, ...]:
    """The names that are allowed where an unknown one was found."""
    found: ValueType | Missing = value_type(schema)
    for part in place:
        if isinstance(found, ValueType) and not str(part).startswith("<"):
            found = part_of(found, part)
    return found.names if isinstance(found, Missing) else ()


def spell(place: Sequence[str | int]) -> str:
    """A place in a value as `cases[0].name`; the tags of forms, such as <comparison>, are left out."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not part.startswith("<"):
            text += f".{part[:100]}" if text else part[:100]
    return text
