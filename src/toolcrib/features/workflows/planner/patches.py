"""Changes a workflow by a patch: nodes by id, edges by their ends. Everything else stays unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.features.workflows.planner.draft import PlannedEdge, PlannedNode, WorkflowDraft
from toolcrib.features.workflows.planner.reading import (
    NODE_FIELDS,
    read_edge,
    read_edges,
    read_inputs,
    read_nodes,
    read_outputs,
)
from toolcrib.schema.workflows import NEXT, Workflow
from toolcrib.suggestions import did_you_mean

KEYS = frozenset(
    {
        "add_nodes",
        "remove_nodes",
        "update_nodes",
        "add_edges",
        "remove_edges",
        "inputs",
        "remove_inputs",
        "outputs",
        "remove_outputs",
        "description",
        "triggers",
    }
)


def patched(current: Workflow, patch: Mapping[str, Any]) -> WorkflowDraft:
    """The draft of the changed workflow; what does not apply is among its problems."""
    draft = as_draft(current)
    unknown = [str(key) for key in patch if key not in KEYS]
    if unknown or not patch:
        known = ", ".join(sorted(KEYS))
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
