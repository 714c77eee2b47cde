"""Rewrites a schema in the words of draft 2020-12, and drops words that no draft would understand.

Some vendors check the whole schema against that draft and refuse the request for one wrong word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Schema = dict[str, Any]

_MAX_DEPTH = 100
_MAPS_OF_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMAS = frozenset(
    (
        *("additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames"),
        *("unevaluatedItems", "unevaluatedProperties", *_LISTS_OF_SCHEMAS),
    )
)
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
"""In draft 4 the left one was true and the right one the number."""
_TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))


def _each(words: str, meaning: Any) -> Iterable[tuple[str, Any]]:
    return ((word, meaning) for word in words.split())


_FOREIGN_TYPES: dict[str, str] = {
    **dict(_each("str text date datetime char", "string")),
    **dict(_each("int long", "integer")),
    **dict(_each("float double decimal", "number")),
    **dict(_each("bool", "boolean")),
    **dict(_each("dict map", "object")),
    **dict(_each("list tuple set", "array")),
    **dict(_each("none nil", "null")),
}
"""What people write who think in their own language; any other word is no type."""
_SHAPES: dict[str, tuple[type, ...]] = {
    **dict(_each("title description format pattern $ref $comment $anchor $id $schema", (str,))),
    **dict(_each("examples enum required", (list,))),
    **dict(_each("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf", (int, float))),
    **dict(_each("minLength maxLength minItems maxItems minProperties maxProperties", (int,))),
    **dict(_each("uniqueItems deprecated readOnly writeOnly", (bool,))),
    **dict.fromkeys(_MAPS_OF_SCHEMAS, (dict,)),
    **dict.fromkeys(_LISTS_OF_SCHEMAS, (list,)),
    **dict.fromkeys(_SCHEMAS.difference(_LISTS_OF_SCHEMAS), (dict, bool)),
}
"""What the value of a word must be; a word with another value says nothing that anyone could read."""


def in_newest_draft(schema: Mapping[str, Any]) -> Schema:
    """A copy that is valid under draft 2020-12."""
    return _rewritten(schema, 0)


def _rewritten(node: Mapping[str, Any], depth: int) -> Schema:
    if depth > _MAX_DEPTH:
        return {}
    rewritten: Schema = {}
    for key, value in _in_new_words(node).items():
        if key in _MAPS_OF_SCHEMAS and isinstance(value, Mapping):
            rewritten[key] = {name: _below(entry, depth) for name, entry in value.items()}
        elif key in _LISTS_OF_SCHEMAS and isinstance(value, list):
            rewritten[key] = [_below(entry, depth) for entry in value]
        elif key in _SCHEMAS:
            rewritten[key] = _below(value, depth)
        else:
            rewritten[key] = value
    return _readable(rewritten)


def _below(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return _rewritten(value, depth + 1)
    # Whatever else stands where a schema should: it allows everything.
    return value if isinstance(value, bool) else {}


def _in_new_words(node: Mapping[str, Any]) -> Schema:
    new = dict(node)
    for strict, bound in _EXCLUSIVE.items():
        if new.get(strict) is True and bound in new:
            new[strict] = new.pop(bound)
    if isinstance(new.get("items"), list):
        new["prefixItems"] = new.pop("items")
        if "additionalItems" in new:
            new["items"] = new.pop("additionalItems")
    return new


def _readable(node: Schema) -> Schema:
    for key, kinds in _SHAPES.items():
        if key in node and type(node[key]) not in kinds:
            del node[key]
    for key in _LISTS_OF_SCHEMAS:
        if node.get(key) == []:
            del node[key]
    if "required" in node:
        node["required"] = list(dict.fromkeys(name for name in node["required"] if isinstance(name, str)))
    _mend_type(node)
    if node.get("type") in ("array", ["array"]) and "items" not in node:
        node["items"] = {}
    return node


def _mend_type(node: Schema) -> None:
    declared = node.pop("type", None)
    names = declared if isinstance(declared, list) else [declared]
    known = [_FOREIGN_TYPES.get(name.lower(), name.lower()) for name in names if isinstance(name, str)]
    known = [name for name in dict.fromkeys(known) if name in _TYPES]
    if known:
        node["type"] = known if isinstance(declared, list) else known[0]
