"""Finds everything that is wrong with a workflow (references, types, arguments of tools, reserved names);
each problem names its node and says what to do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from toolcrib.errors import InvalidArguments
from toolcrib.features.workflows.graph.declarations import declaration_problems
from toolcrib.features.workflows.graph.node_types import find_type
from toolcrib.features.workflows.graph.reference_types import (
    FindTool,
    FindWorkflow,
    ReferenceTypes,
    Visibility,
)
from toolcrib.graph.compiled import CompiledGraph, Reading, compiled, read
from toolcrib.graph.node_settings import NodeSettings, fixed_fields
from toolcrib.graph.problems import MOST_PROBLEMS, InvalidWorkflow
from toolcrib.graph.references import BadReference, Path, Reference, parse, references_in
from toolcrib.graph.topology import DraftNode
from toolcrib.schema.mistakes import spell
from toolcrib.schema.tools import Tool, ToolDefinition
from toolcrib.schema.value_types import (
    UNKNOWN,
    Missing,
    Schema,
    ValueType,
    fits,
    part_of,
    value_type,
)
from toolcrib.schema.workflows import RESERVED, Edge, Workflow, WorkflowProblem
from toolcrib.suggestions import did_you_mean

if TYPE_CHECKING:
    from toolcrib.tools.validation import ArgumentChecker

EVENT = "event"
ITEM = frozenset({"item", "index"})

_COMBINED = ("anyOf", "oneOf", "allOf", "not", "if", "dependentRequired", "dependentSchemas", "minProperties")
"""Keywords that judge an object as a whole, which cannot be done while a part of it is a reference."""


class ReferenceChecks:
    def __init__(
        self,
        workflow: Workflow,
        drafts: Mapping[str, DraftNode],
        types: ReferenceTypes,
        visibility: Visibility,
    ) -> None:
        self._workflow = workflow
        self._drafts = drafts
        self._types = types
        self._visibility = visibility

    def run(self) -> Iterator[WorkflowProblem]:
        for draft in self._drafts.values():
            yield from self._of_settings(draft)
        for id_, node in self._workflow.nodes.items():
            for check in node.checks:
                yield from self._of_value([check.value, check.app_name], id_, "A check", also_itself=True)
        for check in self._workflow.checks:
            yield from self._of_value([check.value, check.app_name], None, "A check")
        for name, value in self._workflow.outputs.items():
            yield from self._of_value(value, None, f"The output {name}")

    def of_types(self) -> Iterator[WorkflowProblem]:
        """Only the settings whose references have a value of the wrong type, or lead to no field."""
        for draft in self._drafts.values():
            for path, text in _references(draft):
                if self._has_values(text, draft.id):
                    yield from self._of_setting(draft, path, text)

    def _has_values(self, text: str, node: str) -> bool:
        try:
            references = parse(text).references
        except BadReference:
            return False
        return all(self._root_problem(reference, node, False) is None for reference in references)

    def _of_settings(self, draft: DraftNode) -> Iterator[WorkflowProblem]:
        for path, text in _references(draft):
            yield from self._of_setting(draft, path, text)

    def _of_setting(self, draft: DraftNode, path: Path, text: str) -> Iterator[WorkflowProblem]:
        problems = list(self._of_text(text, draft.id, spell(path)))
        yield from problems or self._misfits(draft, path, text)

    def _of_value(
        self, value: Any, node: str | None, place: str, *, also_itself: bool = False
    ) -> Iterator[WorkflowProblem]:
        for _, text in references_in(value):
            yield from self._of_text(text, node, place, also_itself=also_itself)

    def _of_text(
        self, text: str, node: str | None, place: str, *, also_itself: bool = False
    ) -> Iterator[WorkflowProblem]:
        try:
            references = parse(text).references
        except BadReference as error:
            yield WorkflowProblem(node=node, message=f"{place}: {error.message}", hint=error.hint)
            return
        for reference in references:
            itself = also_itself and reference.root == node
            found = self._root_problem(reference, node, itself) or self._path_problem(reference, node)
            if found is not None:
                yield replace(found, node=node, message=f"{place}: {found.message}")

    def _root_problem(self, reference: Reference, node: str | None, itself: bool) -> WorkflowProblem | None:
        root = reference.root
        if root in RESERVED:
            return self._reserved_problem(reference, node)
        if root not in self._workflow.nodes:
            names = [*self._workflow.nodes, "input"]
            hint = did_you_mean(root, names, otherwise="References start with the id of a step or `input`.")
            return _wrong(f"{reference} refers to {root!r}, which is no step.", hint)
        hiding = self._visibility.hiding_map(root, node)
        if hiding is not None:
            hint = f"Give it out as the `value` of the EndMap, and refer to {{{{{hiding}.results}}}}."
            return _wrong(f"{reference} is inside the Map {hiding} and cannot be seen from here.", hint)
        if node is not None and not itself and not self._visibility.is_before(root, node):
            hint = "Refer to steps that run earlier on the same path."
            return _wrong(f"{reference} never has a value here: {root} does not run before {node}.", hint)
        return None

    def _reserved_problem(self, reference: Reference, node: str | None) -> WorkflowProblem | None:
        if reference.root == EVENT:
            hint = "Add an input, and set it in the trigger."
            return _wrong(f"{reference} can be used in triggers only.", hint)
        if reference.root not in ITEM or (node is not None and self._visibility.maps_around(node)):
            return None
        return _wrong(f"{reference} is used outside of a Map.", "Put the step into a Map.")

    def _path_problem(self, reference: Reference, node: str | None) -> WorkflowProblem | None:
        found = self._types.of(reference, node)
        return _missing(f"{reference}: {found.reason}.", found) if isinstance(found, Missing) else None

    def _misfits(self, draft: DraftNode, path: Path, text: str) -> Iterator[WorkflowProblem]:
        given = self._types.of_text(text, draft.id)
        expected = self._expected(draft, path)
        if isinstance(expected, Missing):
            found = _missing(f"{spell(path)}: {expected.reason}.", expected)
            yield replace(found, node=draft.id)
        elif isinstance(given, ValueType) and not fits(expected, given):
            message = f"{spell(path)} must be {expected}, but {text[:100]} is {given}."
            yield WorkflowProblem(node=draft.id, message=message, hint="Refer to a field of the right type.")

    def _expected(self, draft: DraftNode, path: Path) -> ValueType | Missing:
        """The type of a setting; the types of tool arguments are known more exactly."""
        first, rest = str(path[0]), path[1:]
        exact = self._types.refinement(draft.id).settings.get(first)
        if exact is not None and rest:
            found: ValueType | Missing = value_type(exact)
        else:
            found = part_of(value_type(draft.type.settings_schema), first)
        for part in rest:
            found = part_of(found, part) if isinstance(found, ValueType) else UNKNOWN
        return found


def _references(draft: DraftNode) -> Iterator[tuple[Path, str]]:
    """The references in the settings of a node, with their places."""
    model: type[NodeSettings] = draft.type.settings
    fixed = fixed_fields(model)
    return references_in({key: value for key, value in draft.node.settings.items() if key not in fixed})


def _wrong(message: str, hint: str) -> WorkflowProblem:
    return WorkflowProblem(node=None, message=message, hint=hint)


def _missing(message: str, missing: Missing) -> WorkflowProblem:
    known = f"Known: {', '.join(missing.names[:20])}." if missing.names else ""
    hint = did_you_mean(missing.part[:100], missing.names, otherwise=known)
    return WorkflowProblem(node=None, message=message, hint=hint, warning=not missing.certain)


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
    rest = [other for other in workflow.edges if (other.source, other.output) != (edge.source, edge.output)]
    connected = workflow.model_copy(update={"edges": (*rest, edge)})
    found = _type_problems(connected, find_tool, find_workflow)
    return next((problem for problem in found if problem not in known and not problem.warning), None)


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
        kept["required"] = [name for name in required if name not in names]
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
    return tuple({(problem.node, problem.message): problem for problem in problems}.values())[:MOST_PROBLEMS]


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
        WorkflowProblem(node=name, message=f"{name!r} cannot be the id of a step.", hint=hint)
        for name in names
    ]
