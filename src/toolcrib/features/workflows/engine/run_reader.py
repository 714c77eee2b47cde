"""Reads runs and their steps from the tables of DBOS and from our own: filters and order of the list, states
as shown, steps in their order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from toolcrib.errors import NotFound
from toolcrib.features.workflows.engine.dbos_internals import SystemSchema
from toolcrib.features.workflows.engine.documents import RunPlan, map_item
from toolcrib.features.workflows.engine.outcomes import (
    ACTIVE_STATUSES,
    FinalOutcome,
    among,
    error_in,
    of_family,
    output,
    read_or_none,
    status,
)
from toolcrib.features.workflows.engine.runtime import Runtime
from toolcrib.features.workflows.engine.serializer import shown
from toolcrib.features.workflows.engine.tables import runs
from toolcrib.features.workflows.engine.waits import Wait, WaitKey, asking_roots, moment
from toolcrib.features.workflows.records import RunPath, RunQuestion, RunRecord, StepRecord, path_in
from toolcrib.features.workflows.secret_inputs import without_marks
from toolcrib.graph.trace import Outcome
from toolcrib.graph.walk import RunDecision, Visit
from toolcrib.schema.workflows import RunState, StepState

steps = SystemSchema.operation_outputs
_FINAL: Mapping[str, RunState] = {
    "SUCCESS": "finished",
    "ERROR": "failed",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "failed",
    "CANCELLED": "cancelled",
}
_STATUSES = {
    state: tuple(name for name, final in _FINAL.items() if final == state) for state in set(_FINAL.values())
}
FEW = 2000
TOGETHER = 100
"""Workflows in one query; SQLite combines at most 500."""
LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True)
class _Recorded:
    """A run or an item of a map, with what was recorded of it."""

    run: str
    path: str
    item: Mapping[str, Any] | None
    """As it is stored."""
    traces: Mapping[str, Mapping[str, Any]]
    over: RunState | None


@dataclass(frozen=True, kw_only=True)
class RunSelection:
    """Which runs are listed."""

    workflow: str | None = None
    state: RunState | None = None
    limit: int | None = 50
    before: str | None = None
    """A run: only earlier ones are listed."""
    prefix: str = ""
    """The beginning of their ids."""
    asked: Collection[str] = ()
    """Runs with calls that wait for an approval, and those that they are part of."""


class RunReader:
    """Builds what users see of runs."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def run(self, run: str, asked: Collection[str] = ()) -> RunRecord:
        rows = await self._runtime.database.run(
            lambda connection: self._load(connection, _listed().where(runs.c.run == run), asked)
        )
        if not rows:
            raise NotFound(f"There is no run {run!r}.", hint="List the runs: toolcrib workflow runs.")
        return rows[0]

    async def runs(self, chosen: RunSelection) -> list[RunRecord]:
        """The latest first."""
        found: list[RunRecord] = []
        while True:
            rows = await self._runtime.database.run(
                lambda connection, part=chosen: self._load(  # type: ignore[misc]
                    connection, _selected(connection, part), part.asked
                )
            )
            # A question that no host stored is not shown: its run was selected, but is not waiting.
            kept = [row for row in rows if chosen.state in (None, row.state)]
            found += kept
            if chosen.limit is None or len(rows) < chosen.limit or len(kept) == len(rows):
                return found
            chosen = replace(chosen, limit=chosen.limit - len(kept), before=rows[-1].run)

    async def latest(self, workflows: Sequence[str], each: int, asked: Collection[str]) -> list[RunRecord]:
        """The latest runs of each of these workflows."""
        found: list[RunRecord] = []
        for start in range(0, len(workflows), TOGETHER):
            query = _listed().where(runs.c.run.in_(_latest(workflows[start : start + TOGETHER], each)))
            found += await self._runtime.database.run(
                lambda connection, query=query: self._load(connection, query, asked)  # type: ignore[misc]
            )
        return found

    def _load(
        self, connection: sa.Connection, query: sa.Select[Any], asked: Collection[str]
    ) -> list[RunRecord]:
        rows = list(connection.execute(query))
        active = [row.run for row in rows if row.status not in _FINAL]
        questions = self._runtime.waits.questions_of(connection, active)
        ended = _last_ends(connection, [row.run for row in rows if row.completed_at])
        return [
            _record(row, questions.get(row.run, []), ended.get(row.run), row.run in asked) for row in rows
        ]

    async def questions(self, run: str) -> list[tuple[RunQuestion, WaitKey]]:
        return [(_question(wait, run), wait.key) for wait in await self._runtime.waits.open_questions(run)]

    async def before(self, run: str, step: str) -> Sequence[Mapping[str, Any]]:
        """The traces of the steps of a run before this one, in their order."""
        plan = await self._runtime.documents.plan(run)
        own = await self._runtime.database.run(
            lambda connection: _traces(connection, run, self._runtime.serializer.deserialize)
        )
        for trace in own.values():
            self._runtime.serializer.check_run(trace, run)
        recorded = [*plan.recorded, *plan.secrets.reveal(list(own.values()))]
        names = [trace["step"] for trace in recorded]
        first = step.partition("/")[0].partition("[")[0]
        walk, _ = plan.walk()
        walk.take_over({trace["step"]: Outcome.of(trace) for trace in recorded})
        under_way = walk.next()
        if isinstance(under_way, Visit) and under_way.step == first:
            return recorded
        if first not in names:
            raise NotFound(f"{run} has no step {step!r}.", hint=f"Its steps: {', '.join(names[-20:])}.")
        return recorded[: names.index(first)]

    async def path(self, run: str, asked: Collection[str] = ()) -> RunPath:
        record = await self.run(run)
        plan = await self._runtime.documents.plan_to_show(run)
        parts = await self._runtime.database.run(lambda connection: _parts(connection, run))
        ways = [self._path_of(part, plan, record, asked) for part in parts]
        steps = sorted((step for way in ways for step in way.steps), key=_order)
        return RunPath(steps=steps, decisions=_together([one for way in ways for one in way.decisions]))

    def _path_of(self, part: _Recorded, plan: RunPlan, record: RunRecord, asked: Collection[str]) -> RunPath:
        """Recorded visits, then the one under way, which follows from them."""
        reused = {trace["step"]: trace for trace in plan.recorded} if part.item is None else {}
        found = [_step(trace, part.path, plan, reused=True) for trace in reused.values()]
        found += [_step(trace, part.path, plan) for trace in part.traces.values()]
        walk, _ = plan.walk(map_item({"item": part.item}, plan.secrets))
        recorded = plan.secrets.reveal(part.traces)
        walk.take_over({step: Outcome.of(trace) for step, trace in recorded.items()})
        visit = walk.next()
        if isinstance(visit, Visit) and record.state != "queued" and part.over != "finished":
            kind = plan.graph.nodes[visit.node].node.type
            state = self._state(part, visit.step, record, asked)
            found.append(StepRecord(step=part.path + visit.step, node=visit.node, type=kind, state=state))
        hidden = plan.secrets.shown
        decided = [replace(one, reason=str(hidden(one.reason))) for one in walk.decisions.values()]
        return RunPath(steps=found, decisions=decided)

    def _state(self, part: _Recorded, step: str, record: RunRecord, asked: Collection[str]) -> StepState:
        if part.over is not None:
            return "cancelled"
        for question in record.questions:
            if question.step == part.path + step:
                return "uncertain" if question.uncertain else "waiting"
        held = [*(question.step for question in record.questions), *record.paused_at]
        if part.run in asked or any(_is_in(held_step, part.path + step) for held_step in held):
            return "waiting"
        active = self._runtime.active.get(part.run)
        return active.states.get(step, "running") if active is not None else "running"


def _selected(connection: sa.Connection, chosen: RunSelection) -> sa.Select[Any]:
    created: sa.ColumnElement[float] = runs.c.created
    query = _listed().where(runs.c.parent.is_(None))
    if chosen.workflow is not None:
        query = query.where(runs.c.workflow == chosen.workflow)
    if chosen.before is not None:
        last = sa.select(created).where(runs.c.run == chosen.before).scalar_subquery()
        same = sa.and_(created == last, runs.c.run > chosen.before)
        query = query.where(sa.or_(created < last, same))
    if chosen.state is not None:
        column: sa.ColumnElement[str] = status.c.status
        statuses = _STATUSES.get(chosen.state, ACTIVE_STATUSES)
        if connection.dialect.name == "sqlite":
            # It has no statistics. An expression keeps it from using the index of the column.
            if chosen.state not in _STATUSES or _are_few(connection, statuses):
                created = created + 0
            else:
                column = column.concat("")
        query = query.where(column.in_(statuses), _has_state(connection, chosen.state, chosen.asked))
    if chosen.prefix:
        name = runs.c.run if connection.dialect.name == "sqlite" else runs.c.run.collate("C")
        query = query.where(name >= chosen.prefix, name < chosen.prefix + LAST_CHARACTER)
    return query.order_by(created.desc(), runs.c.run).limit(chosen.limit)


def _latest(workflows: Iterable[str], each: int) -> sa.CompoundSelect[Any]:
    """Their ids, each workflow's by the index of its times."""
    parts = [
        sa.select(runs.c.run)
        .where(runs.c.workflow == name, runs.c.parent.is_(None))
        .order_by(runs.c.created.desc())
        .limit(each)
        .subquery()
        for name in workflows
    ]
    return sa.union_all(*(sa.select(part.c.run) for part in parts))


def possible_runs(workflow: str, name: str, value: Any) -> sa.Select[Any]:
    """The active runs of a workflow that may have this value as an input, from the text of what is stored.

    A secret one may be any: it is encrypted.
    """
    inputs = SystemSchema.workflow_input
    joined = runs.join(status, status.c.workflow_uuid == runs.c.run).join(
        inputs, inputs.c.workflow_uuid == runs.c.run
    )
    plain = "" if isinstance(value, dict | list) else json.dumps(value, ensure_ascii=False)
    text = f"{json.dumps(name, ensure_ascii=False)}:{plain.removesuffix('.0')}"
    stored = [inputs.c.inputs.contains(part, autoescape=True) for part in (text, '"sealed":')]
    mine = (runs.c.workflow == workflow, runs.c.parent.is_(None), status.c.status.in_(ACTIVE_STATUSES))
    return sa.select(runs.c.run).select_from(joined).where(*mine, sa.or_(*stored)).order_by(runs.c.created)


def _are_few(connection: sa.Connection, statuses: Collection[str]) -> bool:
    """Whether it costs less to read and sort them all than to look for them in the order of time."""
    some = sa.select(status.c.workflow_uuid).where(status.c.status.in_(statuses)).limit(FEW + 1)
    count = sa.select(sa.func.count()).select_from(some.subquery())
    return connection.execute(count).scalar_one() <= FEW


def _has_state(connection: sa.Connection, state: RunState, asked: Collection[str]) -> sa.ColumnElement[bool]:
    """What `_state_of` says of a row with the status of this state, as a condition."""
    waiting = runs.c.run.in_(asking_roots(connection))
    paused = runs.c.paused_at != "[]"
    begun = sa.or_(status.c.status == "PENDING", sa.func.coalesce(status.c.recovery_attempts, 0) > 0)
    approval = sa.and_(sa.not_(paused), begun, among(connection, runs.c.run, asked))
    states: Mapping[RunState, sa.ColumnElement[bool]] = {
        "waiting": sa.or_(waiting, approval),
        "paused": sa.and_(sa.not_(waiting), paused),
        "running": sa.not_(sa.or_(waiting, paused, sa.not_(begun), approval)),
        "queued": sa.not_(sa.or_(waiting, paused, begun)),
    }
    return states.get(state, sa.true())


def _listed() -> sa.Select[Any]:
    joined = runs.join(status, status.c.workflow_uuid == runs.c.run)
    joined = joined.outerjoin(output, output.c.workflow_uuid == runs.c.run)
    return sa.select(
        runs,
        status.c.status,
        status.c.executor_id,
        status.c.recovery_attempts,
        status.c.completed_at,
        output.c.output,
        output.c.error,
    ).select_from(joined)


def _record(row: Any, waits: list[Wait], last_step: int | None, asked: bool) -> RunRecord:
    outcome = FinalOutcome(row.status, row.output, row.error)
    state = _state_of(row, waits, asked)
    return RunRecord(
        run=row.run,
        workflow=row.workflow,
        state=state,
        created=datetime.fromtimestamp(row.created, UTC),
        ended=_ended(row, last_step),
        outputs=without_marks((read_or_none(row.output) or {}).get("outputs"))
        if state == "finished"
        else None,
        error=without_marks(error_in(outcome)) if state == "failed" else None,
        parent=row.parent,
        from_run=row.from_run,
        worker=row.executor_id,
        questions=tuple(_question(wait, row.run) for wait in waits),
        paused_at=tuple(json.loads(row.paused_at)),
    )


def _last_ends(connection: sa.Connection, over: Collection[str]) -> dict[str, int | None]:
    """When the last steps of these runs ended, in milliseconds."""
    if not over:
        return {}
    mine = steps.c.workflow_uuid == runs.c.run
    last = sa.select(steps.c.completed_at_epoch_ms).where(mine).order_by(steps.c.function_id.desc()).limit(1)
    query = sa.select(runs.c.run, last.scalar_subquery()).where(among(connection, runs.c.run, over))
    return {row.run: row[1] for row in connection.execute(query)}


def _ended(row: Any, last_step: int | None) -> datetime | None:
    """Never before the run began or its last step ended: stored times are cut to milliseconds, and by earlier
    versions in SQLite to seconds; the clock of a database server may be slow."""
    if not row.completed_at:
        return None
    latest = max(row.completed_at, last_step or 0) + 1
    return datetime.fromtimestamp(max(latest / 1000, row.created), UTC)


def _state_of(row: Any, waits: list[Wait], asked: bool) -> RunState:
    if row.status in _FINAL:
        return _FINAL[row.status]
    if waits:
        return "waiting"
    if row.paused_at != "[]":
        return "paused"
    if row.status != "PENDING" and not row.recovery_attempts:
        return "queued"
    return "waiting" if asked else "running"


def _question(wait: Wait, root: str) -> RunQuestion:
    content = without_marks(wait.content)
    return RunQuestion(
        run=root,
        step=path_in(wait.key.run, root) + wait.key.step,
        asked_by=wait.root,
        text=content["text"],
        choices=tuple(content["choices"]),
        fields=content["fields"],
        shown=content["shown"],
        picture=content["picture"],
        asked=datetime.fromtimestamp(wait.since, UTC),
        deadline=moment(wait.until),
        uncertain=wait.kind == "uncertain",
    )


def _is_in(step: str, outer: str) -> bool:
    """Whether a step is this one, or a part of it as the step of a sub-workflow or of a second attempt."""
    return step == outer or step.startswith((f"{outer}/", f"{outer}~"))


def _traces(
    connection: sa.Connection, run: str, read: Callable[[str], Any] = read_or_none
) -> dict[str, Mapping[str, Any]]:
    query = sa.select(steps.c.output).where(steps.c.workflow_uuid == run).order_by(steps.c.function_id)
    found = (read(text) for text in connection.execute(query).scalars() if text)
    return {trace["step"]: trace for trace in found if isinstance(trace, dict) and "step" in trace}


def _parts(connection: sa.Connection, run: str) -> list[_Recorded]:
    """The run and the items of its maps; sub-workflows are runs of their own."""
    inputs = SystemSchema.workflow_input
    name = status.c.workflow_uuid
    query = (
        sa.select(name, status.c.status, inputs.c.inputs)
        .join(inputs, inputs.c.workflow_uuid == name)
        .where(of_family(connection, name, run))
    )
    parts = []
    for row in connection.execute(query):
        document = shown(row.inputs)["args"][0]
        if row.workflow_uuid == run or document.get("root") == run:
            traces = _traces(connection, row.workflow_uuid)
            path, item = document.get("path", ""), document.get("item")
            parts.append(_Recorded(row.workflow_uuid, path, item, traces, _FINAL.get(row.status)))
    return parts


def _step(trace: Mapping[str, Any], path: str, plan: RunPlan, *, reused: bool = False) -> StepRecord:
    shown: Mapping[str, Any] = plan.secrets.shown({**trace, "step": path + trace["step"]})
    return StepRecord(
        step=shown["step"],
        node=shown["node"],
        type=shown["type"],
        state=shown["state"],
        attempts=len(shown["attempts"]),
        started=datetime.fromisoformat(shown["started"]),
        ended=datetime.fromisoformat(shown["ended"]),
        error=shown["error"],
        reused=reused,
        trace=shown,
    )


def _together(decisions: Iterable[RunDecision]) -> list[RunDecision]:
    """Those of one node in the run and in the items of its maps as one, with the reason of the last."""
    found: dict[str, RunDecision] = {}
    for one in decisions:
        before = found[one.node].taken if one.node in found else {}
        counts = {
            output: before.get(output, 0) + one.taken.get(output, 0) for output in {**before, **one.taken}
        }
        found[one.node] = replace(one, taken=counts)
    return list(found.values())


def _order(step: StepRecord) -> tuple[bool, datetime]:
    """By their beginning; what is under way comes last, what was taken over first."""
    return step.started is None, step.started or datetime.max.replace(tzinfo=UTC)
