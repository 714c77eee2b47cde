"""The triggers of a host's workflows: turned on and off, listed, and run while the host runs; notices on the
page about runs that ended.

Which triggers are on is stored in the database and not in the workflow's file, so that an imported file
starts nothing.

Notices for open pages about the end of runs that a trigger started; many at once become one notice. A run is
looked at soon after something about it changed, and then less and less often: its end is recorded shortly
after its last step.
"""

from __future__ import annotations

import asyncio
import builtins
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from toolcrib.clock import Clock
from toolcrib.config.safe_files import write_atomic
from toolcrib.errors import Denied, MissingSecret, NotFound, UsageError
from toolcrib.events import Subscription
from toolcrib.features.workflows.automation.definitions import DefinedTrigger, defined_triggers
from toolcrib.features.workflows.automation.scheduler import Scheduler
from toolcrib.features.workflows.automation.starts import REMOVED, RunStarter, Status, standing
from toolcrib.features.workflows.files import StoredWorkflow
from toolcrib.features.workflows.inputs import read_inputs
from toolcrib.features.workflows.records import FINAL, RunRecord
from toolcrib.features.workflows.runs import WorkflowRuns
from toolcrib.features.workflows.trigger_store import Activation, StartRecord, StoredTriggers
from toolcrib.features.workflows.trigger_type import TriggerResult
from toolcrib.features.workflows.webhooks.receiver import Receiver
from toolcrib.features.workflows.webhooks.tokens import new_hook_token
from toolcrib.host.core import HostCore
from toolcrib.schema.events import CallFinished, Event, Noticed, RunChanged, WorkflowsChanged
from toolcrib.schema.workflows import RunState, Trigger, Workflow
from toolcrib.tasks import cancel_and_wait

LOOK = 1.0
LONGEST_PAUSE = 60.0
AT_ONCE = 50
"""Runs that are looked at together."""
MOST_WATCHED = 20_000
CAPACITY = 20_000
_ENDS = {"finished": "finished", "failed": "failed", "cancelled": "ended: cancelled"}

WEBHOOK = "webhook"
MOST_SHOWN = 20
LOOK_FOR_RUN = 0.5
"""Seconds between looks for a run that is not there yet."""


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


class TriggeredWorkflows(Protocol):
    """What triggers use of `Workflows`, which opens them."""

    @property
    def runs(self) -> WorkflowRuns: ...

    async def get(self, name: str, version: str | None = None) -> StoredWorkflow: ...

    async def admit(self, workflow: Workflow) -> tuple[str, ...]: ...

    async def list(self) -> builtins.list[StoredWorkflow]: ...

    async def save(self, workflow: Workflow, *, expected_version: str | None = None) -> StoredWorkflow: ...


class HostRuns:
    def __init__(self, workflows: TriggeredWorkflows, clock: Clock) -> None:
        self._workflows = workflows
        self._clock = clock

    async def check(self, workflow: Workflow, inputs: Mapping[str, Any]) -> None:
        read_inputs(workflow, inputs, {})
        await self._workflows.admit(workflow)

    async def start(
        self, workflow: Workflow, inputs: Mapping[str, Any], run: str, *, source: str = ""
    ) -> None:
        given = read_inputs(workflow, inputs, {})
        engine = await self._workflows.runs.open()
        origin = await self._workflows.admit(workflow)
        results_of = (source, *origin) if source else origin
        await engine.start(workflow, given, run_id=run, queued=True, results_of=results_of)

    async def state(self, run: str) -> RunState | None:
        engine = self._workflows.runs.engine
        if not engine.exists:
            return None
        try:
            return (await (await engine.view()).status(run)).state
        except NotFound:
            return None

    async def result(self, run: str, timeout: float) -> Mapping[str, Any]:
        engine, clock = await self._workflows.runs.open(), self._clock
        until = clock.monotonic() + timeout
        while await self.state(run) is None:
            # Another host is starting it, or began to and stopped.
            if clock.monotonic() >= until:
                return {"run": run, "state": "queued", "outputs": None, "error": None}
            await clock.sleep(LOOK_FOR_RUN)
        found = await engine.wait(run, max(0.0, until - clock.monotonic()))
        return {"run": run, "state": found.state, "outputs": found.outputs, "error": found.error}

    async def find(self, workflow: str, name: str, value: Any) -> Sequence[str]:
        runs = self._workflows.runs
        if not runs.engine.exists:
            return []
        return await (await runs.engine.view()).with_input(workflow, name, value)

    async def send_event(self, run: str, name: str, data: Any, *, source: str = "") -> None:
        await self._workflows.runs.send_event(run, name, data, source=source)


@dataclass(frozen=True, kw_only=True)
class TriggerState:
    """A trigger and what it does at present."""

    defined: DefinedTrigger
    status: Status
    reason: str = ""
    """Why it is paused, or what kept it from checking."""
    next: datetime | None = None
    last: StartRecord | None = None
    failed: Sequence[StartRecord] = ()
    """The latest starts that failed, at most `MOST_SHOWN` and one."""


class WorkflowTriggers:
    """Created by `Workflows`."""

    def __init__(self, core: HostCore, workflows: TriggeredWorkflows) -> None:
        clock, runs = core.clock, HostRuns(workflows, core.clock)
        self.store = StoredTriggers(core.database)
        self._core = core
        self._workflows = workflows
        self._clock = clock
        self._machine = _machine(core.paths.state / "machine-id")
        self._starter = starter = RunStarter(self.store, self, runs, clock)
        starter.on_failed = self._publish_failure
        self._scheduler = Scheduler(self.store, self, starter, clock, self._machine)
        self.receiver = Receiver(self.store, self, starter, runs, clock, self._secret)
        """Receives the requests to webhooks."""
        self.receiver.on_stored = self._scheduler.wake

    async def workflow(self, name: str) -> Workflow:
        """Raises `NotFound`, or `UsageError` with the first problem."""
        stored = await self._workflows.get(name)
        problems = [problem for problem in stored.problems if not problem.warning]
        if problems:
            where = f" (node {problems[0].node})" if problems[0].node else ""
            raise UsageError(f"The workflow is not valid: {problems[0].message}{where}")
        return stored.readable

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start runs while the block runs."""
        notices = RunNotices(self._core, self._workflows.runs, self.store)
        tasks = (
            asyncio.create_task(self._scheduler.run(), name="workflow triggers"),
            asyncio.create_task(notices.follow(), name="workflow notices"),
            asyncio.create_task(self._follow_files(), name="workflow files"),
        )
        try:
            yield
        finally:
            await cancel_and_wait(*tasks)

    async def all(self, name: str | None = None) -> list[TriggerState]:
        """The triggers of all workflows or of one; raises `NotFound`."""
        stored = [await self._workflows.get(name)] if name else await self._workflows.list()
        activations = {
            (activation.workflow, activation.trigger): activation
            for activation in await self.store.activations(name)
        }
        found = []
        for entry in stored:
            for defined in defined_triggers(entry.workflow) if entry.workflow else ():
                activation = activations.get((defined.workflow, defined.key))
                found.append(await self._state(defined, activation, await self._obstacle(entry)))
        return found

    async def lost(self) -> list[tuple[Activation, str]]:
        """Triggers that are on, but whose workflow is missing or has them no longer."""
        known = {(trigger.defined.workflow, trigger.defined.key) for trigger in await self.all()}
        names = {stored.name for stored in await self._workflows.list()}
        return [
            (activation, REMOVED if activation.workflow in names else "The workflow is missing.")
            for activation in await self.store.activations()
            if activation.on and (activation.workflow, activation.trigger) not in known
        ]

    async def turn_on(self, name: str, index: int) -> tuple[TriggerState, str | None]:
        """Turn a trigger on; a new webhook also gets its token, which is not stored.

        Raises `NotFound`, or `UsageError` if the trigger or its workflow is not valid.
        """
        defined = await self._find(name, index)
        workflow = await self.workflow(name)
        if defined.problems or defined.type is None:
            raise UsageError(f"The trigger {defined.key} is not valid: {defined.problems[0]}")
        before = await self._activation(defined)
        token, hook, hashed = _hook(defined, before)
        now = self._clock.now()
        found = await defined.type.begin(defined.settings, now)
        activation = Activation(
            workflow=workflow.name,
            trigger=defined.key,
            on=True,
            fingerprint=defined.fingerprint,
            since=now,
            position=found.position or "",
            machine=self._machine,
            hook=hook,
            token_hash=hashed,
        )
        await self.store.turn_on(activation, found)
        self._changed(name)
        obstacle = await self._obstacle(await self._workflows.get(name))
        return await self._state(defined, activation, obstacle), token

    async def turn_off(self, name: str, index: int) -> TriggerState:
        """Raises `NotFound`."""
        defined = await self._find(name, index)
        await self.store.turn_off(name, defined.key)
        self._changed(name)
        return await self._state(defined, await self._activation(defined), "")

    async def new_token(self, name: str, index: int) -> tuple[TriggerState, str]:
        """Turn a webhook on with a new token; its earlier one is no longer valid."""
        defined = await self._find(name, index)
        if defined.trigger.type != WEBHOOK:
            raise UsageError(f"The trigger {index} of {name} is a {defined.trigger.type}, not a webhook.")
        before = await self._activation(defined)
        if before is not None:
            await self.store.turn_on(replace(before, hook="", token_hash="", on=False), TriggerResult())
        state, token = await self.turn_on(name, index)
        return state, token or ""

    async def put(self, name: str, trigger: Trigger, index: int | None = None) -> int:
        """Add a trigger to a workflow, or replace one; returns its index. It is not turned on."""
        stored = await self._workflows.get(name)
        workflow, triggers = stored.readable, list(stored.readable.triggers)
        if index is None:
            triggers.append(trigger)
            index = len(triggers) - 1
        else:
            self._check_index(workflow, index)
            triggers[index] = trigger
        changed = workflow.model_copy(update={"triggers": tuple(triggers)})
        problems = defined_triggers(changed)[index].problems
        if problems:
            raise UsageError(f"The {trigger.type} is not valid: {problems[0]}")
        await self._workflows.save(changed, expected_version=stored.version)
        return index

    async def start_again(self, run: str) -> None:
        """Start a run that could not be started; raises `NotFound`, or `UsageError` with the reason."""
        await self._starter.start_again(run)

    def _publish_failure(self, record: StartRecord, reason: str) -> None:
        text = f"A run of {record.workflow} could not be started: {reason}"
        self._core.events.publish(Noticed(text=text))
        self._core.events.publish(RunChanged(run=record.run, step=None))

    async def forget(self, name: str) -> None:
        """Turn everything off: the workflow was removed, or replaced by an imported one."""
        await self.store.forget(name)
        self._scheduler.wake()

    def _changed(self, name: str) -> None:
        self._scheduler.wake()
        self._core.events.publish(WorkflowsChanged(name=name))

    async def _follow_files(self) -> None:
        """A saved workflow may be valid again, or have other triggers."""
        with self._core.events.subscribe(without=CallFinished) as events:
            async for event in events:
                if isinstance(event, WorkflowsChanged):
                    self._scheduler.wake()

    async def _find(self, name: str, index: int) -> DefinedTrigger:
        workflow = (await self._workflows.get(name)).readable
        self._check_index(workflow, index)
        return defined_triggers(workflow)[index]

    def _check_index(self, workflow: Workflow, index: int) -> None:
        if not 0 <= index < len(workflow.triggers):
            raise NotFound(
                f"{workflow.name} has no trigger {index}.",
                hint=f"See: toolcrib workflow triggers {workflow.name}",
            )

    async def _activation(self, defined: DefinedTrigger) -> Activation | None:
        found = await self.store.activations(defined.workflow)
        return next((activation for activation in found if activation.trigger == defined.key), None)

    async def _obstacle(self, stored: StoredWorkflow) -> str:
        """Why no trigger of the workflow starts anything; empty if they do."""
        for problem in stored.problems:
            if not problem.warning:
                return f"The workflow is not valid: {problem.message}"
        try:
            await self._workflows.admit(stored.readable)
        except Denied as error:
            return f"{error.message} {error.hint}"
        return ""

    async def _state(
        self, defined: DefinedTrigger, activation: Activation | None, obstacle: str
    ) -> TriggerState:
        status, reason = standing(defined, activation)
        if status == "on" and obstacle:
            status, reason = "paused", obstacle
        last: Sequence[StartRecord] = await self.store.latest(defined.workflow, defined.key, 1)
        on = status == "on" and defined.type is not None
        trouble = self._scheduler.troubles.get((defined.workflow, defined.key), "")
        return TriggerState(
            defined=defined,
            status=status,
            reason=reason or (trouble if on else ""),
            next=defined.type.next(defined.settings, self._clock.now()) if on and defined.type else None,
            last=last[0] if last else None,
            failed=await self.store.failed(defined.workflow, defined.key, MOST_SHOWN + 1),
        )

    async def _secret(self, name: str) -> str | None:
        try:
            return await asyncio.to_thread(self._core.secrets.get, name)
        except MissingSecret:
            return None


def _hook(defined: DefinedTrigger, before: Activation | None) -> tuple[str | None, str, str]:
    """The token if it is new, its public part and its hash."""
    if defined.trigger.type != WEBHOOK:
        return None, "", ""
    if before is not None and before.hook:
        return None, before.hook, before.token_hash
    return new_hook_token()


def _machine(file: Path) -> str:
    """An id of this home, made once."""
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        identity = secrets.token_hex(8)
        write_atomic(file, identity.encode())
        return identity
