"""One visit of a node: its attempts with pauses, timeouts and checks, and the trace of them all."""

from __future__ import annotations

import logging
from asyncio import timeout
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel

from toolcrib.errors import CallFailed, Denied, NotFound, UsageError
from toolcrib.features.workflows.engine.active_run import ActiveRun
from toolcrib.features.workflows.engine.visit_context import AGAIN, DONE, VisitContext, ask_again
from toolcrib.graph.node_type import UserAnswer
from toolcrib.graph.trace import MOST_NOTES, Trace, checked_value, error_of, shown
from toolcrib.graph.walk import Visit
from toolcrib.schema.workflows import NEXT, Check, Retry, StepState

logger = logging.getLogger(__name__)
ONCE = Retry(attempts=1)


class CheckFailed(CallFailed):
    """What should hold does not."""

    kind = "check_failed"


async def check_all(checks: Sequence[Check], context: VisitContext, values: Mapping[str, Any]) -> None:
    from toolcrib.features.workflows.checks import run_check

    """Note every outcome; raises `CheckFailed` for the first that fails."""
    outcomes = [await run_check(check, context, values) for check in checks]
    for outcome in outcomes:
        context.note("check", **asdict(outcome))
    if failed := [outcome.reason for outcome in outcomes if outcome.fails]:
        raise CheckFailed(f"A check failed: {failed[0]}.", hint="Look at the trace of the node.")


class StepTimeout(CallFailed):
    """One attempt took too long."""

    kind = "timeout"


class Attempts:
    """Runs one visit to its end."""

    def __init__(self, execution: ActiveRun, visit: Visit) -> None:
        self._execution = execution
        self._visit = visit
        self._compiled = execution.plan.graph.nodes[visit.node]
        self._node = self._compiled.node
        self._retry = self._node.retry or ONCE
        self._context = VisitContext(execution, visit.step, visit.node)
        self._context.notes += [dict(note) for note in visit.notes[-MOST_NOTES:]]
        self._attempts: list[dict[str, Any]] = []
        self._started = execution.clock.now()

    async def run(self) -> Trace:
        """The whole visit; a failure is part of the trace."""
        left = self._execution.time_left()
        try:
            async with timeout(left) as run_time:
                return await self._run()
        except TimeoutError:
            if not run_time.expired():
                raise
            limit = self._execution.info.workflow.options.timeout
            message = f"The run took longer than {limit:g} seconds."
            return self._failed({"kind": "run_timeout", "message": message, "hint": "", "fatal": True})

    async def _run(self) -> Trace:
        if self._visit.problem is not None:
            return self._failed(dict(self._visit.problem))
        if tools := self._execution.guard.unfinished(self._visit.step):
            decided = await self._confirm(tools, "Its worker stopped while it was running.")
            if decided is not None:
                return decided
        return await self._attempt_all()

    async def _attempt_all(self) -> Trace:
        for number in range(1, self._retry.attempts + 1):
            begun = self._execution.clock.now()
            try:
                value = await self._attempt(number)
            except Exception as error:  # noqa: BLE001 - a node may fail in any way
                self._note_attempt(begun, error)
                if number == self._retry.attempts or isinstance(error, UsageError | Denied | NotFound):
                    return self._failed(error_of(error))
                if self._context.unclear:
                    decided = await self._confirm([self._context.unclear], error_of(error)["message"])
                    if decided is not None:
                        return decided
                await self._pause(number)
            else:
                self._note_attempt(begun, None)
                await self._settle()
                return self._trace("done", value=value)
        raise AssertionError("The last attempt returns.")

    async def _attempt(self, number: int) -> Any:
        seconds = self._node.timeout if self._is_map else self._node.timeout or self._compiled.type.timeout
        time = self._context.begin_attempt(number, seconds)
        try:
            async with time:
                value = await self._run_node()
                await self._check(value)
                return value
        except TimeoutError:
            if not time.expired:
                raise
            raise StepTimeout(
                f"It took longer than {seconds:g} seconds.", hint="Raise the timeout of the node."
            ) from None

    @property
    def _is_map(self) -> bool:
        return self._compiled.type.flow == "map"

    async def _run_node(self) -> Any:
        settings = self._visit.settings
        if self._is_map:
            return await self._execution.children.run_map(self._context, self._visit)
        run = self._compiled.type.run
        if run is None:
            raise UsageError(f"A {self._node.type} cannot run.")
        result = await run(settings, self._context)
        return checked_value(result.model_dump(mode="json") if isinstance(result, BaseModel) else result)

    async def _check(self, value: Any) -> None:
        if not self._node.checks:
            return
        values = {**self._execution.walk.values, self._visit.node: value}
        await check_all(self._node.checks, self._context, values)

    async def _confirm(self, tools: list[str], reason: str) -> Trace | None:
        """Ask whether calls with an unknown outcome should run again; None if they should."""
        with self._execution.state(self._visit.step, "uncertain"):
            answer = await ask_again(self._execution, self._visit, tools, reason)
        choice = answer.choice if answer else None
        self._context.note("uncertain", tools=tools, reason=reason, choice=choice)
        if choice == AGAIN:
            await self._execution.guard.clear(self._visit.step)
            return None
        if answer is not None and choice == DONE:
            return self._trace("done", value=_known(answer))
        message = f"{', '.join(tools)} may or may not have run: {reason}"
        return self._failed({"kind": "uncertain", "message": message, "hint": "", "fatal": True}, "uncertain")

    async def _pause(self, number: int) -> None:
        """Before the next attempt. What was begun has a known outcome now."""
        await self._execution.guard.clear(self._visit.step)
        pause = min(self._retry.delay * self._retry.factor ** (number - 1), self._retry.longest)
        with self._execution.state(self._visit.step, "retrying"):
            await self._execution.clock.sleep(pause)

    async def _settle(self) -> None:
        if self._node.settle:
            await self._execution.clock.sleep(self._node.settle)

    def _note_attempt(self, begun: Any, error: Exception | None) -> None:
        if error is not None and error_of(error)["kind"] == "internal":
            logger.error(
                "a node failed", exc_info=error, extra={"run": self._execution.run, "step": self._visit.step}
            )
        self._attempts.append(
            {
                "started": begun.isoformat(),
                "ended": self._execution.clock.now().isoformat(),
                "error": None if error is None else error_of(error),
            }
        )

    def _failed(self, error: dict[str, Any], state: StepState = "failed") -> Trace:
        return self._trace(state, error=error)

    def _trace(self, state: StepState, value: Any = None, error: dict[str, Any] | None = None) -> Trace:
        level = self._node.trace
        settings = self._visit.settings
        inputs = settings.model_dump(mode="json") if settings is not None and level == "full" else None
        return {
            "step": self._visit.step,
            "node": self._visit.node,
            "type": self._node.type,
            "state": state,
            "output": "done" if self._is_map else NEXT,
            "value": value,
            "error": error,
            "inputs": shown(inputs, level),
            "attempts": self._attempts,
            "notes": self._context.notes if level != "off" else [],
            "artifacts": self._context.artifacts,
            "started": self._started.isoformat(),
            "ended": self._execution.clock.now().isoformat(),
        }


def _known(answer: UserAnswer) -> Any:
    """The result that the user filled in, if any."""
    return dict(answer.values) or None
