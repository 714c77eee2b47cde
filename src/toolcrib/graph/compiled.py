"""A valid workflow, ready to be walked: where it starts, what follows what, the settings of each visit, and
the output that a disabled node takes.

Compiling is pure and fast, so a run keeps the workflow itself and compiles it again after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from toolcrib.graph.bodies import BODY, Bodies, read_bodies
from toolcrib.graph.node_settings import resolved
from toolcrib.graph.node_type import AnyNodeType, FindType
from toolcrib.graph.problems import InvalidSettings
from toolcrib.graph.references import Values, resolve
from toolcrib.graph.topology import DraftNode, Topology, read_drafts, read_topology
from toolcrib.schema.workflows import Node, Workflow, WorkflowProblem


@dataclass(frozen=True)
class Reading:
    """What was understood of a workflow, and what was not."""

    workflow: Workflow
    drafts: dict[str, DraftNode]
    topology: Topology
    bodies: Bodies
    problems: tuple[WorkflowProblem, ...]


def read(workflow: Workflow, find_type: FindType) -> Reading:
    drafts, problems = read_drafts(workflow, find_type)
    topology, of_edges = read_topology(workflow, drafts)
    bodies, of_bodies = read_bodies(topology, drafts, workflow)
    found = (*problems, *of_edges, *of_bodies)
    return Reading(workflow, drafts, topology, bodies, found)


@dataclass(frozen=True, kw_only=True)
class CompiledNode:
    id: str
    node: Node
    type: AnyNodeType
    outputs: tuple[str, ...]
    """Besides `error`."""
    passed: str
    """The output that is taken when the node is disabled."""
    owner: str | None
    """The innermost Loop or Map whose body it is in."""
    closes: str | None
    """For an EndLoop or EndMap: the Loop or Map to which control returns."""


@dataclass(frozen=True, kw_only=True)
class CompiledGraph:
    workflow: Workflow
    entry: str
    nodes: Mapping[str, CompiledNode]
    targets: Mapping[tuple[str, str], str]
    bodies: Mapping[str, frozenset[str]]
    """The nodes inside each Loop or Map, with its end and those of inner bodies."""

    def target(self, node: str, output: str) -> str | None:
        """The node that an output leads to; None if the path ends there."""
        return self.targets.get((node, output))

    def first(self, loop: str) -> str:
        """The first node of a body."""
        return self.targets[loop, BODY]

    def settings(self, node: str, values: Values) -> Any:
        """The typed settings of a visit, with references replaced; raises `InvalidSettings`."""
        compiled = self.nodes[node]
        try:
            return resolved(compiled.type.settings, compiled.node.settings, values)
        except ValidationError as error:
            raise InvalidSettings(node, error) from None

    def outputs(self, values: Values) -> dict[str, Any]:
        """The result of the run."""
        return {name: resolve(value, values) for name, value in self.workflow.outputs.items()}


def compiled(reading: Reading) -> CompiledGraph:
    """Of a reading without problems."""
    workflow = reading.workflow
    return CompiledGraph(
        workflow=workflow,
        entry=reading.topology.entry,
        nodes={id_: _node(reading, id_) for id_ in workflow.nodes},
        targets=reading.topology.targets,
        bodies=reading.bodies.nodes,
    )


def _node(reading: Reading, id_: str) -> CompiledNode:
    draft = reading.drafts[id_]
    return CompiledNode(
        id=id_,
        node=draft.node,
        type=draft.type,
        outputs=draft.type.outputs(draft.settings),
        passed=draft.type.passed(draft.settings),
        owner=reading.bodies.owners.get(id_),
        closes=draft.closes,
    )
