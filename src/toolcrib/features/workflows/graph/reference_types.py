"""The type of what a reference leads to, from the results of nodes and the inputs of the workflow; which
nodes a reference can see, and the fields of `error` and `run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from toolcrib.errors import ServerUnavailable, ToolcribError
from toolcrib.graph.bodies import Bodies
from toolcrib.graph.node_type import Refinement
from toolcrib.graph.references import BadReference, Reference, has_reference, parse
from toolcrib.graph.topology import DraftNode, Topology
from toolcrib.schema.tools import Tool
from toolcrib.schema.value_types import (
    UNKNOWN,
    Missing,
    Schema,
    ValueType,
    as_schema,
    part_of,
    type_of,
    value_type,
)
from toolcrib.schema.workflows import Parameter, Workflow, WorkflowProblem

T = TypeVar("T")
FindTool = Callable[[str], Tool]
"""Finds a tool by its public name; raises a `ToolcribError` that says why there is none."""
FindWorkflow = Callable[[str], Workflow]
TEXT = value_type({"type": "string"})
ERROR_SCHEMA: Schema = {
    "type": "object",
    "properties": {"message": {"type": "string"}, "kind": {"type": "string"}, "hint": {"type": "string"}},
    "additionalProperties": False,
}
RUN_SCHEMA: Schema = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "started": {"type": "string", "format": "date-time"}},
    "additionalProperties": False,
}


class Visibility:
    """Sets of nodes are the bits of an integer: a graph of thousands of nodes takes milliseconds."""

    def __init__(self, topology: Topology, bodies: Bodies, drafts: Mapping[str, DraftNode]) -> None:
        self._bodies = bodies
        self._maps = {id_ for id_, draft in drafts.items() if draft.type.flow == "map"}
        self._bit = {node: 1 << place for place, node in enumerate(topology.order)}
        self._of_body = {
            opener: self._union(nodes) for opener, nodes in bodies.nodes.items() if opener not in self._maps
        }
        self._before: dict[str, int] = {}
        for node in topology.order:
            self._before[node] = self._compute(node, topology)

    def is_before(self, earlier: str, node: str) -> bool:
        """Whether a node may have a result when another runs; True for nodes whose place is not known."""
        if earlier not in self._bit or node not in self._before:
            return True
        return bool(self._before[node] & self._bit[earlier])

    def hiding_map(self, inner: str, node: str | None) -> str | None:
        """The map whose body hides a node from another, or from the workflow's outputs."""
        around = set(self._bodies.around(node)) if node is not None else set()
        hidden = [map_ for map_ in self._bodies.around(inner) if map_ in self._maps and map_ not in around]
        return hidden[-1] if hidden else None

    def maps_around(self, node: str) -> tuple[str, ...]:
        """The maps whose bodies a node is in, innermost first."""
        return tuple(map_ for map_ in self._bodies.around(node) if map_ in self._maps)

    def _compute(self, node: str, topology: Topology) -> int:
        """Everything before those that lead here; in a loop also its whole body, from the second time.

        A loop also sees itself: its condition is checked after the body has run, with the number of that run.
        """
        found = self._of_body[node] | self._bit[node] if node in self._of_body else 0
        for earlier in topology.preceding.get(node, ()):
            found |= self._before.get(earlier, 0) | self._bit.get(earlier, 0)
        for opener in self._bodies.around(node):
            found |= self._of_body.get(opener, 0)
        return found

    def _union(self, nodes: frozenset[str]) -> int:
        found = 0
        for node in nodes:
            found |= self._bit.get(node, 0)
        return found


class ReferenceTypes:
    """Looks up each node once; problems with tools and workflows that nodes name are collected."""

    def __init__(
        self,
        workflow: Workflow,
        drafts: Mapping[str, DraftNode],
        bodies: Bodies,
        visibility: Visibility,
        find_tool: FindTool | None = None,
        find_workflow: FindWorkflow | None = None,
    ) -> None:
        self.problems: list[WorkflowProblem] = []
        self._drafts = drafts
        self._bodies = bodies
        self._visibility = visibility
        self._find_tool = find_tool
        self._find_workflow = find_workflow
        self._inputs = value_type(inputs_schema(workflow.inputs))
        self._refinements: dict[str, Refinement] = {}
        self._results: dict[str, ValueType] = {}

    def of(self, reference: Reference, node: str | None) -> ValueType | Missing:
        """The type of a reference in the settings of a node; its root must exist."""
        found: ValueType | Missing = self._root(reference.root, node)
        for place, part in enumerate(reference.path):
            if isinstance(found, ValueType):
                is_error = place == 0 and part == "error" and reference.root in self._drafts
                found = value_type(ERROR_SCHEMA) if is_error else part_of(found, part)
        return found

    def of_text(self, text: str, node: str | None) -> ValueType | Missing:
        """The type of a string with references."""
        template = parse(text)
        return TEXT if template.whole is None else self.of(template.whole, node)

    def refinement(self, node: str) -> Refinement:
        if node not in self._refinements:
            self._refinements[node] = Refinement()  # a node that refers to itself learns nothing new
            draft = self._drafts[node]
            if draft.type.refine is not None:
                self._refinements[node] = draft.type.refine(draft.settings, _NodeView(self, node))
        return self._refinements[node]

    def find_tool(self, name: str, node: str) -> Tool | None:
        return self._found(self._find_tool, name, node) if self._find_tool is not None else None

    def find_workflow(self, name: str, node: str) -> Workflow | None:
        return self._found(self._find_workflow, name, node) if self._find_workflow is not None else None

    def schema_of(self, value: Any, node: str) -> Schema:
        if has_reference(value):
            return self._schema_of_text(value, node)
        if isinstance(value, Mapping):
            properties = {str(key): self.schema_of(entry, node) for key, entry in value.items()}
            return {"type": "object", "properties": properties, "additionalProperties": False}
        if isinstance(value, list | tuple):
            return {"type": "array", "prefixItems": [self.schema_of(entry, node) for entry in value]}
        return {"type": type_of(value)}

    def _schema_of_text(self, text: str, node: str) -> Schema:
        try:
            found = self.of_text(text, node)
        except BadReference:
            return {}
        return as_schema(found) if isinstance(found, ValueType) else {}

    def _root(self, root: str, node: str | None) -> ValueType:
        if root == "input":
            return self._inputs
        if root == "run":
            return value_type(RUN_SCHEMA)
        if root == "index":
            return value_type({"type": "integer"})
        if root == "item":
            return self._item(node)
        return self._result(root) if root in self._drafts else UNKNOWN

    def _result(self, node: str) -> ValueType:
        if node not in self._results:
            self._results[node] = UNKNOWN
            draft = self._drafts[node]
            schema = self.refinement(node).result or draft.type.result_schema
            self._results[node] = value_type(self._with_results(node, schema))
        return self._results[node]

    def _with_results(self, node: str, schema: Schema) -> Schema:
        """For a map: with the type of what its end collects."""
        end = self._drafts.get(self._bodies.ends.get(node, ""))
        if end is None or self._drafts[node].type.flow != "map":
            return schema
        items = self.schema_of(end.node.settings.get("value"), end.id)
        results = {"type": "array", "items": {"anyOf": [{"$id": "urn:item", **items}, {"type": "null"}]}}
        return {**schema, "properties": {**schema["properties"], "results": results}}

    def _item(self, node: str | None) -> ValueType:
        maps = self._visibility.maps_around(node) if node is not None else ()
        items = self._drafts[maps[0]].node.settings.get("items") if maps else None
        if not isinstance(items, str) or not has_reference(items):
            return UNKNOWN
        found = part_of(value_type(self._schema_of_text(items, maps[0])), 0)
        return found if isinstance(found, ValueType) else UNKNOWN

    def _found(self, find: Callable[[str], T], name: str, node: str) -> T | None:
        # Settings that were refused, and are kept to report no follow-up problems, may hold anything.
        if not isinstance(name, str) or has_reference(name):
            return None
        try:
            return find(name)
        except ToolcribError as error:
            warning = isinstance(error, ServerUnavailable)
            self.problems.append(
                WorkflowProblem(node=node, message=error.message, hint=error.hint, warning=warning)
            )
            return None


class _NodeView:
    """`Surroundings` of one node."""

    def __init__(self, types: ReferenceTypes, node: str) -> None:
        self._types = types
        self._node = node

    def tool(self, name: str) -> Tool | None:
        return self._types.find_tool(name, self._node)

    def workflow(self, name: str) -> Workflow | None:
        return self._types.find_workflow(name, self._node)

    def schema_of(self, value: Any) -> Schema:
        return self._types.schema_of(value, self._node)


def inputs_schema(inputs: Mapping[str, Parameter]) -> Schema:
    """The JSON Schema of a workflow's inputs."""
    properties = {name: parameter_schema(parameter) for name, parameter in inputs.items()}
    required = [
        name for name, parameter in inputs.items() if parameter.required and parameter.default is None
    ]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def parameter_schema(parameter: Parameter) -> Schema:
    schema: dict[str, Any] = {"type": parameter.type}
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema
