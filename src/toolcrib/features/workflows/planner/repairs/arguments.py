"""The tool and the arguments of a tool call. An unknown tool is never replaced: it goes back to the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import PlannedNode, WorkflowDraft
from toolcrib.features.workflows.planner.repairs.settings import match
from toolcrib.features.workflows.planner.repairs.types import TOOL_CALL
from toolcrib.schema.tools import Tool


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    for node in draft.new_nodes():
        name = node.settings.get("tool")
        if node.type != TOOL_CALL or not isinstance(name, str) or "{{" in name:
            continue
        tool = catalog.find_tool(name)
        if tool is None:
            continue  # Validation reports it.
        if tool.name != name:
            draft.doubt(node.id, f"The tool {name[:100]!r} is read as {tool.name}.")
            node.settings["tool"] = tool.name
        _arguments(draft, node, tool)


def _arguments(draft: WorkflowDraft, node: PlannedNode, tool: Tool) -> None:
    """Spellings of names; null for an argument that may be left out is the same as leaving it out."""
    given = node.settings.get("arguments")
    properties = tool.definition.input_schema.get("properties")
    if not isinstance(given, dict) or not isinstance(properties, Mapping):
        return
    unknown = [name for name in given if name not in properties]
    for old, new in match(unknown, [name for name in properties if name not in given]).items():
        given[new] = given.pop(old)
        draft.doubt(node.id, f"The argument {old[:80]!r} is read as {new!r}.")
    _report_unknown(draft, node, tool, given)
    node.settings["arguments"] = {
        name: value for name, value in given.items() if value is not None or _takes_null(tool, name)
    }


def _report_unknown(draft: WorkflowDraft, node: PlannedNode, tool: Tool, given: Mapping[str, Any]) -> None:
    """Arguments that the tool does not declare; most tools would ignore them without an error."""
    schema = tool.definition.input_schema
    unknown = [name for name in given if name not in schema["properties"]]
    if unknown and not schema.get("additionalProperties"):
        known = ", ".join(schema["properties"]) or "none"
        draft.problem(node.id, f"{tool.name} has no argument {unknown[0][:80]!r}.", f"It has: {known}.")


def _takes_null(tool: Tool, name: str) -> bool:
    schema = tool.definition.input_schema
    required: Any = schema.get("required", ())
    property_schema = schema["properties"].get(name, {})
    return name in required or "null" in str(property_schema)
