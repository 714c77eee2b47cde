"""The requests of one client that are being answered; a cancelled one is stopped and never answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from toolcrib.serverkit.protocol import is_request_id

Result = TypeVar("Result")
RequestId = int | str


class Running(dict[RequestId, asyncio.Task[Any]]):
    """The task behind each request."""

    _cancelled: frozenset[RequestId] = frozenset()

    async def outcome(self, request_id: RequestId, work: Awaitable[Result]) -> Result | None:
        """What the work comes to; None when the client cancelled the request meanwhile."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("requests are answered in tasks")
        before = task.cancelling()
        self[request_id] = task
        try:
            result = await work
        except asyncio.CancelledError:
            if request_id not in self._cancelled or task.uncancel() > before:
                raise
            return None
        else:
            if request_id not in self._cancelled:
                return result
            task.uncancel()  # it finished although it was told to stop
            return None
        finally:
            del self[request_id]
            if self._cancelled:
                self._cancelled -= {request_id}

    def cancel(self, request_id: Any) -> None:
        """The client no longer wants this one; an unknown one is fine."""
        task = self.get(request_id) if is_request_id(request_id) else None
        if task is not None and request_id not in self._cancelled:
            self._cancelled |= {request_id}
            task.cancel()

    def cancel_all(self) -> None:
        """Stop every one; none of them is answered."""
        for request_id in tuple(self):
            self.cancel(request_id)
