"""Rewrites a tool's schema for OpenAI and Anthropic: draft 2020-12 with a plain object at the top. Has type
names such as `int` or `dict` that are corrected, keywords that are dropped, and limits for size and depth.

These vendors check the whole schema against that draft and reject a request for one invalid keyword.
Schemas too large or too deep to be followed are found here too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolcrib.schema.json_schema import follow

MAX_UNFOLDED = 10_000
"""Schema nodes with all references followed; of 3,700 real tools the largest has 8,400, the median six."""
MAX_DEPTH = 200

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
"""In draft 4 the first was a boolean and the second the number."""
_TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))


def is_reasonable(schema: Mapping[str, Any]) -> bool:
    """Whether following all references of a schema once stays within bounds.

    Twenty definitions that each name the next one twice unfold to a million nodes. A loop counts once.
    """
    try:
        return _Unfolding(schema).size(schema, 0) <= MAX_UNFOLDED
    except RecursionError:
        return False


def is_recursive(schema: Mapping[str, Any]) -> bool:
    """Whether a reasonable schema refers to itself."""
    unfolding = _Unfolding(schema)
    unfolding.size(schema, 0)
    return unfolding.loops


class _Unfolding:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._sizes: dict[str, int] = {}
        self._open: set[str] = {"#"}
        self.loops = False

    def size(self, node: Any, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise RecursionError
        if isinstance(node, list):
            # Not of texts: an enum may have thousands.
            return sum(self.size(item, depth + 1) for item in node if not isinstance(item, str))
        if not isinstance(node, Mapping):
            return 0
        total = 1
        for key, value in node.items():
            if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(value, str):
                total += self._referenced(value, depth)
            elif key not in ("$defs", "definitions"):
                total += self.size(value, depth + 1)
        return total

    def _referenced(self, reference: str, depth: int) -> int:
        if reference in self._open:
            self.loops = True
            return 1
        if reference not in self._sizes:
            self._open.add(reference)
            self._sizes[reference] = self.size(follow(self._root, reference), depth + 1)
            self._open.discard(reference)
        return self._sizes[reference]


_BACKTRACKS = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9k]|[*+?}]\+")
"""Lookarounds, references to groups, and atomic groups: what the linear regex engine cannot do."""


def backtracking_patterns(node: Any) -> int:
    """The number of patterns in a reasonable schema that may take long to match."""
    if isinstance(node, list):
        return sum(backtracking_patterns(item) for item in node if not isinstance(item, str))
    if not isinstance(node, Mapping):
        return 0
    named = node.get("patternProperties")
    patterns = [node.get("pattern"), *(named if isinstance(named, Mapping) else ())]
    found = sum(isinstance(pattern, str) and _BACKTRACKS.search(pattern) is not None for pattern in patterns)
    return found + sum(map(backtracking_patterns, node.values()))


def has_longer_text(value: Any, most: int) -> bool:
    """Whether all texts and names of a value have more than so many characters; a value counts as one."""
    left, pending = most, [value]
    while pending and left >= 0:
        part = pending.pop()
        left -= len(part) if isinstance(part, str) else 1
        if isinstance(part, Mapping | list | tuple):
            left -= len(part)
            if left < 0:
                break
            pending += [*part, *part.values()] if isinstance(part, Mapping) else part
    return left < 0


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
"""Type names of programming languages; any other unknown name is dropped."""
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
"""Types a keyword's value must have; keywords with other values are dropped."""


def in_newest_draft(schema: Mapping[str, Any]) -> Schema:
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
    # Anything else in place of a schema allows everything.
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
    _fix_type(node)
    if node.get("type") in ("array", ["array"]) and "items" not in node:
        node["items"] = {}
    return node


def _fix_type(node: Schema) -> None:
    declared = node.pop("type", None)
    names = declared if isinstance(declared, list) else [declared]
    known = [_FOREIGN_TYPES.get(name.lower(), name.lower()) for name in names if isinstance(name, str)]
    known = [name for name in dict.fromkeys(known) if name in _TYPES]
    if known:
        node["type"] = known if isinstance(declared, list) else known[0]


_COMBINATIONS = ("allOf", "anyOf", "oneOf")
_NOT_ON_TOP = frozenset(
    ("$schema", "$id", "id", "$comment", "not", "enum", "const", "if", "then", "else", *_COMBINATIONS)
)


def plain_schema(schema: Mapping[str, Any]) -> Schema:
    """The schema as a plain object: no combinations at the top, items in every array, no keywords of older
    drafts."""
    return in_newest_draft(plain_top(schema))


def plain_top(schema: Mapping[str, Any]) -> Schema:
    """The schema with an object at the top; alternatives become optional properties.

    Vendors reject `anyOf`, `oneOf`, `allOf`, `not`, `enum` and a bare `$ref` there. This only loosens the
    schema: `Caller` still checks arguments against the original.
    """
    top = _merged(schema, schema, ()) if is_reasonable(schema) else dict(schema)
    plain = {key: value for key, value in top.items() if key not in _NOT_ON_TOP}
    properties = _mapping(plain.get("properties"))
    required = [name for name in _names(plain.pop("required", None)) if name in properties]
    plain = {**plain, "type": "object", "properties": properties}
    return {**plain, "required": required} if required else plain


def _merged(node: Mapping[str, Any], root: Mapping[str, Any], opened: tuple[str, ...]) -> Schema:
    """A node with references followed and combinations merged into its properties."""
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
    """Both schemas merged; the first wins."""
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
    # One alternative's `additionalProperties` would reject the properties of the others.
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
