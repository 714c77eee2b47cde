"""Operations that wait for an element, or for a state of one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element
from toolcrib.bundled.desktop.elements.selector import attribute, is_enabled
from toolcrib.bundled.desktop.failures import ElementNotFound
from toolcrib.bundled.desktop.grpc.failures import invalid
from toolcrib.bundled.desktop.grpc.messages import selector_value
from toolcrib.bundled.desktop.grpc.methods.trees import SHORTEST_POLL, poll_interval
from toolcrib.bundled.desktop.grpc.operations import Progress
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.grpc.targets import FoundElement, find_all, read_selector
from toolcrib.bundled.desktop.operations.elements import find_target

DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 30.0, 3600.0

Look = Callable[[Backend], Awaitable[FoundElement | None]]


class WaitMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop
        self._snapshots = desktop.session.snapshots

    async def wait_element(self, request: Any) -> Any:
        selector = read_selector(request.selector)

        async def look(backend: Backend) -> FoundElement | None:
            found = await find_all(backend, self._snapshots, request.parent, selector)
            return next((match for match in found if match.element.visible), None)

        async def work(progress: Progress) -> Any:
            def attempted(attempts: int) -> None:
                progress(v1.WaitElementMetadata(selector=request.selector, attempts=attempts))

            return v1.WaitElementResponse(element=(await self._wait(request, look, attempted)).message())

        metadata = v1.WaitElementMetadata(selector=request.selector)
        return self._desktop.operations.start("waitElement", metadata, work)

    async def wait_element_state(self, request: Any) -> Any:
        wanted = read_condition(request.condition)
        if request.WhichOneof("target") is None:
            raise invalid("EMPTY_FIELD", "Neither element_id nor selector is given.", "target")
        selector = None
        if request.WhichOneof("target") == "selector":
            read_selector(request.selector)
            selector = selector_value(request.selector)

        async def look(backend: Backend) -> FoundElement | None:
            try:
                snapshot, element, _ = await find_target(
                    self._desktop, backend, request.element_id or None, selector, request.parent
                )
            except ElementNotFound:
                return None
            return FoundElement(snapshot.tree.application, snapshot, element) if wanted(element) else None

        async def work(progress: Progress) -> Any:
            def attempted(attempts: int) -> None:
                progress(v1.WaitElementStateMetadata(condition=request.condition, attempts=attempts))

            return v1.WaitElementStateResponse(element=(await self._wait(request, look, attempted)).message())

        metadata = v1.WaitElementStateMetadata(condition=request.condition)
        return self._desktop.operations.start("waitElementState", metadata, work)

    async def _wait(self, request: Any, look: Look, attempted: Callable[[int], None]) -> FoundElement:
        """Look after each change, and at least every poll interval; raises `TimeoutError`."""
        pause = poll_interval(request.poll_interval)
        backend = await self._desktop.backend()
        attempts = 0
        async with asyncio.timeout(min(request.timeout or DEFAULT_TIMEOUT, LONGEST_TIMEOUT)):
            with backend.events.listen() as changes:
                while True:
                    attempts += 1
                    attempted(attempts)
                    if (found := await look(backend)) is not None:
                        return found
                    await changes.next(pause)
                    # Reading a tree can itself cause events: they must not set the pace.
                    await asyncio.sleep(SHORTEST_POLL)


def offer_methods(desktop: ServedDesktop) -> WaitMethods:
    return WaitMethods(desktop)


def read_condition(condition: Any) -> Callable[[Element], bool]:
    kind = condition.WhichOneof("condition")
    value = getattr(condition, kind) if kind else None
    if kind == "enabled":
        return lambda element: is_enabled(element) == value
    if kind == "focused":
        return lambda element: ("focused" in element.states) == value
    if kind == "text_equals":
        return lambda element: value in _texts(element)
    if kind == "text_contains":
        return lambda element: any(str(value) in text for text in _texts(element))
    if kind == "attribute" and value is not None:
        return lambda element: attribute(element, value.attribute) == value.value
    raise invalid("EMPTY_FIELD", "The condition is empty.", "condition")


def _texts(element: Element) -> list[str]:
    return [text for text in (element.text, element.name) if text is not None]
