"""Workflows, their node types, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from toolcrib.graph.node_type import Flow as NodeFlow
from toolcrib.graph.node_type import Group as NodeGroup
from toolcrib.schema.workflows import Workflow, WorkflowProblem

__all__ = ["NodeFlow", "NodeGroup"]


class WorkflowChecked(TypedDict):
    """Whether a workflow can run; `problems` also has warnings."""

    ok: bool
    problems: list[WorkflowProblem]


class WorkflowEdgeChecked(TypedDict):
    """Whether an edge fits: `problem` is null, or names the node that a value does not fit."""

    problem: WorkflowProblem | None


class WorkflowSummary(TypedDict):
    """A workflow in the list; a file that cannot be read has only problems."""

    name: str
    description: str
    version: str
    """Changes with the file's content."""
    changed: str
    nodes: int
    triggers: int
    tool: bool
    """Offered as a tool to agents and to clients of the gateway."""
    problems: list[WorkflowProblem]


class WorkflowShown(TypedDict):
    """A whole workflow that can be read, as JSON with every default value filled in."""

    name: str
    version: str
    changed: str
    workflow: Workflow
    problems: list[WorkflowProblem]


class WorkflowReview(TypedDict):
    """What a workflow does, as far as its file tells."""

    name: str
    version: str
    imported: bool
    """It was made elsewhere."""
    confirmed: bool
    """It may run: it was made here, or the user has confirmed it."""
    does: list[str]
    """What it reads, runs and sends, a line each."""


class WorkflowImported(WorkflowShown, WorkflowReview):
    """An imported workflow, and what it does."""


class WorkflowVersion(TypedDict):
    """A kept version of a workflow; the latest first."""

    version: str
    saved: str
    current: bool


class WorkflowRemoved(TypedDict):
    """Its versions are kept for a while: `workflow_get` with a `version` still returns it."""

    name: str
    version: str


class WorkflowExported(TypedDict):
    """The file of a workflow."""

    name: str
    file: str
    text: str


class WorkflowTemplate(TypedDict):
    """A ready-made workflow to begin with."""

    name: str
    title: str
    description: str
    workflow: Workflow


class NodeTypeShown(TypedDict):
    """A kind of node."""

    name: str
    title: str
    group: NodeGroup
    about: str
    flow: NodeFlow
    """`step` runs; `branch`, `loop`, `map` and `end` control the path."""
    settings: dict[str, Any]
    """JSON Schema of its settings."""
    result: dict[str, Any]
    """JSON Schema of what other nodes may refer to."""
    outputs: list[str]
    """With default settings; every node also has `error`."""
    timeout: float
