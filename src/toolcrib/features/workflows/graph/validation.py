"""Finds everything that is wrong with a workflow; each problem names its node and says what to do."""

from __future__ import annotations

from collections.abc import Iterator

from toolcrib.features.workflows.graph.declarations import declaration_problems
from toolcrib.features.workflows.graph.literals import literal_problem
from toolcrib.features.workflows.graph.node_types import find_type
from toolcrib.features.workflows.graph.reference_checks import ReferenceChecks
from toolcrib.features.workflows.graph.reference_types import FindTool, FindWorkflow, ReferenceTypes
from toolcrib.features.workflows.graph.visibility import Visibility
from toolcrib.graph.compiled import CompiledGraph, Reading, compiled, read
from toolcrib.graph.problems import MOST_PROBLEMS, InvalidWorkflow
from toolcrib.schema.workflows import RESERVED, Problem, Workflow


def validate(
    workflow: Workflow,
    *,
    find_tool: FindTool | None = None,
    find_workflow: FindWorkflow | None = None,
    reading: Reading | None = None,
) -> tuple[Problem, ...]:
    """All problems of a workflow; it can run if none of them is more than a warning.

    With `find_tool`, such as `Registry.resolve`, tools and their arguments are checked too.
    """
    reading = reading or read(workflow, find_type)
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


def compile_workflow(workflow: Workflow) -> CompiledGraph:
    """Raises `InvalidWorkflow` with all problems; tools are not looked at, because they come and go."""
    reading = read(workflow, find_type)
    errors = [problem for problem in validate(workflow, reading=reading) if not problem.warning]
    if errors:
        raise InvalidWorkflow(errors, name=workflow.name)
    return compiled(reading)


def compile_valid(workflow: Workflow) -> CompiledGraph:
    """Compile without validation, which takes most of the time: it was done when the run started."""
    return compiled(read(workflow, find_type))


def _literals(reading: Reading, types: ReferenceTypes) -> Iterator[Problem]:
    """Checks values against what the settings say more exactly, such as the arguments of a tool."""
    for id_, draft in reading.drafts.items():
        for name, schema in types.refinement(id_).settings.items():
            wrong = literal_problem(name, draft.node.settings.get(name, {}), schema)
            if wrong is not None:
                yield Problem(node=id_, message=wrong.message, hint=wrong.hint)


def _reserved(workflow: Workflow) -> list[Problem]:
    names = [name for name in workflow.nodes if name in RESERVED]
    hint = "Choose another id; references use this name."
    return [Problem(node=name, message=f"{name!r} cannot be the id of a node.", hint=hint) for name in names]
