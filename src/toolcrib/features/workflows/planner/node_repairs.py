"""Repairs the nodes of a draft: their ids, types and settings, and the inputs that they use. Lists other
names of node types and settings, operators (`==`, `!=`), and Start and End nodes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from toolcrib.features.workflows.planner.catalog import PlannerCatalog, folded
from toolcrib.features.workflows.planner.draft import (
    PlannedNode,
    WorkflowDraft,
    free_id,
    map_texts,
    texts_in,
    valid_id,
)
from toolcrib.graph.node_type import AnyNodeType
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import NEXT, RESERVED

_VALID = re.compile(r"[a-z][a-z0-9_]{0,63}")
_OWNERS = ("loop", "map")
"""Settings whose value is the id of a node."""
TOOL_CALL = "McpToolCall"
_TYPE_NAMES = {
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
_STARTS = frozenset({"start", "begin", "entry", "trigger", "manualtrigger", "startnode"})
_ENDS = frozenset({"end", "stop", "finish", "exit", "done", "output", "return", "endnode"})
_SETTING_NAMES = {
    "tool": ("toolname", "name", "function"),
    "arguments": ("args", "params", "parameters", "toolarguments", "input", "inputs"),
    "exit_condition": ("condition", "until", "exitwhen"),
    "condition": ("expression", "if"),
    "items": ("list", "over", "array"),
    "loop": ("loopid", "loopnode"),
    "map": ("mapid", "mapnode"),
    "prompt": ("instruction", "instructions", "text"),
    "seconds": ("duration", "delay"),
}
"""What models call some settings, without case and punctuation."""
_OPERATORS = {
    "==": "equals",
    "===": "equals",
    "=": "equals",
    "eq": "equals",
    "is": "equals",
    "equal": "equals",
    "!=": "not_equals",
    "<>": "not_equals",
    "ne": "not_equals",
    "not_equal": "not_equals",
    ">": "greater_than",
    "gt": "greater_than",
    "<": "less_than",
    "lt": "less_than",
    ">=": "greater_or_equal",
    "gte": "greater_or_equal",
    "<=": "less_or_equal",
    "lte": "less_or_equal",
    "includes": "contains",
    "empty": "is_empty",
    "not_empty": "is_not_empty",
    "exists": "is_not_empty",
    "regex": "matches",
}
_KEYS = ("condition", "exit_condition")
_VALUE = r"""\{\{[^{}]+\}\}|"[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|true|false|null"""
_WORD = r"===?|!=|<>|>=|<=|[<>]|not contains|contains"
_TEXT = re.compile(rf"\s*({_VALUE})\s*({_WORD})\s*({_VALUE})\s*", re.IGNORECASE)
_EMPTY = re.compile(rf"\s*({_VALUE})\s+is\s+(not\s+)?empty\s*", re.IGNORECASE)
_ROOT = re.compile(r"(\{\{\s*\$?)(inputs|parameters|params|nodes|steps)\.(?=([a-z][a-z0-9_]*))")
_INPUT = re.compile(r"\{\{\s*input\.([a-z][a-z0-9_]{0,63})")
_INPUT_ROOTS = frozenset({"inputs", "parameters", "params"})


def correct_ids(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """Ids with characters that a file does not allow, in nodes, inputs, outputs, edges and references."""
    renamed = _renamed(draft)
    for old, new in renamed.items():
        draft.nodes[old].id = new
        draft.doubt(new, f"The id {old[:80]!r} is not valid; it is now {new!r}.")
    draft.nodes = {node.id: node for node in draft.nodes.values()}
    _split_outputs(draft, renamed)
    _rename_references(draft, renamed)
    _rename_inputs(draft)
    draft.outputs = {valid_id(name): value for name, value in draft.outputs.items()}


def _renamed(draft: WorkflowDraft) -> dict[str, str]:
    """New ids by the old ones; none is used twice."""
    wrong = [node.id for node in draft.new_nodes() if not _VALID.fullmatch(node.id) or node.id in RESERVED]
    used = set(draft.nodes) - set(wrong)
    found: dict[str, str] = {}
    for old in wrong:
        found[old] = free_id(valid_id(old), used)
        used.add(found[old])
    return found


def _split_outputs(draft: WorkflowDraft, renamed: Mapping[str, str]) -> None:
    """Edges from `check.true` or `check:true`, and edges that use the old ids."""
    for edge in draft.edges:
        edge.source, edge.target = (
            renamed.get(edge.source, edge.source),
            renamed.get(edge.target, edge.target),
        )
        node, separator, output = edge.source.replace(":", ".").rpartition(".")
        if edge.source not in draft.nodes and separator and node in draft.nodes and edge.output == NEXT:
            edge.source, edge.output = node, output


def _rename_references(draft: WorkflowDraft, renamed: Mapping[str, str]) -> None:
    if not renamed:
        return
    for node in draft.new_nodes():
        node.settings = _with_new_names(node.settings, renamed)
        for key in _OWNERS:
            owner = node.settings.get(key)
            if isinstance(owner, str) and owner in renamed:
                node.settings[key] = renamed[owner]
    draft.outputs = _with_new_names(draft.outputs, renamed)


def _with_new_names(value: dict[str, Any], renamed: Mapping[str, str], root: str = "") -> dict[str, Any]:
    names = "|".join(re.escape(old) for old in sorted(renamed, key=len, reverse=True))
    reference = re.compile(r"(\{\{\s*" + root + ")(" + names + r")(?=\s*[.\[}])")
    changed: dict[str, Any] = map_texts(
        value, lambda text: reference.sub(lambda found: found[1] + renamed[found[2]], text)
    )
    return changed


def _rename_inputs(draft: WorkflowDraft) -> None:
    renamed = {name: valid_id(name) for name in draft.inputs if not _VALID.fullmatch(name)}
    if not renamed:
        return
    draft.inputs = {renamed.get(name, name): value for name, value in draft.inputs.items()}
    for node in draft.new_nodes():
        node.settings = _with_new_names(node.settings, renamed, r"inputs?\.")
    draft.outputs = _with_new_names(draft.outputs, renamed, r"inputs?\.")
    for old, new in renamed.items():
        draft.doubt(None, f"The input name {old[:80]!r} is not valid; it is now {new!r}.")


def correct_types(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """Types in another spelling, and tool calls written as types. Invented types are not replaced."""
    names = {folded(name): name for name in catalog.types}
    for node in draft.new_nodes():
        if node.type in catalog.types:
            continue
        known = names.get(folded(node.type)) or _TYPE_NAMES.get(folded(node.type))
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


def drop_pseudo_nodes(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """Start and End nodes, which a workflow does not need: a path begins and ends by itself."""
    for node in draft.new_nodes():
        if node.type not in catalog.types and _is_superfluous(draft, node):
            draft.remove_node(node.id)
            draft.doubt(
                None, f"The node {node.id!r} of type {node.type[:80]!r} was left out; it does nothing."
            )


def _is_superfluous(draft: WorkflowDraft, node: PlannedNode) -> bool:
    if folded(node.type) in _STARTS:
        return not draft.edges_to(node.id) and len(draft.edges_from(node.id)) <= 1
    return folded(node.type) in _ENDS and not draft.edges_from(node.id)


def correct_settings(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """Settings in another spelling, and settings that are null."""
    for node in draft.new_nodes():
        kind = catalog.type_of(node)
        if kind is not None:
            _rename(draft, node, kind)
            _drop_null(node, kind)


def match(given: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Known names by given ones that only differ in case and punctuation, each used once."""
    free = {folded(name): name for name in known}
    return {name: free.pop(folded(name)) for name in given if folded(name) in free}


def _rename(draft: WorkflowDraft, node: PlannedNode, kind: AnyNodeType) -> None:
    fields = _fields(kind)
    unknown = [name for name in node.settings if name not in fields]
    missing = [name for name in fields if name not in node.settings]
    renamed = match(unknown, missing) | _by_other_names(unknown, missing)
    for old, new in renamed.items():
        node.settings[new] = node.settings.pop(old)
        draft.doubt(node.id, f"The setting {old[:80]!r} is read as {new!r}.")


def _fields(kind: AnyNodeType) -> Mapping[str, bool]:
    """Names of the settings, and whether each is required."""
    return {field.alias or name: field.is_required() for name, field in kind.settings.model_fields.items()}


def _by_other_names(unknown: Iterable[str], missing: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in missing:
        given = [key for key in unknown if folded(key) in _SETTING_NAMES.get(name, ())]
        if len(given) == 1 and given[0] not in found:
            found[given[0]] = name
    return found


def _drop_null(node: PlannedNode, kind: AnyNodeType) -> None:
    """A setting that is null is the same as one that is left out."""
    optional = {name for name, required in _fields(kind).items() if not required}
    node.settings = {
        key: value for key, value in node.settings.items() if value is not None or key not in optional
    }


def correct_conditions(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """Conditions written as text or with the operators of programming languages."""
    for node in draft.new_nodes():
        for key in _KEYS:
            if key in node.settings:
                node.settings[key] = _condition(draft, node, node.settings[key])
        cases = node.settings.get("cases")
        for case in cases if isinstance(cases, list) else ():
            if isinstance(case, dict) and "condition" in case:
                case["condition"] = _condition(draft, node, case["condition"])


def _condition(draft: WorkflowDraft, node: PlannedNode, given: Any) -> Any:
    if isinstance(given, str):
        return _from_text(draft, node, given)
    if not isinstance(given, Mapping):
        return given
    for key in ("all", "any"):
        if isinstance(given.get(key), list):
            return {**given, key: [_condition(draft, node, inner) for inner in given[key]]}
    if "not" in given:
        return {**given, "not": _condition(draft, node, given["not"])}
    return _with_operator(draft, node, given)


def _with_operator(draft: WorkflowDraft, node: PlannedNode, given: Mapping[str, Any]) -> dict[str, Any]:
    operator = given.get("operator", given.get("op"))
    if not isinstance(operator, str):
        return dict(given)
    plain = re.sub(r"[\s-]+", "_", operator.strip().lower())
    known = _OPERATORS.get(plain, plain)
    if known != operator:
        draft.doubt(node.id, f"The operator {operator[:40]!r} is read as {known}.")
    return {**{key: value for key, value in given.items() if key != "op"}, "operator": known}


def _from_text(draft: WorkflowDraft, node: PlannedNode, text: str) -> Any:
    """A comparison; text of another form is left to validation."""
    empty, compared = _EMPTY.fullmatch(text), _TEXT.fullmatch(text)
    if empty is not None:
        operator = "is_not_empty" if empty[2] else "is_empty"
        read: dict[str, Any] = {"left": _value(empty[1]), "operator": operator}
    elif compared is not None:
        word = compared[2].lower().replace(" ", "_")
        read = {
            "left": _value(compared[1]),
            "operator": _OPERATORS.get(word, word),
            "right": _value(compared[3]),
        }
    else:
        return text
    draft.doubt(node.id, f"The condition {text.strip()[:200]!r} is read as {json.dumps(read)}.")
    return read


def _value(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    return text if text.startswith("{{") else json.loads(text.lower())


def correct_arguments(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """The tool and its arguments. An unknown tool is never replaced: it goes back to the model."""
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


def correct_inputs(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """References in the notation of other programs, and inputs that were not declared."""
    for node in draft.new_nodes():
        node.settings = map_texts(
            node.settings, lambda text: _ROOT.sub(lambda found: _root(draft, found), text)
        )
    draft.outputs = map_texts(draft.outputs, lambda text: _ROOT.sub(lambda found: _root(draft, found), text))
    _declare(draft)


def _root(draft: WorkflowDraft, found: re.Match[str]) -> str:
    """`{{inputs.x}}` is `{{input.x}}`, and `{{steps.find.text}}` is `{{find.text}}`."""
    if found[2] in draft.nodes:
        return found[0]
    if found[2] in _INPUT_ROOTS:
        return "{{input."
    return "{{" if found[3] in draft.nodes else found[0]


def _declare(draft: WorkflowDraft) -> None:
    texts = [*texts_in([node.settings for node in draft.nodes.values()]), *texts_in(draft.outputs)]
    used = dict.fromkeys(name for text in texts for name in _INPUT.findall(text))
    for name in used:
        if name not in draft.inputs:
            draft.inputs[name] = {}
            draft.doubt(None, f"The input {name!r} was used but not declared; it is now a required text.")
