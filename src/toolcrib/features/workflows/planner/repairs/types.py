"""Node types in another spelling, and tool calls written as node types. Invented types are not replaced."""

from __future__ import annotations

from toolcrib.features.workflows.planner.catalog import PlannerCatalog, folded
from toolcrib.features.workflows.planner.draft import PlannedNode, WorkflowDraft

TOOL_CALL = "McpToolCall"
_OTHER_NAMES = {
    "tool": TOOL_CALL,
    "toolcall": TOOL_CALL,
    "calltool": TOOL_CALL,
    "mcp": TOOL_CALL,
    "mcptool": TOOL_CALL,
    "mcpcall": TOOL_CALL,
    "condition": "If",
    "ifelse": "If",
    "foreach": "Map",
    "endforeach": "EndMap",
    "delay": "Wait",
    "sleep": "Wait",
    "approval": "AskUser",
    "askhuman": "AskUser",
    "llm": "AiStep",
    "ai": "AiStep",
    "python": "Code",
    "setvariable": "Set",
    "runworkflow": "SubWorkflow",
}
"""Names that other programs use for the same thing."""


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    names = {folded(name): name for name in catalog.types}
    for node in draft.new_nodes():
        if node.type in catalog.types:
            continue
        known = names.get(folded(node.type)) or _OTHER_NAMES.get(folded(node.type))
        if known in catalog.types:
            draft.doubt(node.id, f"The type {node.type[:80]!r} is read as {known}.")
            node.type = str(known)
        else:
            _as_tool_call(draft, node, catalog)


def _as_tool_call(draft: WorkflowDraft, node: PlannedNode, catalog: PlannerCatalog) -> None:
    tool = catalog.find_tool(node.type)
    if tool is None or TOOL_CALL not in catalog.types:
        return  # Validation reports it; a Start or End node may still be removed.
    given = node.settings.get("arguments", node.settings.get("args"))
    arguments = given if isinstance(given, dict) else node.settings
    draft.doubt(node.id, f"The tool {tool.name} was written as a node type; it is now a {TOOL_CALL}.")
    node.type, node.settings = TOOL_CALL, {"tool": tool.name, "arguments": arguments}
