"""Wait: waits for some seconds, until a time, or for an event with a deadline."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, Field, model_validator

from toolcrib.graph.node_settings import NodeResult, NodeSettings
from toolcrib.graph.node_type import NodeContext, NodeType


class WaitSettings(NodeSettings):
    seconds: float | None = Field(
        default=None, ge=0, le=31_536_000, title="Seconds", description="How long to wait."
    )
    until: AwareDatetime | None = Field(
        default=None,
        title="Until",
        description="A time with its time zone, such as 2027-01-31T08:00:00+01:00.",
    )
    event: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        title="Event",
        description="The name of an event that is sent to the run.",
    )
    deadline: float | None = Field(
        default=None,
        gt=0,
        le=31_536_000,
        title="Wait for the event at most",
        description="Seconds. Then the step fails.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> WaitSettings:
        given = [name for name in ("seconds", "until", "event") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("give one of seconds, until and event")
        if self.deadline is not None and self.event is None:
            raise ValueError("a deadline belongs to an event")
        return self


class WaitResult(NodeResult):
    data: Any = Field(default=None, description="The data of the event.")
    ended: datetime = Field(description="When it continued.")


async def run(settings: WaitSettings, context: NodeContext) -> WaitResult:
    if settings.event is not None:
        data = await context.wait_for_event(settings.event, settings.deadline)
        return WaitResult(data=data, ended=context.now())
    if settings.until is not None:
        await context.wait_until(settings.until)
    else:
        await context.wait_for(settings.seconds or 0)
    return WaitResult(ended=context.now())


NODE = NodeType(
    name="Wait",
    title="Wait",
    group="control",
    about="Waits for some seconds, until a time, or for an event. A restart does not end the wait.",
    settings=WaitSettings,
    example={"seconds": 30},
    result=WaitResult,
    run=run,
    timeout=None,
)
