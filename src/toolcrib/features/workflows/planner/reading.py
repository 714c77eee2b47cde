"""Reads a model's answer node by node and edge by edge: one unreadable part does not spoil the others. Lists
other spellings of keys and types, and the most nodes.

A patch changes nodes by id and edges by their ends; everything else of the workflow stays unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolcrib.features.workflows.planner.draft import PlannedEdge, PlannedNode, WorkflowDraft
from toolcrib.features.workflows.planner.prompt import PATCH
from toolcrib.schema.workflows import NEXT, Node, ParameterType, Workflow
from toolcrib.suggestions import did_you_mean

PATCH_KEYS = frozenset({*PATCH["properties"], "triggers"})
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


def patched(current: Workflow, patch: Mapping[str, Any]) -> WorkflowDraft:
    """The draft of the changed workflow; what does not apply is among its problems."""
    draft = as_draft(current)
    unknown = [str(key) for key in patch if key not in PATCH_KEYS]
    if unknown or not patch:
        known = ", ".join(sorted(PATCH_KEYS))
        draft.problem(None, f"The patch has {', '.join(unknown) or 'no changes'}.", f"It may have: {known}.")
    _update_nodes(draft, patch.get("update_nodes"))
    _remove_edges(draft, patch.get("remove_edges"))
    _remove_nodes(draft, patch.get("remove_nodes"))
    read_nodes(draft, patch.get("add_nodes"))
    _add_edges(draft, patch.get("add_edges"))
    _change_values(draft, patch)
    return draft


def as_draft(workflow: Workflow) -> WorkflowDraft:
    """A workflow as a draft, in which every node is one of the current workflow."""
    written = workflow.model_dump(mode="json", by_alias=True, exclude_unset=True)
    nodes = {
        name: PlannedNode(
            id=name,
            type=node["type"],
            settings=node.get("settings", {}),
            fields={key: node[key] for key in NODE_FIELDS if key in node},
        )
        for name, node in written.get("nodes", {}).items()
    }
    edges = [
        PlannedEdge(source=edge.source, target=edge.target, output=edge.output) for edge in workflow.edges
    ]
    return WorkflowDraft(
        name=workflow.name,
        description=workflow.description,
        inputs=written.get("inputs", {}),
        nodes=nodes,
        edges=edges,
        outputs=written.get("outputs", {}),
        rest={key: written[key] for key in ("checks", "options", "triggers") if key in written},
        kept=frozenset(nodes),
    )


def _update_nodes(draft: WorkflowDraft, given: object) -> None:
    for change in _updates(given):
        name = change.get("id") if isinstance(change, Mapping) else None
        node = draft.nodes.get(name) if isinstance(name, str) else None
        if node is None:
            draft.problem(None, f"update_nodes: there is no node {name!r}.", _nodes_hint(draft, name))
            continue
        settings = change.get("settings")
        if isinstance(settings, Mapping):
            node.settings = merged(node.settings, settings)
        node.type = str(change.get("type") or node.type)
        node.fields.update({key: change[key] for key in NODE_FIELDS if key in change})
        draft.kept -= {node.id}


def _updates(given: object) -> list[Any]:
    """A list of changes with their ids, or an object with a change for each id."""
    if isinstance(given, Mapping):
        return [
            {**(settings if isinstance(settings, Mapping) else {}), "id": name}
            for name, settings in given.items()
        ]
    return given if isinstance(given, list) else []


def merged(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the changed ones replaced; null removes one. The arguments of a tool are merged alike."""
    both = {**settings, **changes}
    arguments, changed = settings.get("arguments"), changes.get("arguments")
    same_tool = changes.get("tool") in (None, settings.get("tool"))
    if isinstance(arguments, Mapping) and isinstance(changed, Mapping) and same_tool:
        both["arguments"] = merged(arguments, changed)
    return {key: value for key, value in both.items() if not (key in changes and value is None)}


def _remove_nodes(draft: WorkflowDraft, given: object) -> None:
    for name in given if isinstance(given, list) else ():
        if not isinstance(name, str) or name not in draft.nodes:
            draft.problem(None, f"remove_nodes: there is no node {name!r}.", _nodes_hint(draft, name))
            continue
        draft.remove_node(name)
        draft.kept -= {name}


def _nodes_hint(draft: WorkflowDraft, name: object) -> str:
    known = ", ".join(list(draft.nodes)[:50])
    return did_you_mean(str(name)[:100], draft.nodes, otherwise=f"The nodes: {known}.")


def _remove_edges(draft: WorkflowDraft, given: object) -> None:
    for item in given if isinstance(given, list) else ():
        edge = read_edge(item)
        found = [known for known in draft.edges if edge is not None and _is_same(known, edge)]
        if len(found) == 1:
            draft.edges.remove(found[0])
        else:
            shown = edge or str(item)[:100]
            draft.problem(None, f"remove_edges: there is no edge {shown}.", "See the edges of the workflow.")


def _is_same(known: PlannedEdge, named: PlannedEdge) -> bool:
    """Whether an edge is meant; an output that is not named is any."""
    if (known.source, known.target) != (named.source, named.target):
        return False
    return named.output in (NEXT, known.output)


def _add_edges(draft: WorkflowDraft, given: object) -> None:
    earlier = list(draft.edges)
    read_edges(draft, given)
    for edge in [candidate for candidate in draft.edges if candidate not in earlier]:
        for old in [
            candidate
            for candidate in earlier
            if (candidate.source, candidate.output) == (edge.source, edge.output)
        ]:
            if old in draft.edges and old.target in draft.reached(edge.target):
                draft.edges.remove(old)  # Inserted between two nodes.
                draft.doubt(edge.source, f"The edge {old} was replaced by {edge}.")


def _change_values(draft: WorkflowDraft, patch: Mapping[str, Any]) -> None:
    draft.inputs = {**draft.inputs, **read_inputs(draft, patch.get("inputs"))}
    draft.outputs = {**draft.outputs, **read_outputs(patch.get("outputs"))}
    _remove_values(draft, draft.inputs, patch.get("remove_inputs"), "input")
    _remove_values(draft, draft.outputs, patch.get("remove_outputs"), "output")
    if isinstance(patch.get("description"), str):
        draft.description = patch["description"]
    if isinstance(patch.get("triggers"), list):
        draft.rest["triggers"] = patch["triggers"]


def _remove_values(draft: WorkflowDraft, values: dict[str, Any], given: object, kind: str) -> None:
    for name in given if isinstance(given, list) else ():
        if isinstance(name, str) and name in values:
            del values[name]
        else:
            draft.problem(
                None, f"remove_{kind}s: there is no {kind} {name!r}.", f"Known: {', '.join(values)}."
            )
