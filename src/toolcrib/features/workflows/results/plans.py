"""Workflows that were made from requests, chats and calls, with what they change."""

from __future__ import annotations

from typing_extensions import TypedDict

from toolcrib.schema.workflows import Workflow


class WorkflowDoubt(TypedDict):
    """Something that was corrected or assumed, to be checked."""

    node: str | None
    """The id of the node; null for the workflow as a whole."""
    message: str


class WorkflowNodeChange(TypedDict):
    node: str
    fields: list[str]
    """What changed, such as `name` or `settings.arguments`."""


class WorkflowEdgeChange(TypedDict):
    """An edge that is new or gone."""

    source: str
    output: str
    target: str


class WorkflowChanges(TypedDict):
    """What is different from the workflow before; everything, if there was none."""

    added: list[str]
    removed: list[str]
    changed: list[WorkflowNodeChange]
    edges_added: list[WorkflowEdgeChange]
    edges_removed: list[WorkflowEdgeChange]
    inputs: list[str]
    """Added, removed or changed."""
    outputs: list[str]
    other: list[str]
    """Other parts of the workflow, such as `description`."""


class WorkflowDrafted(TypedDict):
    """A workflow that is not saved yet."""

    workflow: Workflow
    changes: WorkflowChanges
    doubts: list[WorkflowDoubt]


class WorkflowPlanned(WorkflowDrafted):
    """A workflow that a model planned."""

    model: str
    requests: int
    """How often the model was asked."""
    offered: list[str]
    """The tools that it could choose from."""
    input: int
    """Tokens."""
    output: int
