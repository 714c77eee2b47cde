"""Ids with characters that a file does not allow, in nodes, inputs, outputs, edges and references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import WorkflowDraft, map_texts
from toolcrib.schema.workflows import NEXT, RESERVED

_VALID = re.compile(r"[a-z][a-z0-9_]{0,63}")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OWNERS = ("loop", "map")
"""Settings whose value is the id of a node."""


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    renamed = _renamed(draft)
    for old, new in renamed.items():
        draft.nodes[old].id = new
        draft.doubt(new, f"The id {old[:80]!r} is not valid; it is now {new!r}.")
    draft.nodes = {node.id: node for node in draft.nodes.values()}
    _split_outputs(draft, renamed)
    _rename_references(draft, renamed)
    _rename_inputs(draft)
    draft.outputs = {valid_id(name): value for name, value in draft.outputs.items()}


def valid_id(text: str) -> str:
    """The nearest valid id."""
    plain = re.sub(r"[^a-z0-9]+", "_", _CAPITAL.sub("_", text).lower()).strip("_")
    if not plain or not plain[0].isalpha():
        plain = f"n_{plain}".rstrip("_")
    return (f"{plain}_node" if plain in RESERVED else plain)[:64]


def _renamed(draft: WorkflowDraft) -> dict[str, str]:
    """New ids by the old ones; none is used twice."""
    wrong = [node.id for node in draft.new_nodes() if not _VALID.fullmatch(node.id) or node.id in RESERVED]
    used = set(draft.nodes) - set(wrong)
    found: dict[str, str] = {}
    for old in wrong:
        new, number = valid_id(old), 2
        while new in used:
            new, number = f"{valid_id(old)[:60]}_{number}", number + 1
        used.add(new)
        found[old] = new
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
