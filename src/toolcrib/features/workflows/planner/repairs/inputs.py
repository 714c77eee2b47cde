"""References to inputs and nodes in the notation of other programs, and inputs that were not declared."""

from __future__ import annotations

import re

from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import WorkflowDraft, map_texts, texts_in

_ROOT = re.compile(r"(\{\{\s*\$?)(inputs|parameters|params|nodes|steps)\.(?=([a-z][a-z0-9_]*))")
_INPUT = re.compile(r"\{\{\s*input\.([a-z][a-z0-9_]{0,63})")
_INPUT_ROOTS = frozenset({"inputs", "parameters", "params"})


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
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
