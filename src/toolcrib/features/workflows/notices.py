"""Notices for open pages about the end of runs that a trigger started; many at once become one notice.

A run is looked at soon after something about it changed, and then less and less often: its end is recorded
shortly after its last step.
"""

from __future__ import annotations

from collections import Counter

from toolcrib.errors import NotFound
from toolcrib.events import Subscription
from toolcrib.features.workflows.records import FINAL, RunRecord
from toolcrib.features.workflows.runs import WorkflowRuns
from toolcrib.features.workflows.trigger_store import StartRecord, StoredTriggers
from toolcrib.host.core import HostCore
from toolcrib.schema.events import CallFinished, Event, Noticed, RunChanged

LOOK = 1.0
LONGEST_PAUSE = 60.0
AT_ONCE = 50
"""Runs that are looked at together."""
MOST_WATCHED = 20_000
CAPACITY = 20_000
_ENDS = {"finished": "finished", "failed": "failed", "cancelled": "ended: cancelled"}


class RunNotices:
    def __init__(self, core: HostCore, runs: WorkflowRuns, store: StoredTriggers) -> None:
        self._core = core
        self._runs = runs
        self._store = store
        self._clock = core.clock
        self._watched: dict[str, tuple[float, float]] = {}
        """When to look at a run, and the pause before that."""

    async def follow(self) -> None:
        """Publish notices until cancelled."""
        with self._core.events.subscribe(CAPACITY, without=CallFinished) as events:
            while True:
                await self._watch(events)
                await self._clock.sleep(LOOK)
                self._publish(Counter([(run.workflow, run.state) for run in await self._ended()]))

    async def _watch(self, events: Subscription[Event]) -> None:
        """Take in what changed; wait for it if there is nothing else to do."""
        if not self._watched:
            self._add(await events.next())
        while events.unheard:
            self._add(events.unheard.popleft())

    def _add(self, event: Event) -> None:
        if not isinstance(event, RunChanged):
            return
        self._watched[event.run] = (self._clock.monotonic() + LOOK, LOOK)
        while len(self._watched) > MOST_WATCHED:
            del self._watched[next(iter(self._watched))]

    async def _ended(self) -> list[RunRecord]:
        now = self._clock.monotonic()
        due = [run for run, (at, _) in self._watched.items() if at <= now][:AT_ONCE]
        return [record for run in due if (record := await self._look(run)) is not None]

    async def _look(self, run: str) -> RunRecord | None:
        """The run, if a trigger started it and it has ended now."""
        started = await self._store.start_of(run)
        if started is None or not _is_open(started):
            del self._watched[run]
            return None
        try:
            found = await self._runs.get(run)
        except NotFound:
            found = None
        if found is None or found.state not in FINAL:
            pause = min(self._watched[run][1] * 2, LONGEST_PAUSE)
            self._watched[run] = (self._clock.monotonic() + pause, pause)
            return None
        del self._watched[run]
        await self._store.settle(run, "ended", self._clock.now(), found.state)
        return found

    def _publish(self, counts: Counter[tuple[str, str]]) -> None:
        for (workflow, state), count in counts.items():
            runs = "A run" if count == 1 else f"{count} runs"
            self._core.events.publish(Noticed(text=f"{runs} of {workflow} {_ENDS[state]}."))


def _is_open(start: StartRecord) -> bool:
    """Whether its end was not published; how it ended is noted then."""
    return start.state in ("starting", "started") or (start.state == "ended" and not start.note)
