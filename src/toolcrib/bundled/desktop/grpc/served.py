"""What the methods of one server share: the desktop, pages, operations, and one actor at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

from toolcrib.bundled.desktop.backend import Application, Backend, Element, ElementTree, Window
from toolcrib.bundled.desktop.elements.observing import PATIENCE, QUIET, Report
from toolcrib.bundled.desktop.elements.snapshots import TreeSnapshot
from toolcrib.bundled.desktop.grpc.failures import not_found
from toolcrib.bundled.desktop.grpc.messages import element_message, paths_of
from toolcrib.bundled.desktop.grpc.operations import Operations
from toolcrib.bundled.desktop.grpc.schema import Timestamp
from toolcrib.bundled.desktop.grpc.stopping import Stopping
from toolcrib.bundled.desktop.grpc.targets import application_of, last_part, parent_of, window_of
from toolcrib.bundled.desktop.operations.table import Action, Desktop
from toolcrib.bundled.desktop.session import DesktopSession


class ServedDesktop(Desktop):
    """For programs: names are resource names, and a call returns when the desktop has become quiet."""

    for_model = False

    def __init__(self, session: DesktopSession, stop_key: str = "") -> None:
        super().__init__(session)
        self.stopping = Stopping(session, stop_key)
        self.operations = Operations()
        self._acting = asyncio.Lock()

    async def backend(self) -> Backend:
        return await self.session.backend()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[Backend]:
        """For what changes the desktop: one after another, and done when the desktop has become quiet.

        A client that looks right after the reply sees the effect.
        """
        backend = await self.backend()
        async with self._acting:
            with backend.events.listen() as changes:
                yield backend
                await changes.settled(QUIET, PATIENCE)

    @contextlib.asynccontextmanager
    async def acting(self) -> AsyncIterator[Action]:
        async with self.turn() as backend:
            yield Action(backend, await backend.windows.list())

    @contextlib.asynccontextmanager
    async def observing(
        self, application: int | None, before: ElementTree | None = None
    ) -> AsyncIterator[Report]:
        async with self.turn():
            yield Report()

    def choose_window(self, windows: Sequence[Window], name: str | int) -> Window:
        wanted = window_of(str(name))
        for window in windows:
            if window.id == wanted:
                return window
        raise not_found("WINDOW", f"window {wanted}")

    async def windows_of(self, application: str | None) -> list[Window]:
        process = parent_of(application or "")
        listed = await (await self.backend()).windows.list()
        return [window for window in reversed(listed) if process in (None, window.application)]

    async def application(self, name: str) -> Application:
        process = application_of(name)
        for application in await (await self.backend()).applications.list():
            if application.id == process:
                return application
        raise not_found("APPLICATION", f"applications/{process}")

    async def process(self, application: str | None) -> int | None:
        return parent_of(application or "")

    def scope(self, parent: str | None) -> str | None:
        parent_of(parent or "")
        return parent or "applications/-"

    def element(self, snapshot: TreeSnapshot, element: Element, actions: Sequence[str] = ()) -> Any:
        path = paths_of(snapshot.tree.elements).get(element.ref, ())
        return element_message(element, snapshot.id_of(element), path, actions)

    def check_name(self, name: str, collection: str) -> None:
        if collection == "applications":
            parent_of(name)
        else:
            last_part(name, collection)

    async def close(self) -> None:
        await self.operations.close()
        self.stopping.key.close()
        self.session.close_parts()


def timestamp(moment: datetime | None = None) -> Any:
    made = Timestamp()
    made.FromDatetime(moment or datetime.now(UTC))
    return made
