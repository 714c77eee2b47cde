"""Reads a model's answer node by node and edge by edge: one unreadable part does not spoil the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolcrib.features.workflows.planner.draft import PlannedEdge, PlannedNode, WorkflowDraft
from toolcrib.schema.workflows import NEXT, Node, ParameterType

MOST_NODES = 500
NODE_FIELDS = frozenset(Node.model_fields) - {"type", "settings"}
_ID = ("id", "key", "node_id")
_TYPE = ("type", "node_type", "kind")
_SETTINGS = ("settings", "config", "configuration")
_SOURCE = ("from", "source", "from_node", "from_id", "start")
_TARGET = ("to", "target", "to_node", "to_id", "end")
_OUTPUT = ("output", "from_output", "source_output", "sourceHandle", "label", "branch", "condition")
_TYPES: dict[str, ParameterType] = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def read_workflow(answer: Mapping[str, Any]) -> WorkflowDraft:
    """A draft of the workflow; what cannot be read is among its problems."""
    draft = WorkflowDraft(name=_text(answer.get("name")), description=_text(answer.get("description")))
    read_nodes(draft, answer.get("nodes", answer.get("steps")))
    read_edges(draft, answer.get("edges", answer.get("connections")))
    draft.inputs = read_inputs(draft, answer.get("inputs", answer.get("parameters")))
    draft.outputs = read_outputs(answer.get("outputs"))
    draft.rest = {key: answer[key] for key in ("checks", "options", "triggers") if answer.get(key)}
    return draft


def read_nodes(draft: WorkflowDraft, given: object) -> None:
    for position, (named, node) in enumerate(_named(given), 1):
        if position > MOST_NODES:
            draft.problem(None, f"There are more than {MOST_NODES} nodes.")
            return
        read = _node(draft, named, node, position)
        if read is None:
            continue
        if read.id in draft.nodes:
            draft.problem(read.id, "Two nodes have this id.", "Give every node an id of its own.")
            continue
        draft.nodes[read.id] = read


def _node(draft: WorkflowDraft, named: str, given: object, position: int) -> PlannedNode | None:
    if not isinstance(given, Mapping):
        draft.problem(named or None, f"Node {position} is not an object with id, type and settings.")
        return None
    id = named or _text(_first(given, _ID)) or _text(given.get("name")) or f"node_{position}"  # noqa: A001
    kind = _text(_first(given, _TYPE))
    if not kind:
        draft.problem(id, "The node has no type.", "Use one of the listed node types.")
        return None
    settings = _first(given, _SETTINGS)
    if settings is not None and not isinstance(settings, Mapping):
        draft.problem(id, "The settings of the node are not an object.")
        return None
    known = {*_ID, *_TYPE, *_SETTINGS, *NODE_FIELDS}
    beside = {str(key): value for key, value in given.items() if key not in known}
    if beside:
        draft.doubt(id, f"{', '.join(beside)} was written beside the settings and is read as a setting.")
    fields = {key: given[key] for key in NODE_FIELDS if given.get(key) is not None}
    return PlannedNode(id=id, type=kind, settings={**beside, **(settings or {})}, fields=fields)


def read_edges(draft: WorkflowDraft, given: object) -> None:
    for position, edge in enumerate(_items(given), 1):
        read = read_edge(edge)
        if read is None:
            draft.problem(None, f"Edge {position} is not an object with from, to and output.")
        elif read not in draft.edges:
            draft.edges.append(read)


def read_edge(given: object) -> PlannedEdge | None:
    if (
        isinstance(given, list | tuple)
        and 2 <= len(given) <= 3
        and all(isinstance(item, str) for item in given)
    ):
        return PlannedEdge(source=given[0], target=given[1], output=given[2] if len(given) == 3 else NEXT)
    if not isinstance(given, Mapping):
        return None
    source, target = _text(_first(given, _SOURCE)), _text(_first(given, _TARGET))
    if not source or not target:
        return None
    output = _first(given, _OUTPUT)
    return PlannedEdge(source=source, target=target, output=_output(output))


def _output(given: object) -> str:
    """The name of an output; JSON's true and false are those of an If."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return _text(given) or NEXT


def read_inputs(draft: WorkflowDraft, given: object) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for named, value in _named(given):
        fields = dict(value) if isinstance(value, Mapping) else {}
        name = named or _text(fields.get("name")) or _text(fields.get("id"))
        if not name:
            draft.problem(None, "An input has no name.")
            continue
        if isinstance(value, str) and value in (*_TYPES, *_TYPES.values(), "number", "integer"):
            fields = {"type": value}
        found[name] = _parameter(fields)
    return found


def _parameter(fields: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("type", "description", "required", "default", "choices", "secret")
    read = {key: fields[key] for key in kept if fields.get(key) is not None}
    if "enum" in fields and "choices" not in read:
        read["choices"] = fields["enum"]
    if "type" in read:
        read["type"] = _TYPES.get(str(read["type"]), read["type"])
    if "default" in read and "required" not in read:
        read["required"] = False
    return read


def read_outputs(given: object) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    pairs = (item for item in _items(given) if isinstance(item, Mapping))
    return {_text(pair.get("name")): pair.get("value") for pair in pairs if _text(pair.get("name"))}


def _named(given: object) -> Iterable[tuple[str, Any]]:
    """Names and values of an object, or the values of a list without names."""
    if isinstance(given, Mapping):
        return [(str(name), value) for name, value in given.items()]
    return [("", value) for value in _items(given)]


def _items(given: object) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else []


def _first(given: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((given[key] for key in keys if given.get(key) is not None), None)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
