"""Runs observations: each in a task that ends with it, with a bounded number of events kept.

An observation ends when it is cancelled, its application ends, an hour is over, or the display is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.changes import ChangeListener
from toolcrib.bundled.desktop.choosing import choose_application
from toolcrib.bundled.desktop.identifiers import ObservationMissing, ResourceExists, new_id
from toolcrib.bundled.desktop.observations.model import (
    Observation,
    ObservationEvent,
    ObservationRequest,
    ObservationStateWord,
    ObservedChange,
)
from toolcrib.bundled.desktop.observations.sampling import Sampler, sampler_for
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolContext, ToolFailure

MAX_ACTIVE = 20
MAX_ENDED = 50
"""Ended observations whose events can still be read."""
MAX_EVENTS = 1_000
MAX_QUEUED = 256
LIFETIME = 3600.0
SHORTEST, LONGEST = 0.1, 60.0
"""Seconds between two looks."""
QUIET, PATIENCE = 0.05, 0.3
"""A burst of changes is looked at once: when it pauses, or after a moment."""
MAX_FAILURES = 10
"""Looks in a row that may fail, as with a program that hangs."""

OnEvent = Callable[[ObservationEvent], None]


@dataclass(eq=False)
class ObservationRun:
    """One observation with its events, its readers and its task."""

    about: Observation
    application: int | None
    on_event: OnEvent | None = None
    events: deque[ObservationEvent] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    sequence: int = 0
    task: asyncio.Task[None] | None = None
    _readers: set[asyncio.Queue[ObservationEvent | None]] = field(default_factory=set)

    @property
    def is_over(self) -> bool:
        return self.about.state not in ("pending", "active")

    def publish(self, change: ObservedChange) -> None:
        self.sequence += 1
        event = ObservationEvent(self.about.name, time.time(), self.sequence, change)
        self.events.append(event)
        for queue in self._readers:
            _put(queue, event)
        if self.on_event is not None:
            self.on_event(event)

    def end(self, state: ObservationStateWord, error: str = "") -> None:
        if self.is_over:
            return
        self.about.state, self.about.error, self.about.end_time = state, error, time.time()
        for queue in self._readers:
            _put(queue, None)

    async def stream(self, after: int = 0) -> AsyncIterator[ObservationEvent]:
        """The kept events after this number, then new ones until it ends; a slow reader loses the oldest."""
        queue: asyncio.Queue[ObservationEvent | None] = asyncio.Queue(MAX_QUEUED)
        self._readers.add(queue)
        try:
            for event in [each for each in self.events if each.sequence > after]:
                yield event
                after = event.sequence
            while not (self.is_over and queue.empty()):
                new = await queue.get()
                if new is None:
                    return
                if new.sequence > after:
                    yield new
        finally:
            self._readers.discard(queue)


class Observations:
    """The observations of a server."""

    def __init__(self, session: DesktopSession, lifetime: float = LIFETIME) -> None:
        self._session = session
        self._lifetime = lifetime
        self._known: dict[str, ObservationRun] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def create(
        self,
        parent: str,
        request: ObservationRequest,
        observation_id: str | None = None,
        on_event: OnEvent | None = None,
        context: ToolContext | None = None,
    ) -> ObservationRun:
        """Start one; returns after its first look. `on_event` is called with each event."""
        self._check_room()
        backend = await self._session.backend(context)
        application = await _application(backend, parent)
        sampler = sampler_for(backend, application, request)
        scope = "-" if application is None else str(application)
        name = f"applications/{scope}/observations/{new_id(observation_id)}"
        if name in self._known and not self._known[name].is_over:
            raise ResourceExists(f"There is already {name}.", "Choose another observation_id.")
        if request.activate and application is not None:
            await _activate(backend, application)
        run = ObservationRun(Observation(name, request, time.time()), application, on_event)
        await sampler.look()
        self._start(run, backend, sampler)
        return run

    def get(self, name: str) -> ObservationRun:
        found = self._known.get(name.strip())
        if found is None:
            known = ", ".join(list(self._known)[-5:])
            raise ObservationMissing(
                f"There is no observation {name[:120]!r}.", f"Known: {known}." if known else ""
            )
        return found

    def all(self, parent: str = "") -> list[ObservationRun]:
        """Those of an application such as `applications/1234`, or of all."""
        scope = parent.strip().removeprefix("applications/")
        if scope in ("", "-"):
            return list(self._known.values())
        return [each for each in self._known.values() if str(each.application) == scope]

    def cancel(self, name: str) -> ObservationRun:
        found = self.get(name)
        found.end("cancelled")
        if found.task is not None:
            found.task.cancel()
        return found

    def close(self) -> None:
        """Cancel all of them; may be called from any thread."""
        runs, self._known = list(self._known.values()), {}
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(_cancel_all, runs)

    def _check_room(self) -> None:
        if sum(not each.is_over for each in self._known.values()) >= MAX_ACTIVE:
            raise ToolFailure(
                f"{MAX_ACTIVE} observations are active.", "Cancel some with cancel_observation."
            )
        ended = [name for name, each in self._known.items() if each.is_over]
        for name in ended[: max(0, len(ended) - MAX_ENDED)]:
            del self._known[name]

    def _start(self, run: ObservationRun, backend: Backend, sampler: Sampler) -> None:
        run.about.state, run.about.start_time = "active", time.time()
        self._loop = asyncio.get_running_loop()
        self._known[run.about.name] = run
        run.task = self._loop.create_task(self._watch(run, backend, sampler), name=run.about.name)

    async def _watch(self, run: ObservationRun, backend: Backend, sampler: Sampler) -> None:
        try:
            async with asyncio.timeout(self._lifetime):
                await _watch_until_gone(run, backend, sampler)
            run.end("completed")
        except TimeoutError:
            run.end("completed")
        except ToolcribError as failure:
            run.end("failed", failure.message)
        except asyncio.CancelledError:
            run.end("cancelled")
            raise


async def _watch_until_gone(run: ObservationRun, backend: Backend, sampler: Sampler) -> None:
    asked = run.about.request.filter.poll_interval
    interval = min(max(asked or 1.0, SHORTEST), LONGEST)
    failures = 0
    with backend.events.listen() as changes:
        while not await sampler.has_ended():
            began = time.monotonic()
            try:
                for change in await sampler.look():
                    run.publish(change)
                failures = 0
            except ToolFailure:
                failures += 1
                if failures >= MAX_FAILURES or not backend.alive:
                    raise
            # Reading a tree can itself cause events: without a pause, both sides would keep each other busy.
            await asyncio.sleep(max(SHORTEST, time.monotonic() - began))
            await _next_look(changes, sampler, interval)


async def _next_look(changes: ChangeListener, sampler: Sampler, interval: float) -> None:
    """Return when something relevant has changed, or the interval is over."""
    deadline = time.monotonic() + interval
    while (left := deadline - time.monotonic()) > 0:
        change = await changes.next(left)
        if change is not None and change.kind in sampler.triggers:
            await changes.settled(QUIET, PATIENCE)
            return


async def _application(backend: Backend, parent: str) -> int | None:
    scope = parent.strip().removeprefix("applications/")
    return None if scope in ("", "-") else await choose_application(backend, scope)


async def _activate(backend: Backend, application: int) -> None:
    windows = [each for each in await backend.windows.list() if each.application == application]
    if windows:
        await backend.windows.focus(windows[-1].id)


def _cancel_all(runs: list[ObservationRun]) -> None:
    for run in runs:
        run.end("cancelled")
        if run.task is not None:
            run.task.cancel()


def _put(queue: asyncio.Queue[ObservationEvent | None], event: ObservationEvent | None) -> None:
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(event)
