"""The RPC that opens an application, which is a long-running operation on the wire; how long it waits for a
window."""

from __future__ import annotations

from typing import Any

import grpc

from toolcrib.bundled.desktop.desktop_entries import command_of
from toolcrib.bundled.desktop.grpc.failures import RpcFailure
from toolcrib.bundled.desktop.grpc.operations import Progress
from toolcrib.bundled.desktop.grpc.records import to_message
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.opening import open_program
from toolcrib.bundled.desktop.operations.applications import application_record

OPEN_TIMEOUT = 30.0


class ApplicationMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop

    async def open_application(self, request: Any) -> Any:
        async def work(progress: Progress) -> Any:
            opened = await self._desktop.stopping.run(self._open(request))
            return v1.OpenApplicationResponse(application=opened)

        return self._desktop.operations.start("open", v1.OpenApplicationMetadata(id=request.id), work)

    async def _open(self, request: Any) -> Any:
        async with self._desktop.acting() as action:
            command = await command_of(action.backend, request.id)
            opened = await open_program(action.backend, command, OPEN_TIMEOUT, background=request.background)
            window = opened.window
            if window is None or window.application is None:
                raise RpcFailure(
                    grpc.StatusCode.DEADLINE_EXCEEDED, "TIMEOUT", f"{request.id} shows no window."
                )
            found = await self._desktop.application(f"applications/{window.application}")
            return to_message(v1.Application, application_record(found))


offer_methods = ApplicationMethods
