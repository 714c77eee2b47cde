"""Validates planned workflows against the tools and workflows that were offered."""

from __future__ import annotations

from toolcrib.schema.workflows import Problem, Workflow
from toolcrib.workflows.graph.validation import validate
from toolcrib.workflows.planner.catalog import Catalog


def problems_of(workflow: Workflow, catalog: Catalog) -> list[Problem]:
    found = validate(workflow, find_tool=catalog.tool, find_workflow=catalog.workflow)
    return [problem for problem in found if not problem.warning]
