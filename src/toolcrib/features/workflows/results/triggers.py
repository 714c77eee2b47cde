"""Triggers of workflows as surfaces show them."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from toolcrib.features.workflows.trigger_service import MOST_SHOWN, TriggerState
from toolcrib.features.workflows.trigger_store import StartRecord
from toolcrib.schema.json_values import moment


class TriggerStart(TypedDict):
    """An occurrence of a trigger."""

    run: str
    state: Literal["ignored", "pending", "starting", "started", "ended", "skipped", "failed"]
    due: str
    note: str
    """Why it was skipped or failed."""
    startable: bool
    """It failed, and `workflow_rerun` can start it: its event is still stored."""


class TriggerShown(TypedDict):
    """A trigger of a workflow."""

    workflow: str
    index: int
    """Its place in the workflow's file."""
    trigger: str
    """Its type and number: `schedule`, `schedule-2`."""
    type: str
    sentence: str
    """When it starts runs: "Every weekday at 07:30, Europe/Berlin"."""
    state: Literal["off", "on", "paused"]
    reason: str
    """Why it is paused."""
    problems: list[str]
    next: str | None
    """When it is due next, if that is known."""
    last: TriggerStart | None
    """The latest occurrence."""
    failed: list[TriggerStart]
    """The latest starts that failed."""
    more_failed: bool


class TriggerSwitched(TypedDict):
    """A trigger that was turned on or off."""

    trigger: TriggerShown
    url: str | None
    """The address of a new webhook, with its token; shown only once."""


def trigger_json(found: TriggerState) -> TriggerShown:
    defined = found.defined
    return {
        "workflow": defined.workflow,
        "index": defined.index,
        "trigger": defined.key,
        "type": defined.trigger.type,
        "sentence": defined.sentence,
        "state": found.status,
        "reason": found.reason,
        "problems": list(defined.problems),
        "next": None if found.next is None else moment(found.next),
        "last": None if found.last is None else start_json(found.last),
        "failed": [start_json(start) for start in found.failed[:MOST_SHOWN]],
        "more_failed": len(found.failed) > MOST_SHOWN,
    }


def start_json(start: StartRecord) -> TriggerStart:
    return {
        "run": start.run,
        "state": start.state,
        "due": moment(start.due),
        "note": start.note,
        "startable": start.state == "failed" and start.event is not None,
    }
