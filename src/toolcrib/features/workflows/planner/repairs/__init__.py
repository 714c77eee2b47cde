"""Repairs drafts: each rule corrects one mistake that models make, only if there is one obvious correction.

What a rule corrects is recorded as a doubt; what it cannot correct goes back to the model as a problem.
"""

from __future__ import annotations

from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import WorkflowDraft
from toolcrib.features.workflows.planner.repairs import (
    arguments,
    conditions,
    ids,
    inputs,
    loops,
    missing_edges,
    outputs,
    pseudo_nodes,
    settings,
    types,
)

RULES = (
    ids.apply,
    types.apply,
    pseudo_nodes.apply,
    settings.apply,
    conditions.apply,
    arguments.apply,
    inputs.apply,
    outputs.apply,
    loops.apply,
    missing_edges.apply,
)
"""In this order: edges are only understood once nodes have their ids, types and settings."""


def repair(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    for rule in RULES:
        rule(draft, catalog)
