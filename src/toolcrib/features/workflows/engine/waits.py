"""Durable waits of visits: for an answer of the user, for a moment, for an event; deadlines, and what counts
as in time.

Each wait is a row. After a restart the visit runs again, finds its row and goes on waiting; an answer or an
event that came in the meantime is there. It counts if it was sent before the deadline, whenever a worker sees
it. How a wait ended is stored in its row, so that it stays decided.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from toolcrib.clock import Clock
from toolcrib.features.workflows.engine.database import RunDatabase, insert_once
from toolcrib.features.workflows.engine.outcomes import ACTIVE_STATUSES, among, outermost, status
from toolcrib.features.workflows.engine.serializer import JsonSerializer, RefusedValue
from toolcrib.features.workflows.engine.tables import events, waits
from toolcrib.features.workflows.records import with_parents

LONGEST_SLEEP = 30.0
"""Seconds between looks at the time of day, which may be changed."""
CHUNK = 400
"""Keys in one query."""
ASKING = ("question", "uncertain", "server")
"""Kinds of waits that the user ends."""


class WaitKey(NamedTuple):
    run: str
    step: str
    number: int


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A row: what is waited for, and the answer once it is there."""

    key: WaitKey
    root: str
    kind: str
    content: Mapping[str, Any]
    since: float
    until: float | None
    answer: Any = None
    """None also for one that ended without an answer."""
    answered: bool = False


class TakenEvent(NamedTuple):
    data: Any
    source: str
    """Where untrusted data is from; empty for what the user sent."""


class Waits:
    """All waits of this process, woken by an answer here or by looking into the database."""

    def __init__(self, database: RunDatabase, clock: Clock, serializer: JsonSerializer) -> None:
        self._database = database
        self._clock = clock
        self._serializer = serializer
        self._woken: dict[WaitKey, asyncio.Event] = {}

    async def open(
        self, key: WaitKey, root: str, kind: str, content: Mapping[str, Any], seconds: float | None
    ) -> Wait:
        """The wait with this key: the one from before a restart, or a new one."""
        now = self._clock.now().timestamp()
        until = None if seconds is None else now + seconds
        row = (*key, root, kind, now, until)
        text = self._serializer.seal(json.dumps(content, default=str), "wait", *row)
        values = {**key._asdict(), "root": root, "kind": kind, "since": now, "until": until, "content": text}
        return await self._database.run(lambda connection: _open(connection, self._serializer, key, values))

    async def answer_of(self, wait: Wait) -> Any:
        """Wait for the answer; raises `TimeoutError` at its deadline."""
        current = wait
        with self._listening(wait.key) as woken, suppress(TimeoutError):
            async with asyncio.timeout(self.remaining(wait)):
                while not (current := await self._read(wait.key)).answered:
                    woken.clear()
                    await woken.wait()
        if not current.answered:
            await self._close(wait.key, None)
            current = await self._read(wait.key)  # An answer may have been faster.
        if current.answer is None:
            raise TimeoutError
        return current.answer

    async def event_of(self, wait: Wait, root: str, name: str) -> TakenEvent:
        """Take the oldest event of this name that was sent to the run, or to one that it is part of.

        Raises `TimeoutError` if none was sent before the deadline.
        """
        with self._listening(wait.key) as woken, suppress(TimeoutError):
            async with asyncio.timeout(self.remaining(wait)):
                while (found := await self._taken(wait, root, name)) is None:
                    woken.clear()
                    await woken.wait()
                return found
        found = await self._taken(wait, root, name, over=True)
        if found is None:
            raise TimeoutError
        return found

    async def sources(self, root: str) -> set[str]:
        """Where the untrusted data is from in events that the run took, or one that it is part of."""
        return await self._database.run(lambda connection: _sources(connection, self._serializer, root))

    async def _taken(self, wait: Wait, root: str, name: str, *, over: bool = False) -> TakenEvent | None:
        nothing = self._serializer.seal(json.dumps(None), "answer", *wait.key)

        def take(connection: sa.Connection) -> TakenEvent | None:
            found = _take(connection, self._serializer, wait, root, name)
            if found is None and over:
                _give(connection, wait.key, nothing)
            return found

        return await self._database.run(take)

    async def moment_of(self, wait: Wait) -> None:
        """Wait until the time of day has reached the moment."""
        while (left := (wait.until or 0) - self._clock.now().timestamp()) > 0:
            await self._clock.sleep(min(left, LONGEST_SLEEP))

    async def duration_of(self, wait: Wait) -> None:
        """Wait for what is left of a number of seconds; changes of the time of day do not matter."""
        await self._clock.sleep(self.remaining(wait) or 0)

    def remaining(self, wait: Wait) -> float | None:
        """Seconds that are left, never more than the wait had at first: the clock may have been set back."""
        if wait.answered:
            return 0.0
        if wait.until is None:
            return None
        return min(max(wait.until - self._clock.now().timestamp(), 0.0), wait.until - wait.since)

    async def give(self, key: WaitKey, answer: Any) -> bool:
        """Answer an open wait before its deadline; False if there is none."""
        given = await self._close(key, answer, self._clock.now().timestamp())
        self.wake([key])
        return given

    async def _close(self, key: WaitKey, answer: Any, sent: float | None = None) -> bool:
        text = self._serializer.seal(json.dumps(answer, default=str), "answer", *key)
        return await self._database.run(lambda connection: _give(connection, key, text, sent))

    async def send(self, run: str, name: str, text: str, source: str) -> None:
        """Keep an event for a run; `text` is its data as JSON."""
        data = self._serializer.seal(text, "event", run, name, source)
        sent = self._clock.now().timestamp()
        values = {"run": run, "name": name, "data": data, "sent": sent, "source": source}
        await self._database.run(lambda connection: connection.execute(events.insert().values(values)))

    async def remove(self, key: WaitKey) -> None:
        """What was waited for is there, without an answer."""
        await self._database.run(lambda connection: connection.execute(sa.delete(waits).where(_is(key))))

    async def open_questions(self, root: str) -> list[Wait]:
        """The open questions of a run and of its sub-workflows."""
        return await self._database.run(
            lambda connection: self.questions_of(connection, [root]).get(root, [])
        )

    def questions_of(self, connection: sa.Connection, roots: Iterable[str]) -> dict[str, list[Wait]]:
        """The open questions of these runs, and of their sub-workflows that are not over."""
        wanted, found = set(roots), dict[str, list[Wait]]()
        if not wanted:
            return found
        whole = {root.partition("/")[0] for root in wanted}
        query = _open_questions().where(among(connection, outermost(connection, waits.c.root), whole))
        for row in connection.execute(query.order_by(waits.c.since)):
            with suppress(RefusedValue):  # nobody is asked what no host asked
                wait = _from_row(row, self._serializer)
                for root in wanted.intersection(with_parents(row.root)):
                    found.setdefault(root, []).append(wait)
        return found

    def wake(self, keys: Iterable[WaitKey]) -> None:
        for key in keys:
            if key in self._woken:
                self._woken[key].set()

    async def look(self) -> None:
        """Wake the waits that another process answered, or for which there are events."""
        keys = list(self._woken)
        for start in range(0, len(keys), CHUNK):
            runs = {key.run for key in keys[start : start + CHUNK]}
            self.wake(await self._database.run(lambda connection, runs=runs: _ready(connection, runs)))  # type: ignore[misc]

    async def _read(self, key: WaitKey) -> Wait:
        return await self._database.run(lambda connection: _read(connection, self._serializer, key))

    @contextmanager
    def _listening(self, key: WaitKey) -> Iterator[asyncio.Event]:
        woken = self._woken[key] = asyncio.Event()
        try:
            yield woken
        finally:
            # A later execution of the same run may wait here too, after this one has lost the run.
            if self._woken.get(key) is woken:
                del self._woken[key]


def moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _open(
    connection: sa.Connection, serializer: JsonSerializer, key: WaitKey, values: Mapping[str, Any]
) -> Wait:
    insert_once(connection, waits, **values)
    return _read(connection, serializer, key)


def _is(key: WaitKey) -> sa.ColumnElement[bool]:
    return sa.and_(waits.c.run == key.run, waits.c.step == key.step, waits.c.number == key.number)


def _read(connection: sa.Connection, serializer: JsonSerializer, key: WaitKey) -> Wait:
    return _from_row(connection.execute(sa.select(waits).where(_is(key))).one(), serializer)


def _from_row(row: Any, serializer: JsonSerializer) -> Wait:
    """Raises `RefusedValue` if the question or its answer was not stored by a host."""
    answered = row.answer is not None
    key = WaitKey(row.run, row.step, row.number)
    content = serializer.opened(row.content, "wait", *key, row.root, row.kind, row.since, row.until)
    return Wait(
        key=key,
        root=row.root,
        kind=row.kind,
        content=json.loads(content),
        since=row.since,
        until=row.until,
        answer=json.loads(serializer.opened(row.answer, "answer", *key)) if answered else None,
        answered=answered,
    )


def _give(connection: sa.Connection, key: WaitKey, answer: str, sent: float | None = None) -> bool:
    """Store how a wait ended, once; `sent` is when an answer was given."""
    still_open = sa.and_(_is(key), waits.c.answer.is_(None))
    if sent is not None:
        still_open = sa.and_(still_open, sa.or_(waits.c.until.is_(None), waits.c.until >= sent))
    given = sa.update(waits).where(still_open).values(answer=answer)
    return connection.execute(given).rowcount > 0


def _event(row: Any, serializer: JsonSerializer) -> TakenEvent:
    """Raises `RefusedValue` if no host stored it."""
    data = serializer.opened(row.data, "event", row.run, row.name, row.source)
    return TakenEvent(json.loads(data), row.source)


def _take(
    connection: sa.Connection, serializer: JsonSerializer, wait: Wait, root: str, name: str
) -> TakenEvent | None:
    """The event that this wait already took, or the oldest free one that was sent before its deadline."""
    taker = f"{wait.key.run}:{wait.key.step}:{wait.key.number}"
    sent = events.c.run.in_(with_parents(root))
    mine = sa.select(events).where(sent, events.c.taken == taker)
    if not wait.answered:
        # The write comes first: if an attempt that was given up is about to commit, it waits for it.
        other = events.alias()
        has_one = sa.exists().where(other.c.run.in_(with_parents(root)), other.c.taken == taker)
        free = sa.and_(sent, events.c.name == name, events.c.taken.is_(None), ~has_one)
        if wait.until is not None:
            free = sa.and_(free, events.c.sent <= wait.until)
        oldest = sa.select(sa.func.min(events.c.id)).where(free).scalar_subquery()
        connection.execute(
            sa.update(events).where(events.c.id == oldest, events.c.taken.is_(None)).values(taken=taker)
        )
    row = connection.execute(mine).first()
    return None if row is None else _event(row, serializer)


def _sources(connection: sa.Connection, serializer: JsonSerializer, root: str) -> set[str]:
    sent = events.c.run.in_(with_parents(root))
    rows = connection.execute(sa.select(events).where(sent, events.c.taken.is_not(None)))
    return {source for row in rows if (source := _event(row, serializer).source)}


def _is_sent_to(root: sa.Column[Any]) -> sa.ColumnElement[bool]:
    begins = sa.func.substr(root, 1, sa.func.length(events.c.run) + 1) == events.c.run + "/"
    return sa.or_(events.c.run == root, begins)


def _ready(connection: sa.Connection, runs: set[str]) -> list[WaitKey]:
    answered = sa.select(waits.c.run, waits.c.step, waits.c.number).where(
        waits.c.run.in_(runs), waits.c.answer.is_not(None)
    )
    sent = sa.select(waits.c.run, waits.c.step, waits.c.number).where(
        waits.c.run.in_(runs),
        waits.c.kind == "event",
        waits.c.answer.is_(None),
        sa.exists().where(_is_sent_to(waits.c.root), events.c.taken.is_(None)),
    )
    return [WaitKey(*row) for row in connection.execute(sa.union_all(answered, sent))]


def asking_roots(connection: sa.Connection) -> sa.Select[Any]:
    """The runs that users see and that ask something, themselves or in a sub-workflow."""
    return _open_questions().with_only_columns(outermost(connection, waits.c.root))


def _open_questions() -> sa.Select[Any]:
    open_ = sa.and_(waits.c.kind.in_(ASKING), waits.c.answer.is_(None))
    active = status.c.status.in_(ACTIVE_STATUSES)
    joined = waits.join(status, status.c.workflow_uuid == waits.c.run)
    return sa.select(waits).select_from(joined).where(open_, active)
