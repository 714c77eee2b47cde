"""The nodes that choose between two paths and repeat a body: If, Loop and EndLoop. Has their settings and
help texts, how often a loop may run, and what happens at that limit.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toolcrib.errors import CallFailed
from toolcrib.graph.conditions import Condition, describe, holds
from toolcrib.graph.node_settings import NodeResult, NodeSettings, NoResult, fixed, named
from toolcrib.graph.node_type import NodeType, Route
from toolcrib.schema.workflows import NodeId


class IfSettings(NodeSettings):
    condition: Condition = Field(title="Condition", description="Decides which way the run goes on.")


class IfResult(NodeResult):
    holds: bool = Field(description="Whether the condition was true.")


def decide_if(settings: IfSettings, completed: int) -> Route:
    result = holds(settings.condition)
    output = "true" if result else "false"
    return Route(output=output, reason=describe(settings.condition), value={"holds": result})


IF = NodeType(
    name="If",
    title="If",
    group="control",
    about="Goes to “yes” if the condition is true, otherwise to “no”.",
    settings=IfSettings,
    example={"condition": {"left": "{{find.count}}", "operator": "greater_than", "right": 0}},
    result=IfResult,
    outputs=lambda settings: ("true", "false"),
    passed=lambda settings: "false",
    flow="branch",
    decide=decide_if,
)


class LoopLimitReached(CallFailed):
    """A loop has run as often as it may, and its condition still does not hold."""

    kind = "loop_limit"


class LoopSettings(NodeSettings):
    exit_condition: Condition = Field(
        title="Stop when",
        description="Checked after each round; `iteration` of this step is the number of the round.",
    )
    max_iterations: int = Field(default=100, ge=1, le=100_000, title="At most", description="Rounds.")
    at_limit: Literal["fail", "continue"] = named(
        {"fail": "Fail", "continue": "Continue after the loop"},
        default="fail",
        title="If the limit is reached",
        description="The condition is still not true after the last round.",
    )


class LoopResult(NodeResult):
    iteration: int = Field(
        description="The number of the current round, from 1; after the loop, of the last one."
    )
    finished: bool = Field(description="Whether the condition became true.")


def decide_loop(settings: LoopSettings, completed: int) -> Route:
    """The body runs at least once; its number is part of the value."""
    if completed == 0:
        return _again(1, "the first round")
    reason = f"{describe(settings.exit_condition)} after round {completed}"
    if holds(settings.exit_condition):
        return Route(output="done", reason=reason, value={"iteration": completed, "finished": True})
    if completed < settings.max_iterations:
        return _again(completed + 1, reason)
    if settings.at_limit == "continue":
        reason = f"the limit of {completed} rounds was reached"
        return Route(output="done", reason=reason, value={"iteration": completed, "finished": False})
    raise LoopLimitReached(
        f"The condition to stop was still not true after {completed} rounds.",
        hint="Allow more rounds (max_iterations), or continue at the limit (at_limit).",
    )


def _again(iteration: int, reason: str) -> Route:
    return Route(output="body", reason=reason, value={"iteration": iteration, "finished": False})


LOOP = NodeType(
    name="Loop",
    title="Loop",
    group="control",
    about="Repeats the steps inside it until the condition is true.",
    settings=LoopSettings,
    example={
        "exit_condition": {"left": "{{find.count}}", "operator": "greater_than", "right": 0},
        "max_iterations": 20,
    },
    result=LoopResult,
    outputs=lambda settings: ("body", "done"),
    passed=lambda settings: "done",
    flow="loop",
    decide=decide_loop,
)


class EndLoopSettings(NodeSettings):
    loop: NodeId = fixed(title="Loop", description="The id of the Loop that ends here.")


END_LOOP = NodeType(
    name="EndLoop",
    title="End of loop",
    group="control",
    about="The end of the steps that the Loop repeats. It has no outputs.",
    settings=EndLoopSettings,
    example={"loop": "again"},
    result=NoResult,
    outputs=lambda settings: (),
    flow="end",
    closes=lambda settings: settings.loop,
)
