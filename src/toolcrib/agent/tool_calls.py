"""Runs the tools that a model asked for in parallel, up to a limit, and turns every outcome into an answer.
Has the error texts for cut-off or invalid arguments and for excluded tools.

No failure of a tool ends the turn. A cancelled turn cancels running calls, waits for their end, and leaves an
answer for every call. A single call can be stopped too; the turn then continues without it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace

from toolcrib.agent.builtin_tools import found_result, read_on, search_arguments
from toolcrib.agent.chat import Chat, FullResult, interrupted
from toolcrib.agent.events import (
    AgentEvent,
    CallBegan,
    CallEnded,
    CallMoved,
    CallQueued,
    Notice,
    ToolsOffered,
)
from toolcrib.agent.ports import ToolCaller
from toolcrib.agent.prompt import READ, SEARCH
from toolcrib.agent.results import show, show_error, unseen_pictures
from toolcrib.agent.tool_offer import ToolOffer
from toolcrib.chats.result_text import plain
from toolcrib.errors import Denied, InvalidArguments, ToolcribError
from toolcrib.schema.messages import Text, ToolAnswer, ToolUse
from toolcrib.schema.tools import Principal, ToolResult
from toolcrib.serverkit import caller_context
from toolcrib.tools.ports import Decision
from toolcrib.tools.results import outcome_of


class Slots:
    """Limits how many calls run at once; a call that waits for an approval lends its slot to the next."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._holding: set[str] = set()
        self._waiting: dict[str, asyncio.Future[None]] = {}

    @property
    def full(self) -> bool:
        return len(self._holding) >= self._count

    @asynccontextmanager
    async def held(self, call: str) -> AsyncIterator[None]:
        """Hold a slot during the block, once there is one."""
        try:
            if self.full:
                self._waiting[call] = asyncio.get_running_loop().create_future()
                await self._waiting[call]
            self._holding.add(call)
            yield
        finally:
            self._waiting.pop(call, None)
            self.lend(call)

    def lend(self, call: str) -> None:
        """Give the slot to the call that has waited longest."""
        self._holding.discard(call)
        while self._waiting and not self.full:
            following = next(iter(self._waiting))
            turn = self._waiting.pop(following)
            if not turn.cancelled():
                self._holding.add(following)
                turn.set_result(None)

    def take_back(self, call: str) -> None:
        """Take a slot again at once, even if all are taken: the user has just allowed this call."""
        self._holding.add(call)


_PREVIEW = 500
_SLACK = 500
"""Extra characters for the note at the end of a part of a cut result."""
NOTICED_AFTER = 0.3
"""Seconds after which a call that waits for the gate is reported as queued."""
CUT = "the call was cut off by the output limit and was not run."
SHORTER = "Make the call shorter, or split it into several calls."
ASKED = "asked"
"""Stands for a rule if the user decided."""
Emit = Callable[[AgentEvent], None]


@dataclass(kw_only=True)
class CallRunner:
    caller: ToolCaller
    principal: Principal
    chat: Chat
    offer: ToolOffer
    emit: Emit
    keep: Callable[[FullResult], None]
    recorded: Callable[[], Awaitable[None]]
    """Returns once the chat is on disk: what runs must be known after a crash."""
    limit: int
    at_once: int
    images: bool
    watch: Callable[[str], AbstractContextManager[None]] = lambda tool: nullcontext()
    """Entered around a call; knows for which chat a server works."""
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    """Running calls, by id."""
    _stopped: set[str] = field(default_factory=set)
    _rules: dict[str, str] = field(default_factory=dict)
    """The approval rule that decided a call, by call id."""
    _unseen: set[str] = field(default_factory=set)
    """Tools whose unseen pictures were already reported."""
    _held: set[str] = field(default_factory=set)
    """Calls reported as queued at the gate."""
    _at_gate: set[str] = field(default_factory=set)
    """Calls that the gate has not decided yet."""
    _slots: Slots = field(default_factory=lambda: Slots(1))
    _allowed: dict[str, float | None] = field(default_factory=dict)
    """When a call was allowed, None before: waiting for an approval is not the tool's time."""

    async def run(self, calls: Sequence[ToolUse], done: dict[str, ToolAnswer]) -> None:
        """Run the calls; each answer is put into `done` as it arrives, even if this is cancelled."""
        await self.recorded()
        slots = self._slots = Slots(self.at_once)
        tasks = [self._begin(call, done, slots) for call in calls]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                if not task.cancelling():  # Once only: a second time would cancel the clean-up.
                    task.cancel()
            await asyncio.wait(tasks)

    def stop(self, call: str) -> asyncio.Task[None] | None:
        """Stop one call by its id; its task ends when it has stopped. None if it is not running."""
        task = self._tasks.get(call)
        if task is not None and not task.cancelling():
            self._stopped.add(call)
            task.cancel()
        return task

    def _begin(self, call: ToolUse, done: dict[str, ToolAnswer], slots: Slots) -> asyncio.Task[None]:
        task = asyncio.create_task(self._one(call, done, slots), name=f"call {call.name[:60]}")
        self._tasks[call.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(call.id, None))
        return task

    async def _one(self, call: ToolUse, done: dict[str, ToolAnswer], slots: Slots) -> None:
        started: float | None = None
        ended: list[int] = []
        caller_context.ended.set(ended.append)
        try:
            if slots.full:
                self.emit(CallQueued(id=call.id, tool=call.name, arguments=call.arguments))
            async with slots.held(call.id):
                started = time.perf_counter()
                self.emit(CallBegan(id=call.id, tool=call.name, arguments=call.arguments))
                answer = await self._answer(call)
        except asyncio.CancelledError:
            alone = call.id in self._stopped
            made = started is not None and call.id not in self._at_gate
            self._end(call, interrupted(call, alone=alone, made=made, ended=sum(ended)), started, done)
            if alone:
                return
            raise
        self._end(call, answer, started, done)

    def _end(
        self, call: ToolUse, answer: ToolAnswer, started: float | None, done: dict[str, ToolAnswer]
    ) -> None:
        began = self._allowed.pop(call.id, started)
        ms = 0.0 if began is None else (time.perf_counter() - began) * 1000
        rule = self._rules.pop(call.id, "")
        self._at_gate.discard(call.id)
        done[call.id] = replace(answer, ms=ms, rule=rule)
        self.emit(
            CallEnded(
                id=call.id,
                tool=call.name,
                arguments=call.arguments,
                outcome=answer.outcome,
                ms=round(ms, 1),
                text=plain(answer.text)[:_PREVIEW],
                images=len(answer.images),
                rule=rule,
            )
        )

    async def _answer(self, call: ToolUse) -> ToolAnswer:
        try:
            result = await self._call(call)
        except ToolcribError as error:
            outcome = outcome_of(error)
            parts: tuple[Text, ...] = show_error(call.name, error, outcome)
            return ToolAnswer(id=call.id, name=call.name, parts=parts, outcome=outcome)
        name = f"r{self.chat.keeps + 1}"
        limit = self.limit + _SLACK if call.name == READ else self.limit
        shown = show(call.name, result, limit=limit, name=name, images=self.images)
        if shown.unseen and call.name not in self._unseen:
            self._unseen.add(call.name)
            self.emit(Notice(unseen_pictures(shown.unseen, call.name)))
        if shown.whole is not None:
            self.keep(FullResult(name=name, text=shown.whole))
            self.offer.allow_reading()
        outcome = "tool_error" if result.get("isError") else "ok"
        return ToolAnswer(id=call.id, name=call.name, parts=shown.parts, outcome=outcome)

    async def _call(self, call: ToolUse) -> ToolResult:
        if call.cut:
            raise InvalidArguments(f"{call.name}: {CUT}", hint=SHORTER)
        if call.broken is not None:
            raise InvalidArguments(
                f"{call.name}: the arguments are not a JSON object: {call.broken[:200]}",
                hint="Repeat the call with arguments that are valid JSON with finite numbers.",
            )
        if self.offer.is_banned(call.name):
            raise Denied(f"{call.name} is excluded from this chat.", hint="The user has excluded it.")
        if call.name == SEARCH:
            return await self._search(call)
        if call.name == READ:
            return read_on(self.chat, call.arguments, self.limit)

        def moved(progress: float, total: float | None, message: str | None) -> None:
            self.emit(CallMoved(id=call.id, progress=progress, total=total, message=message))

        def decided(decision: Decision) -> None:
            asked = "allowed" in decision.noted  # The user's answer counts before the rule that asked.
            self._rules[call.id] = ASKED if asked else decision.rule or ""
            self._allowed[call.id] = time.perf_counter()
            self._at_gate.discard(call.id)
            waiting.cancel()
            slots.take_back(call.id)
            if call.id in self._held and decision.allowed:
                self.emit(CallBegan(id=call.id, tool=call.name, arguments=call.arguments))

        self._allowed[call.id] = None
        slots = self._slots
        self._at_gate.add(call.id)
        waiting = asyncio.get_running_loop().call_later(NOTICED_AFTER, self._hold, call)
        try:
            with self.watch(call.name):
                return await self.caller.call(
                    call.name, call.arguments, principal=self.principal, on_progress=moved, on_decided=decided
                )
        finally:
            waiting.cancel()
            self._held.discard(call.id)

    def _hold(self, call: ToolUse) -> None:
        """The gate takes longer: the user is asked about this call or another one."""
        self._held.add(call.id)
        self._slots.lend(call.id)
        self.emit(CallQueued(id=call.id, tool=call.name, arguments=call.arguments))

    async def _search(self, call: ToolUse) -> ToolResult:
        query, limit = search_arguments(call.arguments)
        found, new = await self.offer.search(query, limit)
        if new:
            why = f"sought: {query[:100]}"
            self.emit(ToolsOffered(tools=tuple({"name": hit.tool.name, "why": why} for hit in new)))
        return found_result(found, self.offer.total)
