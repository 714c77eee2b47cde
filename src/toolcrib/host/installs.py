"""Work on a server that takes a while and goes on by itself: whoever began it may go, and come back.

One at a time for each server. A surface that goes away stops nothing; `stop` does, and so does closing the
host, and when either returns, nothing that the work started is running any more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from toolcrib.clock import Clock
from toolcrib.errors import CallFailed, NotFound, ToolcribError, UsageError
from toolcrib.events import Bus
from toolcrib.schema.events import Event, SetupForgotten, SetupTold
from toolcrib.schema.setups import SetupState, SetupStatus, SetupStep, StepKey

logger = logging.getLogger(__name__)

PAUSE = 0.25
"""Seconds between two tellings of how far an installation is: more than a person sees."""
ENDED_KEPT = 32


class Setup:
    """One of them; the work writes down here how far it is."""

    def __init__(self, status: SetupStatus, clock: Clock, tell: Callable[[SetupStatus], None]) -> None:
        self.status = status
        self.task: asyncio.Task[None] | None = None
        self._clock = clock
        self._tell = tell
        self._later: asyncio.TimerHandle | None = None

    def begin(self, key: StepKey) -> None:
        """This step is under way now."""
        self.step(key, state="work", began=self._clock.now())

    def finish(self, key: StepKey, detail: str, ms: float | None = None) -> None:
        """This step went well."""
        self.step(key, state="done", detail=detail, ms=self._took(key) if ms is None else ms)

    def step(self, key: StepKey, *, soon: bool = False, **changes: Any) -> None:
        """Change one step."""
        steps = [replace(step, **changes) if step.key == key else step for step in self.status.steps]
        self.change(soon=soon, steps=tuple(steps))

    def next(self) -> None:
        """The first step that nobody has begun is under way now."""
        waiting = next((step for step in self.status.steps if step.state == "wait"), None)
        if waiting is not None:
            self.begin(waiting.key)

    def change(self, *, soon: bool = False, **changes: Any) -> None:
        """Change it and tell; `soon` joins what comes quickly one after another."""
        self.status = replace(self.status, **changes)
        if soon and self._later is None:
            self._later = asyncio.get_running_loop().call_later(PAUSE, self._told)
        elif not soon:
            self._told()

    def end(self, state: SetupState, error: ToolcribError | None = None) -> None:
        """It is over."""
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

    def _told(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self._tell(self.status)


Work = Callable[[Setup], Awaitable[None]]


class Setups:
    """Those of a host, by the name of the server."""

    def __init__(self, bus: Bus[Event], clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._setups: dict[str, Setup] = {}

    def all(self) -> list[SetupStatus]:
        """Under way or over since not too long, the oldest first."""
        return [setup.status for setup in self._setups.values()]

    def get(self, name: str) -> SetupStatus | None:
        """The latest of this server, if it is known."""
        found = self._setups.get(name)
        return None if found is None else found.status

    def begin(self, status: SetupStatus, work: Work) -> SetupStatus:
        """Start it; raises `UsageError` while another one of the same server is under way."""
        known = self._setups.get(status.name)
        if known is not None and known.status.running:
            raise UsageError(
                f"{status.name} is being worked on already.", hint="Wait for its end, or stop it first."
            )
        self._setups.pop(status.name, None)
        setup = Setup(status, self._clock, lambda now: self._bus.publish(SetupTold(now)))
        self._setups[status.name] = setup
        self._drop_oldest()
        self._bus.publish(SetupTold(status))
        setup.task = asyncio.create_task(self._run(setup, work), name=f"set up {status.name}")
        return status

    async def stop(self, name: str) -> SetupStatus:
        """End it, with everything that it started; raises `NotFound`."""
        setup = self._setups.get(name)
        if setup is None:
            raise NotFound(f"Nothing is under way with {name!r}.")
        await self._end(setup)
        return setup.status

    def forget(self, name: str) -> bool:
        """Nobody needs to see it any more; one that is under way stays."""
        setup = self._setups.get(name)
        if setup is None or setup.status.running:
            return False
        del self._setups[name]
        self._bus.publish(SetupForgotten(name))
        return True

    async def close(self) -> None:
        """Stop all of them."""
        for setup in list(self._setups.values()):
            await self._end(setup)

    async def _end(self, setup: Setup) -> None:
        if setup.task is not None:
            setup.task.cancel()
            await asyncio.wait([setup.task])
        if setup.status.running:  # It had not begun.
            setup.end("stopped")

    async def _run(self, setup: Setup, work: Work) -> None:
        try:
            await work(setup)
        except asyncio.CancelledError:
            setup.end("stopped")
            raise
        except ToolcribError as error:
            setup.end("failed", error)
        except Exception:  # the edge of a task that nobody waits for
            logger.exception("setting up failed", extra={"server": setup.status.name})
            setup.end("failed", CallFailed("Something went wrong here.", hint="The log of the host has it."))

    def _drop_oldest(self) -> None:
        over = [name for name, setup in self._setups.items() if not setup.status.running]
        for name in over[: max(0, len(over) - ENDED_KEPT)]:
            del self._setups[name]
