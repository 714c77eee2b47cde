"""What starts workflows by itself (schedules, webhooks and watched folders): list, turn on and off, new
addresses, and the default time zone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from toolcrib.errors import UsageError
from toolcrib.features.workflows.files import StoredWorkflow
from toolcrib.features.workflows.inputs import read_inputs
from toolcrib.features.workflows.results.triggers import TriggerShown, TriggerSwitched, trigger_json
from toolcrib.features.workflows.webhooks.tokens import HOOKS
from toolcrib.graph.references import has_reference
from toolcrib.host import Host
from toolcrib.operations.operation import JsonObject, Strings, operation
from toolcrib.schema.workflows import Trigger, Workflow

UNKNOWN = "UTC"
LINK = Path("/etc/localtime")

Index = Annotated[int, Field(ge=0, le=1000)]
Missed = Literal["skip", "once", "all"]
Overlapping = Literal["skip", "queue", "allow"]


def local_zone(environ: Mapping[str, str] = os.environ, link: Path = LINK) -> str:
    """`TZ` if it is a name, else what the system's link names; `UTC` if neither is known."""
    named = environ.get("TZ", "").removeprefix(":")
    if named and _exists(named):
        return named
    try:
        target = str(link.resolve(strict=True))
    except OSError:
        return UNKNOWN
    name = target.partition("/zoneinfo/")[2]
    return name if name and _exists(name) else UNKNOWN


def _exists(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return False
    return True


@operation(page=True)
async def workflow_triggers(host: Host, *, name: str | None = None) -> list[TriggerShown]:
    """List what starts workflows by itself, of all workflows or of one.

    Raises `NotFound`.
    """
    return [trigger_json(found) for found in await host.workflows.triggers.all(name)]


@operation(page=True)
async def workflow_trigger_set(host: Host, name: str, index: Index, on: bool) -> TriggerSwitched:
    """Turn a trigger on or off; a running host starts the runs.

    Raises `NotFound`, or `UsageError` if the trigger or its workflow is not valid.
    `index`: its place in the workflow's file, from 0.
    """
    if not on:
        return {"trigger": trigger_json(await host.workflows.triggers.turn_off(name, index)), "url": None}
    found, token = await host.workflows.triggers.turn_on(name, index)
    return {"trigger": trigger_json(found), "url": None if token is None else _address(host, token)}


@operation(page=True)
async def workflow_schedule(
    host: Host,
    name: str,
    *,
    cron: str | None = None,
    timezone: str | None = None,
    inputs: JsonObject,
    texts: Strings,
    missed: Missed = "skip",
    overlap: Overlapping = "skip",
    on: bool = True,
) -> TriggerShown:
    """Set the schedule of a workflow and turn it on; without `cron`, turn its schedule on or off.

    Replaces the first schedule of the workflow's file. Raises `NotFound`, or `UsageError` with the reason.
    `cron`: a cron expression of five or six fields, or a phrase such as `weekdays at 07:30`.
    `timezone`: such as `Europe/Berlin`; that of this machine by default.
    `texts`: inputs as text, which get their declared types.
    `missed`: what happens to times at which no host was running.
    `overlap`: what happens if the run before is still active.
    """
    triggers, workflow = host.workflows.triggers, await _workflow(host, name)
    index = _first_of(workflow, "schedule")
    if cron is not None:
        settings = {"cron": cron, "timezone": timezone or local_zone(), "missed": missed, "overlap": overlap}
        given = _inputs(workflow, inputs, texts)
        index = await triggers.put(name, Trigger(type="schedule", settings=settings, input=given), index)
    if index is None:
        raise UsageError(f"{name} has no schedule.", hint=f'Set one: toolcrib workflow schedule {name} "…"')
    if not on:
        return trigger_json(await triggers.turn_off(name, index))
    return trigger_json((await triggers.turn_on(name, index))[0])


@operation(page=True)
async def workflow_webhook(
    host: Host, name: str, *, inputs: JsonObject, settings: JsonObject, index: Index | None = None
) -> TriggerSwitched:
    """Turn on a webhook with a new address; an earlier address of it is no longer valid.

    Raises `NotFound`, or `UsageError` with the reason.
    `index`: its place in the workflow's file; by default the first webhook, which is added if there is none.
    `inputs`: values for the run, which may refer to `{{event.body…}}`; with `settings`, they replace others.
    """
    triggers, workflow = host.workflows.triggers, await _workflow(host, name)
    place = _first_of(workflow, "webhook") if index is None else index
    if place is None or inputs or settings:
        place = await triggers.put(name, Trigger(type="webhook", settings=settings, input=inputs), place)
    found, token = await triggers.new_token(name, place)
    return {"trigger": trigger_json(found), "url": _address(host, token)}


async def _workflow(host: Host, name: str) -> Workflow:
    stored: StoredWorkflow = await host.workflows.get(name)
    return stored.readable


def _first_of(workflow: Workflow, kind: str) -> int | None:
    return next((at for at, trigger in enumerate(workflow.triggers) if trigger.type == kind), None)


def _inputs(workflow: Workflow, inputs: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """The inputs with their types; references are checked with the trigger."""
    references = {name: value for name, value in {**inputs, **texts}.items() if has_reference(value)}
    declared = {name: parameter for name, parameter in workflow.inputs.items() if name not in references}
    others = workflow.model_copy(update={"inputs": declared})
    given = {name: value for name, value in inputs.items() if name not in references}
    plain = {name: text for name, text in texts.items() if name not in references}
    return {**read_inputs(others, given, plain), **references}


def _address(host: Host, token: str) -> str:
    return f"{host.pages.address or ''}{HOOKS}{token}"
