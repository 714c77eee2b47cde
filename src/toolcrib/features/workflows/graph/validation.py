"""Finds everything that is wrong with a workflow; each problem names its node and says what to do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from toolcrib.errors import InvalidArguments
from toolcrib.features.workflows.graph.declarations import declaration_problems
from toolcrib.features.workflows.graph.node_types import find_type
from toolcrib.features.workflows.graph.reference_checks import ReferenceChecks
from toolcrib.features.workflows.graph.reference_types import FindTool, FindWorkflow, ReferenceTypes
from toolcrib.features.workflows.graph.visibility import Visibility
from toolcrib.graph.compiled import CompiledGraph, Reading, compiled, read
from toolcrib.graph.problems import MOST_PROBLEMS, InvalidWorkflow
from toolcrib.graph.references import references_in
from toolcrib.graph.value_types import Schema
from toolcrib.schema.tools import Tool, ToolDefinition
from toolcrib.schema.workflows import RESERVED, Edge, Workflow, WorkflowProblem

if TYPE_CHECKING:
    from toolcrib.tools.validation import ArgumentChecker

_COMBINED = ("anyOf", "oneOf", "allOf", "not", "if", "dependentRequired", "dependentSchemas", "minProperties")
"""Keywords that judge an object as a whole, which cannot be done while a part of it is a reference."""


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
    reading = read(workflow, find_type)
    visibility = Visibility(reading.topology, reading.bodies, reading.drafts)
    types = ReferenceTypes(workflow, reading.drafts, reading.bodies, visibility, find_tool, find_workflow)
    return list(ReferenceChecks(workflow, reading.drafts, types, visibility).of_types())


def literal_problem(name: str, value: Any, schema: Schema) -> InvalidArguments | None:
    """What is wrong with the arguments that have no references; the others are left out."""
    if not isinstance(value, Mapping):
        return None
    open_ = {key for key, entry in value.items() if any(references_in(entry))}
    literal = {key: entry for key, entry in value.items() if key not in open_}
    try:
        _checker().check(_as_tool(name, _without(schema, open_)), literal)
    except InvalidArguments as error:
        return error
    return None


def _without(schema: Schema, names: set[str]) -> Schema:
    """The schema for an object in which these properties are not judged."""
    if not names:
        return schema
    kept = {key: value for key, value in schema.items() if key not in _COMBINED}
    required = schema.get("required")
    if isinstance(required, list):
        kept["required"] = [each for each in required if each not in names]
    return kept


def _as_tool(name: str, schema: Schema) -> Tool:
    definition = ToolDefinition(name=name, raw={"inputSchema": schema})
    digest = hashlib.sha256(json.dumps(schema, sort_keys=True, default=str).encode()).hexdigest()
    return Tool(
        name=name, server=None, origin="native", definition=definition, hash=f"{name}:{digest}", tokens=0
    )


@cache
def _checker() -> ArgumentChecker:
    from toolcrib.tools.validation import ArgumentChecker

    return ArgumentChecker()


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
