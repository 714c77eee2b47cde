"""Stops all input at once, and refuses more until the user allows it again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from toolcrib.serverkit.context import ToolFailure

T = TypeVar("T")
HOW = "The user can allow input again on the page of this server, or with: toolcrib resume {name}"


class InputStopped(ToolFailure):
    """The user stopped all input."""

    kind = "input_stopped"

    def __init__(self, name: str) -> None:
        super().__init__(
            "The user stopped all input on this desktop. Do not try again.", HOW.format(name=name)
        )


class StopSwitch:
    """Used in the event loop of its server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._running: set[asyncio.Task[Any]] = set()
        self.stopped_by = ""
        """The key or surface by which input was stopped; empty while it is allowed."""
        self.on_stop: Callable[[], None] = lambda: None

    def stop(self, by: str) -> None:
        """Cancel every running action; nothing else is started until `resume`."""
        self.stopped_by = by
        for task in self._running:
            task.cancel()
        self.on_stop()

    def resume(self) -> None:
        self.stopped_by = ""

    async def run(self, action: Coroutine[Any, Any, T]) -> T:
        """Run an action that can be stopped; raises `InputStopped` if it is."""
        if self.stopped_by:
            action.close()
            raise InputStopped(self.name)
        task = asyncio.get_running_loop().create_task(action)
        self._running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled() or not self.stopped_by or _is_cancelled():
                raise
            raise InputStopped(self.name) from None
        finally:
            self._running.discard(task)


def _is_cancelled() -> bool:
    """Whether the caller itself was cancelled, and not only the action."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0
