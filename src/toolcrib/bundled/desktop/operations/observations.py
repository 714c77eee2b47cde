"""Tools for observations: create, read, list, cancel. Decides the longest wait for events, how many are
shown, and how an event reads.

Events reach a model's client as log messages: at once where its protocol version allows messages between
calls, otherwise while `get_observation` waits.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Any, TypedDict

from toolcrib.bundled.desktop.backend import Element
from toolcrib.bundled.desktop.elements.outline import shown_states
from toolcrib.bundled.desktop.elements.snapshots import describe
from toolcrib.bundled.desktop.observations.hub import ObservationRun, Observations
from toolcrib.bundled.desktop.observations.model import ObservationEvent, ObservationRequest
from toolcrib.bundled.desktop.operations.table import LOOKING, Desktop, OperationTraits, Reply, operation
from toolcrib.bundled.desktop.records import read_record, write_record
from toolcrib.bundled.desktop.resources import timestamp
from toolcrib.serverkit.context import ToolContext

LONGEST_WAIT = 60.0
EVENTS_SHOWN = 50
PAGE = 100
MAX_TEXT = 200
GATHER = 0.2
"""Seconds after the first event of a wait in which more are collected."""


class ObservationFilterArgument(TypedDict, total=False):
    poll_interval: float
    visible_only: bool
    roles: list[str]
    attributes: list[str]


class ObservationArgument(TypedDict, total=False):
    type: str
    filter: ObservationFilterArgument
    activate: bool


@dataclass(frozen=True)
class ObservationRecord:
    name: str
    type: str
    state: str
    create_time: str | None
    start_time: str | None
    end_time: str | None
    filter: dict[str, Any]
    activate: bool
    last_sequence: int
    error: str


@dataclass(frozen=True)
class ObservationDetails(ObservationRecord):
    events: list[dict[str, Any]]
    more: int


@dataclass(frozen=True)
class ObservationList:
    observations: list[ObservationRecord]
    next_page_token: str


@operation("Observe changes", LOOKING)
async def create_observation(
    desktop: Desktop,
    parent: str,
    observation: ObservationArgument,
    observation_id: str | None = None,
    session: str = "",
) -> Reply[ObservationRecord]:
    request = read_record(ObservationRequest, observation, "observation")
    later = desktop.context.on_later_log
    on_event = None if later is None else lambda event: later("info", event_data(event))
    observations = desktop.session.part(Observations)
    run = await observations.create(parent, request, observation_id, on_event, desktop.context)
    if session:
        desktop.session.automation.record(session, "create_observation", run.about.name)
    how = "Events come as log messages." if on_event else "Read its events with get_observation."
    return Reply(observation_record(run), f"Observing as {run.about.name}. {how}")


@operation("Read an observation", LOOKING)
async def get_observation(
    desktop: Desktop, name: str, after: int = 0, wait: float = 0.0
) -> Reply[ObservationDetails]:
    desktop.check_name(name, "observations")
    run = desktop.session.part(Observations).get(name)
    await _wait(run, after, min(max(0.0, wait), LONGEST_WAIT), desktop.context)
    found = [event for event in run.events if event.sequence > after]
    shown = found[:EVENTS_SHOWN]
    data = ObservationDetails(
        **vars(observation_record(run)),
        events=[event_data(event) for event in shown],
        more=len(found) - len(shown),
    )
    lines = [describe_event(event) for event in shown] or ["No events."]
    if data.more:
        lines.append(f"… {data.more} more; continue with after {shown[-1].sequence}.")
    return Reply(data, "\n".join([f"{run.about.name} is {run.about.state}.", *lines]))


@operation("List observations", LOOKING)
async def list_observations(
    desktop: Desktop, parent: str = "", page_size: int = 0, page_token: str = ""
) -> Reply[ObservationList]:
    desktop.check_name(parent, "applications")
    runs = desktop.session.part(Observations).all(parent)
    page = desktop.page(runs, page_size, page_token, "observations", parent, default=PAGE)
    data = ObservationList([observation_record(run) for run in page.items], page.next_page_token)
    lines = [f"{run.about.name} {run.about.request.type} {run.about.state}" for run in page.items]
    return Reply(data, "\n".join(lines) or "No observations.")


@operation("Cancel an observation", OperationTraits(destructive=False, idempotent=True, acts=False))
async def cancel_observation(desktop: Desktop, name: str) -> ObservationRecord:
    desktop.check_name(name, "observations")
    return observation_record(desktop.session.part(Observations).cancel(name))


async def _wait(run: ObservationRun, after: int, seconds: float, context: ToolContext) -> None:
    """Until there is an event; each is reported as it comes."""
    if seconds <= 0 or run.is_over:
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds) as limit:
            async for event in run.stream(after):
                context.progress(event.sequence, None, describe_event(event))
                if run.on_event is None:
                    context.log("info", event_data(event))
                loop = asyncio.get_running_loop()
                limit.reschedule(min(limit.when() or loop.time(), loop.time() + GATHER))


def observation_record(run: ObservationRun) -> ObservationRecord:
    about = run.about
    return ObservationRecord(
        name=about.name,
        type=about.request.type,
        state=about.state,
        create_time=timestamp(about.create_time),
        start_time=None if about.start_time is None else timestamp(about.start_time),
        end_time=None if about.end_time is None else timestamp(about.end_time),
        filter=write_record(about.request.filter),
        activate=about.request.activate,
        last_sequence=run.sequence,
        error=about.error,
    )


def event_data(event: ObservationEvent) -> dict[str, Any]:
    change = event.change
    about: dict[str, Any] = {"application": change.application}
    if change.element is not None:
        about["element"] = _element(change.element)
    if change.old_element is not None:
        about["old_element"] = _element(change.old_element)
        about["changes"] = [write_record(changed) for changed in change.changes]
    if change.event_type:
        about["event_type"] = change.event_type
    if change.window_id is not None:
        about |= {"window_id": str(change.window_id), "title": change.title}
    return {
        "observation": event.observation,
        "event_time": timestamp(event.event_time),
        "sequence": event.sequence,
        change.kind: about,
    }


def describe_event(event: ObservationEvent) -> str:
    change = event.change
    if change.element is None:
        what = f"window {change.window_id} {change.title!r}" if change.window_id else ""
        return f"{event.sequence} {change.event_type} {what or f'application {change.application}'}"
    sign = {"element_added": "+", "element_removed": "-"}.get(change.kind, "~")
    values = ", ".join(f"{changed.attribute}: {changed.new_value[:80]!r}" for changed in change.changes)
    return f"{event.sequence} {sign} {describe(change.element)[:MAX_TEXT]}{f' {values}' if values else ''}"


def _element(element: Element) -> dict[str, Any]:
    return {
        "role": element.role,
        "name": element.name[:MAX_TEXT],
        "value": None if element.text is None else element.text[:MAX_TEXT],
        "states": shown_states(element),
    }
