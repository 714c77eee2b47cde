"""The loop that checks all triggers that are on, stores what occurred, and starts the runs: how often it
checks, and how long past starts are remembered.

Any number of hosts may run it on one database. Each works for itself: what another host has stored already is
not stored again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from toolcrib.clock import Clock
from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.automation.definitions import find_trigger_type
from toolcrib.features.workflows.automation.starts import Assessment, RunStarter, WorkflowSource, assess
from toolcrib.features.workflows.trigger_store import Activation, StoredTriggers
from toolcrib.features.workflows.trigger_type import TriggerResult, Watch, WatchContext
from toolcrib.tasks import first_of

logger = logging.getLogger(__name__)

TICK = 1.0
"""Seconds between two checks; the time of day may be set at any time, so none are longer."""
RELOAD = 10.0
"""Seconds after which changes by other hosts, or of files, are noticed."""
KEPT = timedelta(days=30)
"""How long occurrences are remembered."""
PRUNE = 3600.0


@dataclass
class _Active:
    activation: Activation
    watch: Watch
    trouble: str = ""


class Scheduler:
    """Created with the store; runs until `run` is cancelled."""

    def __init__(
        self, store: StoredTriggers, source: WorkflowSource, starter: RunStarter, clock: Clock, machine: str
    ) -> None:
        self._store = store
        self._source = source
        self._starter = starter
        self._clock = clock
        self._machine = machine
        self._active: dict[tuple[str, str, str], _Active] = {}
        self._woken = asyncio.Event()
        self._reload_at = self._prune_at = 0.0
        self._failing = False
        self._left = True
        """Occurrences may be waiting for their start."""

    @property
    def troubles(self) -> Mapping[tuple[str, str], str]:
        """Why triggers could not check at their last attempt, by workflow and trigger."""
        return {key[:2]: active.trouble for key, active in self._active.items() if active.trouble}

    def wake(self) -> None:
        """Something was changed: look now."""
        self._reload_at = 0.0
        self._left = True
        self._woken.set()

    async def run(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self.tick()
                self._failing = False
            except Exception as error:  # noqa: BLE001 - the edge of a supervisor: the next tick tries again
                self._note_failure(error)
            await first_of(
                asyncio.ensure_future(self._clock.sleep(TICK)), asyncio.create_task(self._woken.wait())
            )

    def _note_failure(self, error: Exception) -> None:
        """Log the first of several failures: the database may be away for a while."""
        expected = isinstance(error, ToolcribError)
        if not self._failing:
            logger.warning("triggers could not be checked: %s", error, exc_info=None if expected else error)
        self._failing = True

    async def tick(self) -> None:
        """Check everything once."""
        if self._clock.monotonic() >= self._reload_at:
            await self._reload()
        for active in tuple(self._active.values()):
            await self._check(active)
        if self._left:
            self._left = False
            self._left = await self._starter.start_waiting() or self._left
        if self._clock.monotonic() >= self._prune_at:
            await self._prune()

    async def _reload(self) -> None:
        self._reload_at = self._clock.monotonic() + RELOAD
        self._left = True
        found: dict[tuple[str, str, str], _Active] = {}
        for activation in await self._store.activations():
            assessment = await assess(self._source, activation) if activation.on else None
            active = assessment and self._follow(activation, assessment)
            if active:
                found[_key(activation)] = active
        self._active = found

    def _follow(self, activation: Activation, assessment: Assessment) -> _Active | None:
        defined = assessment.defined
        if assessment.status != "on" or defined is None or defined.type is None or defined.settings is None:
            return None
        if defined.type.watch is None or (defined.type.local and activation.machine != self._machine):
            return None
        known = self._active.get(_key(activation))
        if known is not None:
            known.activation = activation
            return known
        context = WatchContext(
            monotonic=self._clock.monotonic,
            known=lambda: self._store.known(activation.workflow, activation.trigger),
        )
        return _Active(activation, defined.type.watch(defined.settings, context))

    async def _check(self, active: _Active) -> None:
        activation, now = active.activation, self._clock.now()
        try:
            found = await active.watch.check(now, activation.position)
        except ToolcribError as error:
            active.trouble = error.message
            return
        active.trouble = ""
        if found == _NOTHING:
            return
        if await self._record(activation, found, now) and found.position is not None:
            active.activation = replace(activation, position=found.position)

    async def _record(self, activation: Activation, found: TriggerResult, now: datetime) -> bool:
        recorded = False
        try:
            recorded = await self._store.record(activation, found, now, forget_before=now - KEPT)
        finally:
            if not recorded:
                # Another host was faster, or the database failed: begin again from what is stored.
                self._active.pop(_key(activation), None)
                self._reload_at = 0.0
        self._left = True
        return recorded

    async def _prune(self) -> None:
        self._prune_at = self._clock.monotonic() + PRUNE
        remembered = [
            (activation.workflow, activation.trigger)
            for activation in await self._store.activations()
            if find_trigger_type(activation.trigger.partition("-")[0]).remembers
        ]
        await self._store.prune(self._clock.now() - KEPT, remembered)


_NOTHING = TriggerResult()


def _key(activation: Activation) -> tuple[str, str, str]:
    """Changes when the trigger is turned on again or its settings change."""
    since = f"{activation.fingerprint}{activation.since.isoformat()}"
    return activation.workflow, activation.trigger, since
