"""Validates planned workflows against the tools and workflows that were offered."""

from __future__ import annotations

from toolcrib.features.workflows.graph.validation import validate
from toolcrib.features.workflows.planner.catalog import Catalog
from toolcrib.schema.workflows import Workflow, WorkflowProblem


def problems_of(workflow: Workflow, catalog: Catalog) -> list[WorkflowProblem]:
    found = validate(workflow, find_tool=catalog.tool, find_workflow=catalog.workflow)
    return [problem for problem in found if not problem.warning]
