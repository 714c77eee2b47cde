"""Workflows that were made from requests, chats and calls, with what they change."""

from __future__ import annotations

from typing_extensions import TypedDict

from toolcrib.features.workflows.planner.draft import WorkflowChanges, WorkflowDoubt
from toolcrib.schema.workflows import Workflow


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
