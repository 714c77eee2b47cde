"""Writes JSON Schemas as short type signatures, which cost a model a fifth of the tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_DEEPEST = 4
_MOST_PROPERTIES = 30
_LONGEST_NOTE = 120
Schema = Mapping[str, Any]


_CONDITION = frozenset({"Comparison", "AllConditions", "AnyCondition", "NotCondition"})
"""Definitions that are shown as `condition`; their form is explained once."""


def signature(schema: Schema, *, notes: bool = False) -> str:
    """`{path: string, head?: integer = 10}`; with `notes`, each property has its description."""
    return _type(schema, schema, 0, notes)


def _type(schema: object, root: Schema, depth: int, notes: bool = False) -> str:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return "any"
    if str(schema.get("$ref")).rpartition("/")[2] in _CONDITION:
        return "condition"
    schema = _target(schema, root)
    if "const" in schema:
        return json.dumps(schema["const"])
    if isinstance(schema.get("enum"), list):
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"][:20])
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            kinds = [_type(inner, root, depth + 1) for inner in schema[key]]
            return " | ".join(dict.fromkeys(kind for kind in kinds if kind != "null")) or "any"
    return _plain(schema, root, depth, notes)


def _plain(schema: Schema, root: Schema, depth: int, notes: bool) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(str(name) for name in kind if name != "null")
    if kind == "array":
        inner = _type(schema.get("items"), root, depth + 1)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and properties:
        return _object(schema, properties, root, depth, notes)
    return str(kind) if isinstance(kind, str) else "any"


def _object(schema: Schema, properties: Schema, root: Schema, depth: int, notes: bool) -> str:
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    parts = []
    for name, inner in list(properties.items())[:_MOST_PROPERTIES]:
        part = f"{name}{'' if name in needed else '?'}: {_type(inner, root, depth + 1)}"
        if isinstance(inner, Mapping) and inner.get("default") not in (None, [], {}, ""):
            part += f" = {json.dumps(inner['default'], ensure_ascii=False)}"
        parts.append(part + (_note(inner) if notes else ""))
    if len(properties) > _MOST_PROPERTIES:
        parts.append("…")
    return "{\n  " + "\n  ".join(parts) + "\n}" if notes else "{" + ", ".join(parts) + "}"


def _note(schema: object) -> str:
    text = schema.get("description") if isinstance(schema, Mapping) else None
    plain = " ".join(text.split()) if isinstance(text, str) else ""
    return f"  # {plain[:_LONGEST_NOTE]}" if plain else ""


def _target(schema: Schema, root: Schema) -> Schema:
    """Where a `$ref` inside the same schema leads."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    found: Any = root
    for part in reference[2:].split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}
