"""Says whether an edge would bring values of the wrong type to the nodes behind it, before it is drawn."""

from __future__ import annotations

from toolcrib.features.workflows.graph.reference_checks import ReferenceChecks
from toolcrib.features.workflows.graph.reference_types import FindTool, FindWorkflow, ReferenceTypes
from toolcrib.features.workflows.graph.validation import read
from toolcrib.features.workflows.graph.visibility import Visibility
from toolcrib.schema.workflows import Edge, Workflow, WorkflowProblem


def edge_problem(
    workflow: Workflow,
    edge: Edge,
    *,
    find_tool: FindTool | None = None,
    find_workflow: FindWorkflow | None = None,
) -> WorkflowProblem | None:
    """The first value that reaches a setting only by this edge and does not fit there.

    An edge that the output already has is replaced. Values that are no longer set on the way are not
    reported: the next edge may bring them back.
    """
    known = set(_type_problems(workflow, find_tool, find_workflow))
    rest = [each for each in workflow.edges if (each.source, each.output) != (edge.source, edge.output)]
    connected = workflow.model_copy(update={"edges": (*rest, edge)})
    found = _type_problems(connected, find_tool, find_workflow)
    return next((each for each in found if each not in known and not each.warning), None)


def _type_problems(
    workflow: Workflow, find_tool: FindTool | None, find_workflow: FindWorkflow | None
) -> list[WorkflowProblem]:
    reading = read(workflow)
    visibility = Visibility(reading.topology, reading.bodies, reading.drafts)
    types = ReferenceTypes(workflow, reading.drafts, reading.bodies, visibility, find_tool, find_workflow)
    return list(ReferenceChecks(workflow, reading.drafts, types, visibility).of_types())
