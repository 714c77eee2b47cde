"""Makes a workflow from a draft: repairs it and finds what is wrong with the rest; the order of the repair
rules, and valid names for workflows.

Each rule corrects one mistake that models make, only if there is one obvious correction. What it corrects is
recorded as a doubt; what it cannot correct goes back to the model as a problem.
"""

from __future__ import annotations

import re
from typing import Any

from toolcrib.features.workflows.graph.validation import validate
from toolcrib.features.workflows.planner import edge_repairs, node_repairs
from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import PlannedNode, WorkflowDraft
from toolcrib.graph.files import workflow_from
from toolcrib.graph.problems import InvalidWorkflow
from toolcrib.schema.workflows import Workflow, WorkflowProblem

RULES = (
    node_repairs.correct_ids,
    node_repairs.correct_types,
    node_repairs.drop_pseudo_nodes,
    node_repairs.correct_settings,
    node_repairs.correct_conditions,
    node_repairs.correct_arguments,
    node_repairs.correct_inputs,
    edge_repairs.name_outputs,
    edge_repairs.close_bodies,
    edge_repairs.add_missing_edges,
)
"""In this order: edges are only understood once nodes have their ids, types and settings."""


def problems_of(workflow: Workflow, catalog: PlannerCatalog) -> list[WorkflowProblem]:
    found = validate(workflow, find_tool=catalog.tool, find_workflow=catalog.workflow)
    return [problem for problem in found if not problem.warning]


def build(
    draft: WorkflowDraft, catalog: PlannerCatalog, request: str, current: Workflow | None = None
) -> tuple[Workflow | None, list[WorkflowProblem]]:
    """The workflow of a repaired draft, or the problems; those that the current one has do not count."""
    for rule in RULES:
        rule(draft, catalog)
    try:
        workflow = workflow_from(_written(draft, request))
    except InvalidWorkflow as error:
        return None, [*draft.problems, *error.problems]
    known = set() if current is None else set(problems_of(current, catalog))
    found = [problem for problem in problems_of(workflow, catalog) if problem not in known]
    problems = [*draft.problems, *(problem for problem in found if not _is_reported(draft, problem))]
    return (None, problems) if problems else (workflow, [])


def _is_reported(draft: WorkflowDraft, problem: WorkflowProblem) -> bool:
    """Whether a rule already reported the node, more exactly than validation does."""
    return problem.node is not None and any(known.node == problem.node for known in draft.problems)


def _written(draft: WorkflowDraft, request: str) -> dict[str, Any]:
    return {
        "name": workflow_name(draft.name or request),
        "description": draft.description[:2000],
        "inputs": draft.inputs,
        "nodes": {name: _node(node) for name, node in draft.nodes.items()},
        "edges": [{"from": edge.source, "to": edge.target, "output": edge.output} for edge in draft.edges],
        "outputs": draft.outputs,
        **draft.rest,
    }


def _node(node: PlannedNode) -> dict[str, Any]:
    return {"type": node.type, "settings": node.settings, **node.fields}


def workflow_name(text: str) -> str:
    """A valid name from any text."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words[:8])[:64].strip("-") or "workflow"
