"""Finds everything that is wrong with a workflow; each problem names its node and says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolcrib.features.workflows.graph.bodies import Bodies, read_bodies
from toolcrib.features.workflows.graph.declarations import declaration_problems
from toolcrib.features.workflows.graph.drafts import DraftNode, read_drafts
from toolcrib.features.workflows.graph.literals import literal_problem
from toolcrib.features.workflows.graph.problems import MOST_PROBLEMS
from toolcrib.features.workflows.graph.reference_checks import ReferenceChecks
from toolcrib.features.workflows.graph.reference_types import FindTool, FindWorkflow, ReferenceTypes
from toolcrib.features.workflows.graph.topology import Topology, read_topology
from toolcrib.features.workflows.graph.visibility import Visibility
from toolcrib.schema.workflows import RESERVED, Workflow, WorkflowProblem


@dataclass(frozen=True)
class Reading:
    """What was understood of a workflow, and what was not."""

    workflow: Workflow
    drafts: dict[str, DraftNode]
    topology: Topology
    bodies: Bodies
    problems: tuple[WorkflowProblem, ...]


def read(workflow: Workflow) -> Reading:
    drafts, problems = read_drafts(workflow)
    topology, of_edges = read_topology(workflow, drafts)
    bodies, of_bodies = read_bodies(topology, drafts)
    found = (*problems, *of_edges, *of_bodies)
    return Reading(workflow, drafts, topology, bodies, found)


def validate(
    workflow: Workflow,
    *,
    find_tool: FindTool | None = None,
    find_workflow: FindWorkflow | None = None,
    reading: Reading | None = None,
) -> tuple[WorkflowProblem, ...]:
    """All problems of a workflow; it can run if none of them is more than a warning.

    With `find_tool`, such as `Registry.resolve`, tools and their arguments are checked too.
    """
    reading = reading or read(workflow)
    visibility = Visibility(reading.topology, reading.bodies, reading.drafts)
    types = ReferenceTypes(workflow, reading.drafts, reading.bodies, visibility, find_tool, find_workflow)
    problems = [
        *_reserved(workflow),
        *reading.problems,
        *declaration_problems(workflow),
        *ReferenceChecks(workflow, reading.drafts, types, visibility).run(),
        *_literals(reading, types),
        *types.problems,
    ]
    return tuple({(each.node, each.message): each for each in problems}.values())[:MOST_PROBLEMS]


def _literals(reading: Reading, types: ReferenceTypes) -> Iterator[WorkflowProblem]:
    """Checks values against what the settings say more exactly, such as the arguments of a tool."""
    for id_, draft in reading.drafts.items():
        for name, schema in types.refinement(id_).settings.items():
            wrong = literal_problem(name, draft.node.settings.get(name, {}), schema)
            if wrong is not None:
                yield WorkflowProblem(node=id_, message=wrong.message, hint=wrong.hint)


def _reserved(workflow: Workflow) -> list[WorkflowProblem]:
    names = [name for name in workflow.nodes if name in RESERVED]
    hint = "Choose another id; references use this name."
    return [
        WorkflowProblem(node=name, message=f"{name!r} cannot be the id of a node.", hint=hint)
        for name in names
    ]
