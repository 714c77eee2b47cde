"""A thread for blocking calls to the system, each with a deadline.

A call that overruns its deadline keeps its thread, and only that: later calls get a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from toolcrib.serverkit.context import ToolFailure

R = TypeVar("R")
DEADLINE = 10.0
"""Seconds for one call, unless it says otherwise."""


class Worker:
    """Runs functions one after the other: `prepare` runs first in each thread, each call is in `around()`."""

    def __init__(
        self,
        name: str,
        prepare: Callable[[], None] = lambda: None,
        around: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext,
    ) -> None:
        self._name = name
        self._prepare = prepare
        self._around = around
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] | None = None
        self._last: list[Callable[[], object]] = []

    def at_end(self, function: Callable[[], object]) -> None:
        """Call it in the thread when the thread ends."""
        self._last.append(function)

    async def run(self, function: Callable[..., R], *arguments: Any, timeout: float = DEADLINE) -> R:
        """The function's result; raises what it raises, or `ToolFailure` after the deadline."""
        jobs = self._jobs = self._jobs or self._start()
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        jobs.put(lambda: _settle(future, function, arguments))
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError:
            if self._jobs is jobs:
                self.close()
            raise ToolFailure(f"The desktop did not answer within {timeout:g} s.", "Try again.") from None

    def close(self) -> None:
        """Have the thread end after its last call."""
        jobs, self._jobs = self._jobs, None
        if jobs is not None:
            jobs.put(None)

    def _start(self) -> queue.SimpleQueue[Callable[[], None] | None]:
        jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        name = f"desktop-{self._name}"
        threading.Thread(target=self._run, args=(jobs,), name=name, daemon=True).start()
        return jobs

    def _run(self, jobs: queue.SimpleQueue[Callable[[], None] | None]) -> None:
        self._prepare()
        while (job := jobs.get()) is not None:
            with self._around():
                job()
        with self._around():
            for function in self._last:
                with contextlib.suppress(Exception):
                    function()


def _settle(future: asyncio.Future[Any], function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    value: Any = None
    failure: BaseException | None = None
    try:
        value = function(*arguments)
    except BaseException as error:  # noqa: BLE001 - it belongs to the waiting caller
        failure = error
    with contextlib.suppress(RuntimeError):  # the loop is closed
        future.get_loop().call_soon_threadsafe(_deliver, future, value, failure)


def _deliver(future: asyncio.Future[Any], value: Any, failure: BaseException | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(value)
    else:
        future.set_exception(failure)
