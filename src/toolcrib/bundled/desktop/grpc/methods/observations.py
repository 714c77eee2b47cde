"""RPCs for observations: created as operations, and streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from toolcrib.bundled.desktop.backend import Element
from toolcrib.bundled.desktop.grpc.messages import element_message
from toolcrib.bundled.desktop.grpc.operations import Progress
from toolcrib.bundled.desktop.grpc.records import to_message, to_plain
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.grpc.targets import last_part, parent_of
from toolcrib.bundled.desktop.observations.hub import Observations
from toolcrib.bundled.desktop.observations.model import ObservationEvent, ObservationRequest
from toolcrib.bundled.desktop.operations.observations import observation_record
from toolcrib.bundled.desktop.records import read_record
from toolcrib.bundled.desktop.resources import new_id

OUTPUT_ONLY = ("name", "state", "create_time", "start_time", "end_time")


class ObservationMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop
        self._observations = desktop.session.part(Observations)

    async def create_observation(self, request: Any) -> Any:
        """The operation is done when the observation has looked for the first time."""
        parent_of(request.parent)
        given = {key: value for key, value in to_plain(request.observation).items() if key not in OUTPUT_ONLY}
        asked = read_record(ObservationRequest, given, "observation")
        identifier = new_id(request.observation_id)
        name = f"{request.parent or 'applications/-'}/observations/{identifier}"
        metadata = v1.CreateObservationMetadata(observation=name, type=request.observation.type)

        async def work(progress: Progress) -> Any:
            run = await self._observations.create(request.parent, asked, identifier)
            return to_message(v1.Observation, observation_record(run))

        return self._desktop.operations.start("observation", metadata, work, identifier)

    async def stream_observations(self, request: Any) -> AsyncIterator[Any]:
        """The events so far and all that follow, until the observation ends or the client cancels."""
        last_part(request.name, "observations")
        async for event in self._observations.get(request.name).stream():
            yield v1.StreamObservationsResponse(event=event_message(event))


offer_methods = ObservationMethods


def event_message(event: ObservationEvent) -> Any:
    made = to_message(v1.ObservationEvent, event)
    change = event.change
    if change.kind in ("element_added", "element_removed"):
        getattr(made, change.kind).element.CopyFrom(_element(change.element))
    elif change.kind == "element_modified":
        modified = made.element_modified
        modified.old_element.CopyFrom(_element(change.old_element))
        modified.new_element.CopyFrom(_element(change.element))
        modified.changes.extend(to_message(v1.AttributeChange, attribute) for attribute in change.changes)
    elif change.kind == "window_event":
        window = {"event_type": change.event_type, "window_id": str(change.window_id), "title": change.title}
        made.window_event.CopyFrom(to_message(v1.WindowEvent, window))
    else:
        made.application_event.CopyFrom(to_message(v1.ApplicationEvent, {"event_type": change.event_type}))
    return made


def _element(element: Element | None) -> Any:
    """Without an id: find it by its reference or a selector to act on it."""
    assert element is not None
    return element_message(element, "")
