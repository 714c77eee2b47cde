"""Runs observations: each in a task that ends with it, with a bounded number of events kept. Limits: how long
one lasts, how many run at once, interval between looks, attributes that are compared by default.

An observation ends when it is cancelled, its application ends, an hour is over, or the display is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from toolcrib.bundled.desktop.backend import Application, Backend, Element, ElementRef, ElementTree, Window
from toolcrib.bundled.desktop.changes import ChangeKind, ChangeListener
from toolcrib.bundled.desktop.elements.search import filled, read_tree, with_places
from toolcrib.bundled.desktop.elements.selector import attribute, normal_role
from toolcrib.bundled.desktop.observations.model import (
    AttributeChange,
    ChangeWord,
    Observation,
    ObservationEvent,
    ObservationFilter,
    ObservationRequest,
    ObservationStateWord,
    ObservedChange,
)
from toolcrib.bundled.desktop.resources import ObservationMissing, ResourceExists, new_id
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.window_lookup import choose_application
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolContext, ToolFailure

WATCHED = ("name", "value", "description", "enabled", "visible", "focused", "checked", "selected", "expanded")
"""Attributes that are compared unless a filter names others."""
MAX_CHANGES = 200
"""Of one look; a program that replaces its whole window would otherwise flood the client."""
MAX_VALUE = 500

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


@dataclass(frozen=True)
class Programs:
    """The applications, and which one is active."""

    running: Mapping[int, Application]
    active: int | None


def compare_window_lists(before: Sequence[Window], after: Sequence[Window]) -> list[ObservedChange]:
    old, new = {window.id: window for window in before}, {window.id: window for window in after}
    created = [_window("created", window) for window in after if window.id not in old]
    destroyed = [_window("destroyed", window) for window in before if window.id not in new]
    changed = [
        _window(word, new[key]) for key in new.keys() & old.keys() for word in _changes_of(old[key], new[key])
    ]
    return [*created, *changed, *destroyed]


def _changes_of(old: Window, new: Window) -> Iterator[str]:
    if (old.rect.x, old.rect.y) != (new.rect.x, new.rect.y):
        yield "moved"
    if (old.rect.width, old.rect.height) != (new.rect.width, new.rect.height):
        yield "resized"
    if old.minimised != new.minimised:
        yield "minimized" if new.minimised else "restored"
    if new.active and not old.active:
        yield "focused"


def compare_programs(before: Programs, after: Programs) -> list[ObservedChange]:
    changes = [_program("launched", key) for key in after.running.keys() - before.running.keys()]
    if before.active != after.active:
        changes += [_program("deactivated", before.active)] if before.active is not None else []
        changes += [_program("activated", after.active)] if after.active is not None else []
    return changes + [_program("terminated", key) for key in before.running.keys() - after.running.keys()]


def compare_elements(
    before: ElementTree, after: ElementTree, wanted: ObservationFilter
) -> list[ObservedChange]:
    """Added, removed and modified elements; of incomplete trees nothing counts as removed."""
    old, new = _matching(before.elements, wanted), _matching(after.elements, wanted)
    process = after.application
    added = [_element("element_added", new[ref], process) for ref in new if ref not in old]
    modified = [_modified(old[ref], new[ref], process, wanted) for ref in new if ref in old]
    removed: list[ObservedChange] = []
    if before.complete and after.complete:
        removed = [_element("element_removed", old[ref], process) for ref in old if ref not in new]
    return [change for change in (*added, *modified, *removed) if change is not None]


def _matching(elements: Iterable[Element], wanted: ObservationFilter) -> dict[ElementRef, Element]:
    roles = {normal_role(role) for role in wanted.roles}
    return {
        element.ref: element
        for element in elements
        if (not roles or normal_role(element.role) in roles) and (not wanted.visible_only or element.visible)
    }


def _modified(old: Element, new: Element, process: int, wanted: ObservationFilter) -> ObservedChange | None:
    changes = tuple(
        AttributeChange(name, attribute(old, name)[:MAX_VALUE], attribute(new, name)[:MAX_VALUE])
        for name in wanted.attributes or WATCHED
        if attribute(old, name) != attribute(new, name)
    )
    if not changes:
        return None
    return ObservedChange(
        "element_modified", application=process, element=new, old_element=old, changes=changes
    )


def _element(kind: ChangeWord, element: Element, process: int) -> ObservedChange:
    return ObservedChange(kind, application=process, element=element)


def _window(word: str, window: Window) -> ObservedChange:
    return ObservedChange(
        "window_event", word, window.application, window_id=window.id, title=window.title[:MAX_VALUE]
    )


def _program(word: str, process: int) -> ObservedChange:
    return ObservedChange("application_event", word, process)


_KEPT = {
    "element_changes": {"element_added", "element_removed", "element_modified"},
    "attribute_changes": {"element_modified"},
    "tree_changes": {"element_added", "element_removed"},
}


class Sampler(Protocol):
    triggers: frozenset[ChangeKind]
    """The changes after which it looks before its next regular look."""

    async def look(self) -> list[ObservedChange]:
        """What changed since the last look; nothing at the first."""

    async def has_ended(self) -> bool:
        """Whether there is nothing left to look at."""


def sampler_for(backend: Backend, application: int | None, request: ObservationRequest) -> Sampler:
    """`application` is None for all; raises `ToolFailure` if elements of all are wanted."""
    if request.type == "window_changes":
        return _Windows(backend, application)
    if request.type == "application_changes":
        return _Programs(backend, application)
    if application is None:
        raise ToolFailure(
            f"An observation of {request.type} needs an application.", "Such as applications/1234."
        )
    return _Elements(backend, application, request)


class _Windows:
    triggers: frozenset[ChangeKind] = frozenset({"window"})

    def __init__(self, backend: Backend, application: int | None) -> None:
        self._backend, self._application = backend, application
        self._last: list[Window] | None = None

    async def look(self) -> list[ObservedChange]:
        listed = await self._backend.windows.list()
        now = [window for window in listed if self._application in (None, window.application)]
        before, self._last = self._last, now
        return [] if before is None else compare_window_lists(before, now)[:MAX_CHANGES]

    async def has_ended(self) -> bool:
        return not self._last and await _is_gone(self._backend, self._application)


class _Programs:
    triggers: frozenset[ChangeKind] = frozenset({"window"})

    def __init__(self, backend: Backend, application: int | None) -> None:
        self._backend, self._application = backend, application
        self._last: Programs | None = None

    async def look(self) -> list[ObservedChange]:
        listed = await self._backend.applications.list()
        wanted = {program.id: program for program in listed if self._application in (None, program.id)}
        windows = await self._backend.windows.list()
        active = next((window.application for window in windows if window.active), None)
        now = Programs(wanted, active if active in wanted else None)
        before, self._last = self._last, now
        return [] if before is None else compare_programs(before, now)[:MAX_CHANGES]

    async def has_ended(self) -> bool:
        return self._application is not None and self._last is not None and not self._last.running


class _Elements:
    triggers: frozenset[ChangeKind] = frozenset({"element"})

    def __init__(self, backend: Backend, application: int, request: ObservationRequest) -> None:
        self._backend, self._application, self._request = backend, application, request
        self._last: ElementTree | None = None

    async def look(self) -> list[ObservedChange]:
        now = await self._read()
        before, self._last = self._last, now
        if before is None:
            return []
        kept = _KEPT[self._request.type]
        found = compare_elements(before, now, self._request.filter)
        return [change for change in found if change.kind in kept][:MAX_CHANGES]

    async def has_ended(self) -> bool:
        is_empty = self._last is not None and not self._last.elements
        return is_empty and await _is_gone(self._backend, self._application)

    async def _read(self) -> ElementTree:
        tree = await read_tree(self._backend, self._application)
        elements = list(tree.elements)
        if self._request.filter.visible_only:
            elements = await with_places(self._backend, elements)
        elements = await filled(self._backend, elements, lambda element: "editable" in element.states)
        return dataclasses.replace(tree, elements=tuple(elements))


async def _is_gone(backend: Backend, application: int | None) -> bool:
    if application is None:
        return False
    return all(program.id != application for program in await backend.applications.list())


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
            for event in [kept for kept in self.events if kept.sequence > after]:
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
        return [run for run in self._known.values() if str(run.application) == scope]

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
        if sum(not run.is_over for run in self._known.values()) >= MAX_ACTIVE:
            raise ToolFailure(
                f"{MAX_ACTIVE} observations are active.", "Cancel some with cancel_observation."
            )
        ended = [name for name, run in self._known.items() if run.is_over]
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
    windows = [window for window in await backend.windows.list() if window.application == application]
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
