"""Applications: open, list, end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import grpc

from toolcrib.bundled.desktop.backend import Application, Backend
from toolcrib.bundled.desktop.desktop_entries import command_of
from toolcrib.bundled.desktop.grpc.failures import RpcFailure, not_found
from toolcrib.bundled.desktop.grpc.messages import application_message, masked
from toolcrib.bundled.desktop.grpc.names import application_of
from toolcrib.bundled.desktop.grpc.operations import Progress
from toolcrib.bundled.desktop.grpc.pages import page_of
from toolcrib.bundled.desktop.grpc.schema import Empty, v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.lists import filtered, ordered
from toolcrib.bundled.desktop.opening import open_program

OPEN_TIMEOUT = 30.0
FIELDS: Mapping[str, Callable[[Application], Any]] = {
    "pid": lambda each: each.id,
    "display_name": lambda each: each.name,
}
"""What a list can be filtered and ordered by."""


class ApplicationMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop

    async def open_application(self, request: Any) -> Any:
        async def work(progress: Progress) -> Any:
            opened = await self._desktop.stopping.run(self._open(request))
            return v1.OpenApplicationResponse(application=opened)

        return self._desktop.operations.start("open", v1.OpenApplicationMetadata(id=request.id), work)

    async def get_application(self, request: Any) -> Any:
        found = await self._find(await self._desktop.backend(), application_of(request.name))
        return masked(application_message(found), request.read_mask)

    async def list_applications(self, request: Any) -> Any:
        listed = await (await self._desktop.backend()).applications.list()
        chosen = ordered(filtered(listed, request.filter, FIELDS), request.order_by, FIELDS)
        page, following = page_of(request, chosen)
        return v1.ListApplicationsResponse(
            applications=[application_message(each) for each in page], next_page_token=following
        )

    async def delete_application(self, request: Any) -> Any:
        """Ends the program."""
        application = application_of(request.name)
        async with self._desktop.acting() as backend:
            await self._find(backend, application)
            await backend.applications.close(application, force=request.force)
        return Empty()

    async def _open(self, request: Any) -> Any:
        async with self._desktop.acting() as backend:
            command = await command_of(backend, request.id)
            opened = await open_program(backend, command, OPEN_TIMEOUT, background=request.background)
            window = opened.window
            if window is None or window.application is None:
                raise RpcFailure(
                    grpc.StatusCode.DEADLINE_EXCEEDED, "TIMEOUT", f"{request.id} shows no window."
                )
            return application_message(await self._find(backend, window.application))

    async def _find(self, backend: Backend, application: int) -> Application:
        for each in await backend.applications.list():
            if each.id == application:
                return each
        raise not_found("APPLICATION", f"applications/{application}")


def offer_methods(desktop: ServedDesktop) -> ApplicationMethods:
    return ApplicationMethods(desktop)
