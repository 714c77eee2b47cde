"""Puts one validation error into words: which field, what is wrong, and what the schema says of it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import jsonschema_rs

from toolcrib.tools.complexity import follow

_ARTICLES = {"object": "an object", "array": "a list", "integer": "a whole number", "null": "null"}
_MAX_LISTED = 12
_MAX_HINT = 400
_MAX_COMPARED = 200
"""Names of a schema that a wrong one is compared with."""


@dataclass(frozen=True)
class Complaint:
    """A sentence for the message and one for the hint."""

    message: str
    hint: str = ""


def describe(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> Complaint:
    """What is wrong with one field."""
    path = list(error.instance_path)
    kind = error.kind
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
        return _missing(kind.property, path, _subschema(error, schema))
    if isinstance(
        kind,
        jsonschema_rs.ValidationErrorKind.AdditionalProperties
        | jsonschema_rs.ValidationErrorKind.UnevaluatedProperties,
    ):
        return _unknown(kind.unexpected, path, _subschema(error, schema))
    field = _subschema(error, schema)
    trouble = _alternatives(field) if _is_hidden(error, field) else _trouble(error)
    return Complaint(f"{_place(path)} {trouble}", _field_hint(_spell(path), field))


def _is_hidden(error: jsonschema_rs.ValidationError, field: Any) -> bool:
    """Whether this `not` is none of the schema's own but hides its alternatives, as `explaining` makes it."""
    is_not = isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Not)
    return is_not and not (isinstance(field, Mapping) and "not" in field)


def _alternatives(field: Any) -> str:
    if isinstance(field, Mapping) and "oneOf" in field and "anyOf" not in field:
        return "must have exactly one of the forms that are allowed here"
    if isinstance(field, Mapping) and "anyOf" in field:
        return "has none of the forms that are allowed here"
    return "does not fit the schema"


def _missing(name: str, path: Sequence[str | int], parent: Any) -> Complaint:
    field = _properties(parent).get(name)
    return Complaint(f"{_place([*path, name])} is required", _field_hint(_spell([*path, name]), field))


def _unknown(names: Sequence[str], path: Sequence[str | int], parent: Any) -> Complaint:
    known = list(islice(_properties(parent), _MAX_COMPARED))
    shown = ", ".join(_cut(_spell([*path, name]), 60) for name in names[:_MAX_LISTED])
    close = [match for name in names[:3] for match in difflib.get_close_matches(name[:100], known, n=1)]
    hint = f"Did you mean {', '.join(dict.fromkeys(close))}?" if close else ""
    allowed = f"Known arguments: {', '.join(known[:40])}." if known else "It takes no arguments."
    where = "" if not path else f" in {_spell(path)}"
    return Complaint(f"unknown argument{where}: {shown}", f"{hint} {allowed}".strip())


def _trouble(error: jsonschema_rs.ValidationError) -> str:
    kind = error.kind
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Type):
        expected = " or ".join(_ARTICLES.get(name, f"a {name}") for name in kind.types)
        return f"must be {expected}, not {_type_of(error.instance)}"
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Enum):
        return f"must be one of {_listed(kind.options)}"
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Constant):
        return f"must be {_cut(json.dumps(kind.expected_value, ensure_ascii=False), 100)}"
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Pattern):
        return f"does not match the pattern {_cut(kind.pattern, 100)}"
    # The library's own words; values in them are masked.
    return _cut(error.message.removeprefix("the value "), 200)


def _subschema(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> Any:
    """The part of the schema that holds the keyword which failed."""
    node: Any = schema
    for part in error.schema_path[:-1]:
        if isinstance(node, Mapping) and isinstance(node.get("$ref"), str) and part not in node:
            node = follow(schema, node["$ref"])
        if isinstance(node, Mapping):
            node = node.get(str(part))
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        else:
            return None
    return node


def _field_hint(name: str, field: Any) -> str:
    if not isinstance(field, Mapping) or not name:
        return ""
    parts = [f"{name}: {_form(field)}"]
    description = field.get("description")
    if isinstance(description, str) and description:
        parts.append(f"— {_cut(description, 200)}")
    example = _example(field)
    if example is not None:
        parts.append(f"(for example {_cut(json.dumps(example, ensure_ascii=False, default=str), 80)})")
    return _cut(" ".join(parts), _MAX_HINT)


def _form(field: Mapping[str, Any]) -> str:
    if isinstance(field.get("enum"), list):
        return f"one of {_listed(field['enum'])}"
    for key in ("anyOf", "oneOf"):
        branches = field.get(key)
        if isinstance(branches, list):
            forms = (_form(branch) for branch in branches[:_MAX_LISTED] if isinstance(branch, Mapping))
            return " | ".join(dict.fromkeys(forms))
    if "const" in field:
        return _cut(json.dumps(field["const"], ensure_ascii=False), 80)
    kind = field.get("type", field.get("$ref", "any"))
    if isinstance(kind, list):
        return " | ".join(str(name) for name in kind)
    return str(kind).rpartition("/")[2]


def _example(field: Mapping[str, Any]) -> Any:
    examples = field.get("examples")
    if isinstance(examples, list) and examples:
        return examples[0]
    return field.get("example", field.get("default"))


def _properties(schema: Any) -> Mapping[str, Any]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _place(path: Sequence[str | int]) -> str:
    return f'"{_cut(_spell(path), 100)}"' if path else "the arguments"


def _spell(path: Sequence[str | int]) -> str:
    """`items[2].name`, as one would write it."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def _listed(options: Sequence[Any]) -> str:
    shown = ", ".join(_cut(json.dumps(option, ensure_ascii=False), 60) for option in options[:_MAX_LISTED])
    return shown if len(options) <= _MAX_LISTED else f"{shown}, … ({len(options)} in all)"


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    return "a list" if isinstance(value, list) else "an object"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
