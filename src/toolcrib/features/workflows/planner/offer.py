"""Describes node types and tools to a model. Texts of tools are marked as data, and bounded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.graph.node_type import AnyNodeType
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import Workflow

_DEEPEST = 4
_MOST_PROPERTIES = 30
_LONGEST_NOTE = 120
Schema = Mapping[str, Any]


_CONDITION = frozenset({"Comparison", "AllConditions", "AnyCondition", "NotCondition"})
"""Definitions that are shown as `condition`; their form is explained once."""

_LONGEST_DESCRIPTION = 500
_LONGEST_SIGNATURE = 3000
_MOST_WORKFLOWS = 50
_MARK = re.compile(r"<(/?)\s*(tools?|request|workflow)\b", re.IGNORECASE)
CHARACTERS_PER_TOKEN = 4


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


def as_data(text: str, longest: int | None = None) -> str:
    """Text that cannot close the mark around it."""
    shown = text if longest is None or len(text) <= longest else f"{text[:longest]}…"
    return _MARK.sub(r"‹\1\2", shown)


def fitting(tools: Iterable[Tool], tokens: int) -> list[Tool]:
    """The first tools whose descriptions fit."""
    kept: list[Tool] = []
    for tool in tools:
        tokens -= len(describe_tool(tool)) // CHARACTERS_PER_TOKEN
        if tokens < 0:
            break
        kept.append(tool)
    return kept


def describe_tools(tools: Sequence[Tool]) -> str:
    return "<tools>\n" + "\n".join(describe_tool(tool) for tool in tools) + "\n</tools>"


def describe_tool(tool: Tool) -> str:
    about = as_data(" ".join(tool.definition.description.split()), _LONGEST_DESCRIPTION)
    lines = [f'<tool name="{tool.name}">', about]
    lines.append(
        f"arguments: {as_data(signature(tool.definition.input_schema, notes=True), _LONGEST_SIGNATURE)}"
    )
    output = tool.definition.raw.get("outputSchema")
    if isinstance(output, dict):
        lines.append(f"data: {as_data(signature(output), _LONGEST_SIGNATURE)}")
    return "\n".join([*(line for line in lines if line), "</tool>"])


def describe_types(catalog: PlannerCatalog) -> str:
    return "\n".join(_describe_type(kind) for kind in catalog.types.values())


def describe_workflows(catalog: PlannerCatalog) -> str:
    """The stored workflows, with their inputs and outputs."""
    found = list(catalog.workflows.items())[:_MOST_WORKFLOWS]
    return "\n".join(_describe_workflow(name, workflow) for name, workflow in found)


def _describe_workflow(name: str, workflow: Workflow) -> str:
    about = as_data(" ".join(workflow.description.split()), _LONGEST_DESCRIPTION)
    inputs = ", ".join(f"{key}: {parameter.type}" for key, parameter in workflow.inputs.items())
    return f"- {name}: {about} inputs: {{{inputs}}}, outputs: {', '.join(workflow.outputs) or 'none'}"


def _describe_type(kind: AnyNodeType) -> str:
    shown = f"\n  result: {signature(kind.result_schema)}" if kind.result.model_fields else ""
    return f"- {kind.name}: {kind.about}\n  settings: {signature(kind.settings_schema)}{shown}"
