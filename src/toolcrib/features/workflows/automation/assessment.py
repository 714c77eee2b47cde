"""Whether a trigger is on, off or paused, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.automation.definitions import DefinedTrigger, find_defined
from toolcrib.features.workflows.trigger_store import Activation
from toolcrib.schema.workflows import Workflow

Status = Literal["off", "on", "paused"]
CHANGED = "It was changed after it was turned on. Turn it on again."
REMOVED = "The workflow no longer has this trigger."


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """`paused`: the user turned it on, but it starts nothing now."""

    status: Status
    reason: str = ""
    defined: DefinedTrigger | None = None
    workflow: Workflow | None = None


class WorkflowSource(Protocol):
    async def workflow(self, name: str) -> Workflow:
        """Raises `NotFound`, or `UsageError` with the first problem of one that is not valid."""


async def assess(source: WorkflowSource, activation: Activation) -> Assessment:
    """The state of a trigger that is on, with its workflow as it is now."""
    try:
        workflow = await source.workflow(activation.workflow)
    except ToolcribError as error:
        return Assessment(status="paused", reason=error.message)
    defined = find_defined(workflow, activation.trigger)
    if defined is None:
        return Assessment(status="paused", reason=REMOVED)
    status, reason = standing(defined, activation)
    return Assessment(status=status, reason=reason, defined=defined, workflow=workflow)


def standing(defined: DefinedTrigger, activation: Activation | None) -> tuple[Status, str]:
    """The state of a trigger of a valid workflow."""
    if activation is None or not activation.on:
        return "off", ""
    if activation.fingerprint != defined.fingerprint:
        return "paused", CHANGED
    if defined.problems:
        return "paused", defined.problems[0]
    return "on", ""
