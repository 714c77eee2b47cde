"""Background work on servers: adding, installing and testing them, and removing them with an undo. Decides
how often progress is published and how many ended setups are kept.

A setup continues if its page is closed; each server has at most one at a time. `stop`, and closing the
host, end it with everything it started. A removed server is deleted for good after a while; if the host ends
before that, nothing is deleted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from toolcrib.clock import Clock
from toolcrib.errors import CallFailed, NotFound, ToolcribError, UsageError
from toolcrib.events import Bus
from toolcrib.schema.events import Event, SetupForgotten, SetupTold
from toolcrib.schema.setups import SetupState, SetupStatus, SetupStep, StepKey
from toolcrib.tasks import cancel_and_wait

logger = logging.getLogger(__name__)

PAUSE = 0.25
"""Minimum seconds between two progress events of an installation."""
ENDED_KEPT = 32


class Setup:
    """The status of one setup, updated by its work."""

    def __init__(self, status: SetupStatus, clock: Clock, publish: Callable[[SetupStatus], None]) -> None:
        self.status = status
        self.task: asyncio.Task[None] | None = None
        self._clock = clock
        self._publish = publish
        self._later: asyncio.TimerHandle | None = None

    def begin(self, key: StepKey) -> None:
        """Mark a step as running."""
        self.step(key, state="work", began=self._clock.now())

    def finish(self, key: StepKey, detail: str, ms: float | None = None) -> None:
        """Mark a step as done."""
        self.step(key, state="done", detail=detail, ms=self._took(key) if ms is None else ms)

    def step(self, key: StepKey, *, soon: bool = False, **changes: Any) -> None:
        steps = [replace(step, **changes) if step.key == key else step for step in self.status.steps]
        self.change(soon=soon, steps=tuple(steps))

    def next(self) -> None:
        """Mark the first waiting step as running."""
        waiting = next((step for step in self.status.steps if step.state == "wait"), None)
        if waiting is not None:
            self.begin(waiting.key)

    def change(self, *, soon: bool = False, **changes: Any) -> None:
        """Change the status and publish it; `soon` combines changes in quick succession."""
        self.status = replace(self.status, **changes)
        if soon and self._later is None:
            self._later = asyncio.get_running_loop().call_later(PAUSE, self._publish_now)
        elif not soon:
            self._publish_now()

    def end(self, state: SetupState, error: ToolcribError | None = None) -> None:
        steps = self.status.steps
        if error is not None:
            steps = tuple(self._failed(step) for step in steps)
        self.change(state=state, ended=self._clock.now(), error=error, steps=steps)

    def _failed(self, step: SetupStep) -> SetupStep:
        if step.state != "work":
            return step
        return replace(step, state="fail", ms=self._took(step.key))

    def _took(self, key: StepKey) -> float | None:
        began = next((step.began for step in self.status.steps if step.key == key), None)
        return None if began is None else round((self._clock.now() - began).total_seconds() * 1000, 1)

    def _publish_now(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self._publish(self.status)


Work = Callable[[Setup], Awaitable[None]]


class Setups:
    """The setups of a host, by server name."""

    def __init__(self, bus: Bus[Event], clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._setups: dict[str, Setup] = {}

    def all(self) -> list[SetupStatus]:
        """Running and recently ended setups, oldest first."""
        return [setup.status for setup in self._setups.values()]

    def get(self, name: str) -> SetupStatus | None:
        """The latest setup of a server, if any."""
        found = self._setups.get(name)
        return None if found is None else found.status

    def begin(self, status: SetupStatus, work: Work) -> SetupStatus:
        """Start a setup; raises `UsageError` if the server already has a running one."""
        known = self._setups.get(status.name)
        if known is not None and known.status.running:
            raise UsageError(
                f"{status.name} is already being set up.", hint="Wait until it ends, or stop it first."
            )
        self._setups.pop(status.name, None)
        setup = Setup(status, self._clock, lambda now: self._bus.publish(SetupTold(now)))
        self._setups[status.name] = setup
        self._drop_oldest()
        self._bus.publish(SetupTold(status))
        setup.task = asyncio.create_task(self._run(setup, work), name=f"set up {status.name}")
        return status

    async def stop(self, name: str) -> SetupStatus:
        """Stop a setup and everything it started; raises `NotFound`."""
        setup = self._setups.get(name)
        if setup is None:
            raise NotFound(f"No setup of {name!r} is running.")
        await self._end(setup)
        return setup.status

    def forget(self, name: str) -> bool:
        """Remove an ended setup; returns False if it is still running."""
        setup = self._setups.get(name)
        if setup is None or setup.status.running:
            return False
        del self._setups[name]
        self._bus.publish(SetupForgotten(name))
        return True

    async def close(self) -> None:
        for setup in list(self._setups.values()):
            await self._end(setup)

    async def _end(self, setup: Setup) -> None:
        if setup.task is not None:
            setup.task.cancel()
            await asyncio.wait([setup.task])
        if setup.status.running:  # Its work had not started.
            setup.end("stopped")

    async def _run(self, setup: Setup, work: Work) -> None:
        try:
            await work(setup)
        except asyncio.CancelledError:
            setup.end("stopped")
            raise
        except ToolcribError as error:
            setup.end("failed", error)
        except Exception:  # the edge of a background task
            logger.exception("setting up failed", extra={"server": setup.status.name})
            setup.end("failed", CallFailed("Internal error.", hint="The host's log has the details."))

    def _drop_oldest(self) -> None:
        over = [name for name, setup in self._setups.items() if not setup.status.running]
        for name in over[: max(0, len(over) - ENDED_KEPT)]:
            del self._setups[name]


Clear = Callable[[], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class RemovedServer:
    """A removed entry, and the name of the entry before it in the file."""

    name: str
    raw: Any
    after: str | None


class Removals:
    """Removed servers that can be restored, by name."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[str, tuple[RemovedServer, asyncio.Task[None]]] = {}

    def keep(self, removed: RemovedServer, seconds: float, clear: Clear) -> None:
        """Keep a removed server for some seconds, then call `clear` to delete the rest of it."""
        self._drop(removed.name)
        task = asyncio.create_task(
            self._clear_later(removed.name, seconds, clear), name=f"clear {removed.name}"
        )
        self._waiting[removed.name] = (removed, task)

    def take_back(self, name: str) -> RemovedServer:
        """Return the server and keep it from being deleted; raises `NotFound`."""
        if name not in self._waiting:
            raise NotFound(f"{name} can no longer be restored.", hint="Add it again.")
        removed, task = self._waiting.pop(name)
        task.cancel()
        return removed

    async def close(self) -> None:
        """Cancel all pending deletions."""
        tasks = [task for _, task in self._waiting.values()]
        self._waiting.clear()
        await cancel_and_wait(*tasks)

    def _drop(self, name: str) -> None:
        if name in self._waiting:
            self._waiting.pop(name)[1].cancel()

    async def _clear_later(self, name: str, seconds: float, clear: Clear) -> None:
        await self._clock.sleep(seconds)
        self._waiting.pop(name, None)
        await clear()


@dataclass(frozen=True, kw_only=True)
class Installs:
    """Servers that are being added, installed, tested or removed."""

    setups: Setups
    removals: Removals
