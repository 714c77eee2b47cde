"""The JSON Schema of a workflow file, made from the models: for editors, other programs and models.

`python -m toolcrib.features.workflows.graph.json_schema` writes it beside the package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.graph.node_type import AnyNodeType
from toolcrib.schema.workflows import Workflow

FILE = Path(__file__).parents[1] / "workflow.schema.json"
REFERENCE: Mapping[str, Any] = {
    "type": "string",
    "pattern": r"\{\{",
    "description": "A reference such as {{node.field}}, or text with references.",
}
_REFERENCE = {"$ref": "#/$defs/Reference"}
_MARKS = ("x-fixed", "x-structure")
_OF_FORMS = ("x-names", "x-rare")
"""Only forms use them."""
_LISTED = ("items", "additionalProperties")


def workflow_schema() -> dict[str, Any]:
    """The schema; what it accepts may still have problems, which only validation finds."""
    schema = Workflow.model_json_schema(by_alias=True)
    definitions = {"Reference": dict(REFERENCE), **schema.pop("$defs")}
    for node_type in node_types().values():
        definitions |= _settings_definitions(node_type)
    definitions["Node"] = _with_types(definitions["Node"])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Toolcrib workflow"}
    schema["properties"] = {name: _closed(field) for name, field in schema["properties"].items()}
    return {**head, **_without(schema, "title"), "$defs": dict(sorted(definitions.items()))}


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Only names of the right form are allowed."""
    return {**schema, "additionalProperties": False} if "patternProperties" in schema else dict(schema)


def _settings_definitions(node_type: AnyNodeType) -> dict[str, Any]:
    """The settings of a type and the models inside them, in which references are allowed."""
    schema = node_type.settings.model_json_schema(by_alias=True)
    inner = {name: _open_object(definition) for name, definition in schema.pop("$defs", {}).items()}
    return {**inner, _name(node_type): _open_object(schema)}


def _open_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema.get("properties", {}).items()
    properties = {name: _open_property(_without(field, *_OF_FORMS)) for name, field in fields}
    return {**schema, "properties": properties}


def _open_property(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A property that may also be a reference, unless it is marked."""
    if any(schema.get(mark) for mark in _MARKS):
        return _without(schema, *_MARKS)
    outside = {key: schema[key] for key in ("title", "description", "default") if key in schema}
    inside = _open_parts(_without(schema, *outside))
    return {**outside, "anyOf": [inside, _REFERENCE]} if inside else outside


def _open_parts(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Items of lists and values of objects may be references too."""
    opened = {
        key: {"anyOf": [value, _REFERENCE]} if key in _LISTED and isinstance(value, dict) and value else value
        for key, value in schema.items()
    }
    if isinstance(schema.get("anyOf"), list):
        opened["anyOf"] = [_open_parts(alternative) for alternative in schema["anyOf"]]
    return opened


def _with_types(node: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a node, whose settings depend on its type."""
    properties = {**node["properties"], "type": {**node["properties"]["type"], "enum": sorted(node_types())}}
    return {**node, "properties": properties, "allOf": [_of_type(type_) for type_ in node_types().values()]}


def _of_type(node_type: AnyNodeType) -> dict[str, Any]:
    then: dict[str, Any] = {"properties": {"settings": {"$ref": f"#/$defs/{_name(node_type)}"}}}
    if node_type.settings_schema.get("required"):
        then["required"] = ["settings"]
    return {"if": {"properties": {"type": {"const": node_type.name}}}, "then": then}


def _name(node_type: AnyNodeType) -> str:
    return node_type.settings.__name__


def _without(schema: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in names}


def schema_text() -> str:
    return json.dumps(workflow_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
