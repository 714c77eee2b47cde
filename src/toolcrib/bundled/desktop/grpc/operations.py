"""Long-running operations, and the service `google.longrunning.Operations` for them. Limits: how many run and
are kept, default and longest wait.

An operation runs until it is done, cancelled, or the server ends; a client that goes away does not stop it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc
from google.longrunning import operations_pb2

from toolcrib.bundled.desktop.grpc.failures import RpcFailure, invalid, not_found, to_failure
from toolcrib.bundled.desktop.grpc.records import page_of
from toolcrib.bundled.desktop.grpc.schema import Empty, Operation

KEPT = 500
"""Finished operations; the oldest are forgotten."""
MOST_RUNNING = 64
DEFAULT_WAIT = 30.0
LONGEST_WAIT = 300.0
_FILTER = re.compile(r"\s*done\s*=\s*(true|false)\s*")

Progress = Callable[[Any], None]
"""Replaces the metadata of a running operation."""


@dataclass
class _Running:
    name: str
    metadata: Any
    task: asyncio.Task[Any] | None = None

    @property
    def message(self) -> Any:
        made = Operation(name=self.name)
        made.metadata.Pack(self.metadata)
        if self.task is None or not self.task.done():
            return made
        made.done = True
        if self.task.cancelled():
            cancelled = RpcFailure(grpc.StatusCode.CANCELLED, "CANCELLED", "The operation was cancelled.")
            made.error.CopyFrom(cancelled.status)
        elif (error := self.task.exception()) is not None:
            assert isinstance(error, Exception)
            made.error.CopyFrom(to_failure(error).status)
        else:
            made.response.Pack(self.task.result())
        return made


class Operations:
    """All operations of a server, and the methods of their service."""

    def __init__(self) -> None:
        self._all: OrderedDict[str, _Running] = OrderedDict()

    def start(
        self,
        kind: str,
        metadata: Any,
        work: Callable[[Progress], Awaitable[Any]],
        identifier: str | None = None,
    ) -> Any:
        """Run `work` in the background; returns the operation as a message."""
        if sum(1 for operation in self._all.values() if not _is_done(operation)) >= MOST_RUNNING:
            raise RpcFailure(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_OPERATIONS", "Too many operations are running."
            )
        running = _Running(f"operations/{kind}/{identifier or uuid.uuid4()}", metadata)

        def progress(changed: Any) -> None:
            running.metadata = changed

        running.task = asyncio.ensure_future(work(progress))
        # Marks an error as seen: it is kept in the operation, and must not be reported as lost.
        running.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._all[running.name] = running
        self._forget_old()
        return running.message

    async def close(self) -> None:
        tasks = [operation.task for operation in self._all.values() if operation.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def list_operations(self, request: Any) -> Any:
        wanted = _FILTER.fullmatch(request.filter) if request.filter.strip() else None
        if request.filter.strip() and wanted is None:
            raise invalid("INVALID_FORMAT", "The filter is done=true or done=false.", "filter")
        listed = [operation.message for operation in self._all.values()]
        if wanted is not None:
            listed = [operation for operation in listed if operation.done == (wanted[1] == "true")]
        page, following = page_of(request, listed)
        return operations_pb2.ListOperationsResponse(operations=page, next_page_token=following)

    async def get_operation(self, request: Any) -> Any:
        return self._find(request.name).message

    async def delete_operation(self, request: Any) -> Any:
        """Forget it; one that is running goes on, as the service defines."""
        found = self._find(request.name)
        del self._all[found.name]
        return Empty()

    async def cancel_operation(self, request: Any) -> Any:
        found = self._find(request.name)
        if found.task is not None:
            found.task.cancel()
            await asyncio.wait({found.task}, timeout=DEFAULT_WAIT)
        return Empty()

    async def wait_operation(self, request: Any) -> Any:
        """Returns when it is done or the timeout is over."""
        found = self._find(request.name)
        seconds = request.timeout.ToTimedelta().total_seconds() if request.HasField("timeout") else 0.0
        if found.task is not None:
            await asyncio.wait({found.task}, timeout=min(seconds or DEFAULT_WAIT, LONGEST_WAIT))
        return found.message

    def _find(self, name: str) -> _Running:
        if not name:
            raise invalid("MISSING_RESOURCE_NAME_FIELD", "name is empty.", "name")
        if name not in self._all:
            raise not_found("OPERATION", name[:200])
        return self._all[name]

    def _forget_old(self) -> None:
        done = [name for name, operation in self._all.items() if _is_done(operation)]
        for name in done[: max(0, len(done) - KEPT)]:
            with contextlib.suppress(KeyError):
                del self._all[name]


def _is_done(running: _Running) -> bool:
    return running.task is not None and running.task.done()
