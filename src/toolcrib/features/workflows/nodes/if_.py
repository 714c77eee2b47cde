"""If: chooses between two paths."""

from __future__ import annotations

from pydantic import Field

from toolcrib.graph.conditions import Condition, describe, holds
from toolcrib.graph.node_settings import NodeResult, NodeSettings
from toolcrib.graph.node_type import NodeType, Route


class IfSettings(NodeSettings):
    condition: Condition = Field(description="Decides which output is taken.")


class IfResult(NodeResult):
    holds: bool = Field(description="Whether the condition was true.")


def decide(settings: IfSettings, completed: int) -> Route:
    result = holds(settings.condition)
    output = "true" if result else "false"
    return Route(output=output, reason=describe(settings.condition), value={"holds": result})


NODE = NodeType(
    name="If",
    title="If",
    group="control",
    about="Continues at the output `true` if its condition holds, else at `false`.",
    settings=IfSettings,
    example={"condition": {"left": "{{find.count}}", "operator": "greater_than", "right": 0}},
    result=IfResult,
    outputs=lambda settings: ("true", "false"),
    passed=lambda settings: "false",
    flow="branch",
    decide=decide,
)
