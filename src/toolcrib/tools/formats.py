"""Writes a tool definition in a vendor's format: OpenAI (chat and responses), Anthropic, Gemini. Has the
rules for Gemini's schemas; those for the others are in `plain_schema.py`.

Definitions change as little as the vendor allows. Each rule here answers a real rejection: one rejected
definition fails the whole request.

Gemini's schema language is smaller: no references, no `const`, a type on every node. References are inlined;
a recursive one ends in a free object. Alternatives stay `anyOf`, `null` among them becomes `nullable`, and
anything else is dropped, which only loosens the schema: `Caller` still checks arguments against the original.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.schema.json_schema import follow
from toolcrib.schema.tools import Tool
from toolcrib.tools.plain_schema import Schema, plain_schema

_MAX_NODES = 3000
_MAX_DEPTH = 24
_TYPES = {
    "string": "STRING",
    "number": "NUMBER",
    "integer": "INTEGER",
    "boolean": "BOOLEAN",
    "array": "ARRAY",
    "object": "OBJECT",
}
_FORMATS = {"STRING": ("enum", "date-time"), "NUMBER": ("float", "double"), "INTEGER": ("int32", "int64")}
_COPIED = {
    "STRING": ("minLength", "maxLength", "pattern"),
    "NUMBER": ("minimum", "maximum"),
    "INTEGER": ("minimum", "maximum"),
    "ARRAY": ("minItems", "maxItems"),
    "OBJECT": ("minProperties", "maxProperties"),
}

VendorTool = dict[str, Any]


def gemini_schema(schema: Mapping[str, Any]) -> Schema:
    plain = plain_schema(schema)
    return _Translation(plain).node(plain, (), 0)


class _Translation:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MAX_NODES

    def node(self, schema: Any, opened: tuple[str, ...], depth: int) -> Schema:
        """One node and everything below it; `opened` are the references that led here."""
        self._left -= 1
        if not isinstance(schema, Mapping) or self._left < 0 or depth > _MAX_DEPTH:
            return _anything(schema)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._referenced(schema, reference, opened, depth)
        if isinstance(schema.get("allOf"), list) and schema["allOf"]:
            return self.node(self._all(schema, opened), opened, depth + 1)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return self._alternatives(schema, schema[key], opened, depth)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            branches = [{**_without_notes(schema), "type": kind} for kind in kinds]
            return self._alternatives(schema, branches, opened, depth)
        return self._typed(schema, opened, depth)

    def _referenced(
        self, schema: Mapping[str, Any], reference: str, opened: tuple[str, ...], depth: int
    ) -> Schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        target = follow(self._root, reference)
        if reference in opened or not isinstance(target, Mapping):
            return _with_notes(_anything(target), beside)
        return self.node({**target, **beside}, (*opened, reference), depth + 1)

    def _all(self, schema: Mapping[str, Any], opened: tuple[str, ...]) -> Schema:
        """All parts of an `allOf` as one node; the outer part wins."""
        joined = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            if isinstance(part, Mapping):
                joined = _joined(joined, self._target(part, opened))
        return joined

    def _target(self, part: Mapping[str, Any], opened: tuple[str, ...]) -> Mapping[str, Any]:
        reference = part.get("$ref")
        if not isinstance(reference, str):
            return part
        target = follow(self._root, reference)
        if reference in opened or not isinstance(target, Mapping) or target.get("allOf") is not None:
            return {}
        return target

    def _alternatives(
        self, schema: Mapping[str, Any], branches: list[Any], opened: tuple[str, ...], depth: int
    ) -> Schema:
        real = [branch for branch in branches if not _is_null(branch)]
        shared = {key: schema[key] for key in ("properties", "required", "type") if key in schema}
        if isinstance(shared.get("type"), list):
            del shared["type"]
        nodes = [
            self.node(
                _joined(dict(branch), shared) if isinstance(branch, Mapping) else shared, opened, depth + 1
            )
            for branch in real
        ]
        unique = [node for index, node in enumerate(nodes) if node not in nodes[:index]]
        merged = _one_enum(unique)
        if merged is None:
            merged = {"anyOf": unique} if unique else {"type": "STRING"}
        if len(real) < len(branches):
            merged["nullable"] = True
        return _with_notes(merged, schema)

    def _typed(self, schema: Mapping[str, Any], opened: tuple[str, ...], depth: int) -> Schema:
        values = _enumerated(schema)
        kind = _kind(schema, values)
        if values is not None and kind != "BOOLEAN":
            return _with_notes(_enum_node(values, kind), schema)
        node: Schema = {"type": kind}
        for key in _COPIED.get(kind, ()):
            if key in schema and not isinstance(schema[key], bool):
                node[key] = schema[key]
        if schema.get("format") in _FORMATS.get(kind, ()):
            node["format"] = schema["format"]
        if kind == "ARRAY":
            node["items"] = self.node(_items(schema), opened, depth + 1)
        if kind == "OBJECT":
            node.update(self._members(schema, opened, depth))
        if schema.get("nullable") is True:
            node["nullable"] = True
        return _with_notes(node, schema)

    def _members(self, schema: Mapping[str, Any], opened: tuple[str, ...], depth: int) -> Schema:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return {}
        members: Schema = {
            "properties": {
                name: self.node(entry, opened, depth + 1) for name, entry in properties.items() if name
            }
        }
        listed = schema.get("required")
        required = [name for name in listed if name in properties] if isinstance(listed, list) else []
        return {**members, "required": required} if required else members


def _anything(schema: Any) -> Schema:
    """A node that is not followed any further."""
    if not isinstance(schema, Mapping):
        return {"type": "STRING"}
    kind = _kind(schema, None)
    node: Schema = {"type": kind, "items": {"type": "STRING"}} if kind == "ARRAY" else {"type": kind}
    return _with_notes(node, schema)


def _kind(schema: Mapping[str, Any], values: list[Any] | None) -> str:
    """The declared type, or the one implied by other keywords."""
    declared = schema.get("type")
    if isinstance(declared, str) and declared in _TYPES:
        return _TYPES[declared]
    if values:
        return _kind_of_value(values[0])
    if "properties" in schema or "additionalProperties" in schema or "required" in schema:
        return "OBJECT"
    if "items" in schema or "prefixItems" in schema:
        return "ARRAY"
    if "minimum" in schema or "maximum" in schema or "multipleOf" in schema:
        return "NUMBER"
    return "STRING"


def _kind_of_value(value: Any) -> str:
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "INTEGER"
    return "NUMBER" if isinstance(value, float) else "STRING"


def _enumerated(schema: Mapping[str, Any]) -> list[Any] | None:
    values = schema.get("enum")
    if isinstance(values, list) and values:
        return values
    return [schema["const"]] if "const" in schema else None


def _enum_node(values: list[Any], kind: str) -> Schema:
    """Only strings may be enumerated; other values keep their type, with the choices in the description."""
    texts = [value for value in values if isinstance(value, str) and value]
    nullable = {"nullable": True} if None in values else {}
    if texts:
        return {"type": "STRING", "format": "enum", "enum": list(dict.fromkeys(texts)), **nullable}
    said = ", ".join(str(value) for value in values[:50] if value is not None)
    node: Schema = {"type": kind, **nullable}
    return {**node, "description": f"One of: {said}."} if said else node


def _one_enum(nodes: list[Schema]) -> Schema | None:
    """One node for alternatives that are a single node or only enumerations of strings."""
    if len(nodes) == 1:
        return nodes[0]
    if not nodes or any("enum" not in node for node in nodes):
        return None
    values = [value for node in nodes for value in node["enum"]]
    return {"type": "STRING", "format": "enum", "enum": list(dict.fromkeys(values))}


def _items(schema: Mapping[str, Any]) -> Any:
    items = schema.get("items")
    if isinstance(items, Mapping):
        return items
    places = items if isinstance(items, list) else schema.get("prefixItems")
    return {"anyOf": places} if isinstance(places, list) and places else {}


def _is_null(branch: Any) -> bool:
    if not isinstance(branch, Mapping):
        return False
    return branch.get("type") == "null" or _enumerated(branch) == [None]


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> Schema:
    joined = {**second, **first}
    if isinstance(first.get("properties"), Mapping) and isinstance(second.get("properties"), Mapping):
        joined["properties"] = {**second["properties"], **first["properties"]}
    if isinstance(first.get("required"), list) and isinstance(second.get("required"), list):
        joined["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    return joined


def _without_notes(schema: Mapping[str, Any]) -> Schema:
    return {key: value for key, value in schema.items() if key != "description"}


def _with_notes(node: Schema, schema: Mapping[str, Any]) -> Schema:
    """The node with the schema's description."""
    said = schema.get("description")
    own = node.get("description")
    if isinstance(said, str) and said:
        node["description"] = f"{said} {own}" if own and own != said else said
    return node


def as_openai(tool: Tool) -> VendorTool:
    """OpenAI's chat completions, and the many APIs compatible with it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.definition.description,
            "parameters": plain_schema(tool.definition.input_schema),
        },
    }


def as_openai_responses(tool: Tool) -> VendorTool:
    """OpenAI's responses; `strict` would enforce a smaller schema language."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.definition.description,
        "parameters": plain_schema(tool.definition.input_schema),
        "strict": False,
    }


def as_anthropic(tool: Tool) -> VendorTool:
    return {
        "name": tool.name,
        "description": tool.definition.description,
        "input_schema": plain_schema(tool.definition.input_schema),
    }


def as_gemini(tool: Tool) -> VendorTool:
    """A Gemini function declaration, which supports a small part of JSON Schema."""
    declaration = {"name": tool.name, "description": tool.definition.description}
    parameters = gemini_schema(tool.definition.input_schema)
    # An object without properties is rejected; a function without parameters is not.
    if not parameters.get("properties"):
        return declaration
    return {**declaration, "parameters": parameters}


FORMATS: Mapping[str, Callable[[Tool], VendorTool]] = {
    "openai": as_openai,
    "openai-responses": as_openai_responses,
    "anthropic": as_anthropic,
    "gemini": as_gemini,
}
