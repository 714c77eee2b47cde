"""The nodes of a workflow with their types and their settings as they are in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from toolcrib.graph.node_settings import draft
from toolcrib.graph.node_type import AnyNodeType, FindType, UnknownNodeType
from toolcrib.graph.problems import settings_problems
from toolcrib.schema.workflows import Node, Workflow, WorkflowProblem


@dataclass(frozen=True, kw_only=True)
class DraftNode:
    id: str
    node: Node
    type: AnyNodeType
    settings: Any
    """An instance of the type's settings, in which references are not yet replaced."""

    @property
    def closes(self) -> str | None:
        """The loop or map whose body it ends."""
        return self.type.closes(self.settings) if self.type.closes is not None else None


def read_drafts(
    workflow: Workflow, find_type: FindType
) -> tuple[dict[str, DraftNode], list[WorkflowProblem]]:
    """The nodes that are correct in themselves, and what is wrong with the others."""
    drafts: dict[str, DraftNode] = {}
    problems: list[WorkflowProblem] = []
    for id_, node in workflow.nodes.items():
        try:
            node_type = find_type(node.type)
            settings = draft(node_type.settings, node.settings)
        except UnknownNodeType as error:
            problems.append(WorkflowProblem(node=id_, message=error.message, hint=error.hint))
        except ValidationError as error:
            problems += settings_problems(id_, error, node_type.settings_schema)
        else:
            drafts[id_] = DraftNode(id=id_, node=node, type=node_type, settings=settings)
    return drafts, problems
