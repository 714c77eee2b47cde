"""Describes node types and tools to a model. Texts of tools are marked as data, and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from toolcrib.features.workflows.planner.catalog import Catalog
from toolcrib.features.workflows.planner.signatures import signature
from toolcrib.graph.node_type import AnyNodeType
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import Workflow

_LONGEST_DESCRIPTION = 500
_LONGEST_SIGNATURE = 3000
_MOST_WORKFLOWS = 50
_MARK = re.compile(r"<(/?)\s*(tools?|request|workflow)\b", re.IGNORECASE)
CHARACTERS_PER_TOKEN = 4


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


def describe_types(catalog: Catalog) -> str:
    return "\n".join(_describe_type(kind) for kind in catalog.types.values())


def describe_workflows(catalog: Catalog) -> str:
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
