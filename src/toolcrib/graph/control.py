"""The nodes that choose between two paths and repeat a body: If, Loop and EndLoop. Has their settings and
help texts, how often a loop may run, and what happens at that limit.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toolcrib.errors import CallFailed
from toolcrib.graph.conditions import Condition, describe, holds
from toolcrib.graph.node_settings import NodeResult, NodeSettings, NoResult, fixed
from toolcrib.graph.node_type import NodeType, Route
from toolcrib.schema.workflows import NodeId


class IfSettings(NodeSettings):
    condition: Condition = Field(description="Decides which output is taken.")


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
    about="Continues at the output `true` if its condition holds, else at `false`.",
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
        description="Ends the loop; checked after each run of the body, whose number is this `iteration`."
    )
    max_iterations: int = Field(
        default=100, ge=1, le=100_000, description="How often the body may run.", title="Max iterations"
    )
    at_limit: Literal["fail", "continue"] = Field(
        default="fail", description="Whether reaching the limit is an error, or the loop is just done."
    )


class LoopResult(NodeResult):
    iteration: int = Field(
        description="The number of the current run of the body, from 1; the last one after it."
    )
    finished: bool = Field(description="Whether the exit condition holds.")


def decide_loop(settings: LoopSettings, completed: int) -> Route:
    """The body runs at least once; its number is part of the value."""
    if completed == 0:
        return _again(1, "The first iteration")
    reason = f"After iteration {completed}: {describe(settings.exit_condition)}"
    if holds(settings.exit_condition):
        return Route(output="done", reason=reason, value={"iteration": completed, "finished": True})
    if completed < settings.max_iterations:
        return _again(completed + 1, reason)
    if settings.at_limit == "continue":
        reason = f"The limit of {completed} iterations was reached"
        return Route(output="done", reason=reason, value={"iteration": completed, "finished": False})
    raise LoopLimitReached(
        f"The exit condition did not hold after {completed} iterations.",
        hint='Raise max_iterations, or set at_limit to "continue".',
    )


def _again(iteration: int, reason: str) -> Route:
    return Route(output="body", reason=reason, value={"iteration": iteration, "finished": False})


LOOP = NodeType(
    name="Loop",
    title="Loop",
    group="control",
    about="Runs its body, from the output `body` to its EndLoop, until the exit condition holds; "
    "then continues at `done`.",
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
    loop: NodeId = fixed(description="The id of the Loop whose body ends here.")


END_LOOP = NodeType(
    name="EndLoop",
    title="End of loop",
    group="control",
    about="Ends the body of a Loop: the Loop then decides whether the body runs again. It has no outputs.",
    settings=EndLoopSettings,
    example={"loop": "again"},
    result=NoResult,
    outputs=lambda settings: (),
    flow="end",
    closes=lambda settings: settings.loop,
)
