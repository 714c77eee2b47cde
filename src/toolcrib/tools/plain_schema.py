"""Makes a tool's schema one that OpenAI and Anthropic accept: draft 2020-12 with a plain object on top."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.tools.complexity import follow, is_reasonable
from toolcrib.tools.drafts import Schema, in_newest_draft

_COMBINATIONS = ("allOf", "anyOf", "oneOf")
_NOT_ON_TOP = frozenset(
    ("$schema", "$id", "id", "$comment", "not", "enum", "const", "if", "then", "else", *_COMBINATIONS)
)


def plain_schema(schema: Mapping[str, Any]) -> Schema:
    """The schema as a plain object: no combination on top, items in every array, no words of older drafts."""
    return in_newest_draft(plain_top(schema))


def plain_top(schema: Mapping[str, Any]) -> Schema:
    """The schema with an object with properties on top; alternatives there become optional properties.

    Vendors refuse `anyOf`, `oneOf`, `allOf`, `not`, `enum` and a bare `$ref` there. What is lost by this only
    loosens the schema: the door still checks arguments against the original.
    """
    top = _merged(schema, schema, ()) if is_reasonable(schema) else dict(schema)
    plain = {key: value for key, value in top.items() if key not in _NOT_ON_TOP}
    properties = _mapping(plain.get("properties"))
    required = [name for name in _names(plain.pop("required", None)) if name in properties]
    plain = {**plain, "type": "object", "properties": properties}
    return {**plain, "required": required} if required else plain


def _merged(node: Mapping[str, Any], root: Mapping[str, Any], opened: tuple[str, ...]) -> Schema:
    """A node with its references followed and its combinations folded into its properties."""
    own = dict(node)
    reference = own.pop("$ref", None)
    if isinstance(reference, str):
        if reference in opened:
            return own
        opened = (*opened, reference)
        own = _joined(own, _merged(_mapping(follow(root, reference)), root, opened))
    for key in _COMBINATIONS:
        branches = own.pop(key, None)
        if isinstance(branches, list):
            folded = [_merged(branch, root, opened) for branch in branches if isinstance(branch, Mapping)]
            own = _joined(own, _folded(folded, _union if key == "allOf" else _common))
    return own


def _joined(first: Schema, second: Schema) -> Schema:
    """Both at once; what the first says wins."""
    joined = {**second, **first}
    properties = {**_mapping(second.get("properties")), **_mapping(first.get("properties"))}
    if properties:
        joined["properties"] = properties
    required = _union([_names(first.get("required")), _names(second.get("required"))])
    if required:
        joined["required"] = required
    return joined


def _folded(branches: list[Schema], choose: Callable[[list[list[str]]], list[str]]) -> Schema:
    folded: Schema = {}
    for branch in branches:
        folded = {**branch, **folded}
    properties: Schema = {}
    for branch in branches:
        properties = {**_mapping(branch.get("properties")), **properties}
    folded["properties"] = properties
    folded["required"] = choose([_names(branch.get("required")) for branch in branches])
    # One alternative's word on strangers would shut out the properties of the others.
    folded.pop("additionalProperties", None)
    return folded


def _union(lists: list[list[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in lists for name in names))


def _common(lists: list[list[str]]) -> list[str]:
    return [name for name in (lists[0] if lists else []) if all(name in names for names in lists)]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
