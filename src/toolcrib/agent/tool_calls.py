"""Calls the tools that a model asked for, all at once, and tells whatever happens as an answer.

Nothing that a tool does ends the turn. A cancelled turn cancels what still runs, waits until it has ended,
and leaves an answer for every call. A single call can be stopped too; the turn then goes on without it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from toolcrib.agent.chat import Chat, Kept, interrupted
from toolcrib.agent.events import (
    AgentEvent,
    CallBegan,
    CallEnded,
    CallMoved,
    CallQueued,
    Notice,
    ToolsOffered,
)
from toolcrib.agent.own_tools import found_result, read_on, search_arguments
from toolcrib.agent.ports import Door
from toolcrib.agent.prompt import READ, SEARCH
from toolcrib.agent.results import plain, show, show_error, unseen_pictures
from toolcrib.agent.slots import Slots
from toolcrib.agent.tool_offer import Offering
from toolcrib.errors import Denied, InvalidArguments, ToolcribError
from toolcrib.schema.messages import Text, ToolAnswer, ToolUse
from toolcrib.schema.tools import Principal, ToolResult
from toolcrib.serverkit import caller_context
from toolcrib.tools.outcomes import outcome_of
from toolcrib.tools.ports import Decision

_PREVIEW = 500
_SLACK = 500
"""Characters that a piece of a cut result may be longer by, for the note at its end."""
NOTICED_AFTER = 0.3
"""Seconds at the gate from which on a call is told to wait."""
CUT = "the call was cut off by the output limit and was not run."
SHORTER = "Make the call shorter, or split it into several calls."
ASKED = "asked"
"""In the place of a rule: a person decided."""
Emit = Callable[[AgentEvent], None]


@dataclass(kw_only=True)
class Calling:
    """How the calls of a turn are made."""

    door: Door
    principal: Principal
    chat: Chat
    offering: Offering
    emit: Emit
    keep: Callable[[Kept], None]
    limit: int
    at_once: int
    images: bool
    watch: Callable[[str], AbstractContextManager[None]] = lambda tool: nullcontext()
    """Entered around a call, for those who want to know what a server is asked on whose caller_context."""
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    """Calls that have not ended, by id."""
    _stopped: set[str] = field(default_factory=set)
    _rules: dict[str, str] = field(default_factory=dict)
    """Which rule of the gate decided a call, by the call's id."""
    _unseen: set[str] = field(default_factory=set)
    """Tools of which the user knows that the model cannot see their pictures."""
    _held: set[str] = field(default_factory=set)
    """Calls that have waited at the gate for long enough to say so."""
    _at_gate: set[str] = field(default_factory=set)
    """Calls that the gate has not decided: no tool has seen them."""
    _room: Slots = field(default_factory=lambda: Slots(1))
    _allowed: dict[str, float | None] = field(default_factory=dict)
    """When a call was let through, None before: waiting for an approval is not time of the tool."""

    async def run(self, calls: Sequence[ToolUse], done: dict[str, ToolAnswer]) -> None:
        """Make the calls; each answer is put into `done` as it comes, also when this is cancelled."""
        room = self._room = Slots(self.at_once)
        tasks = [self._begin(call, done, room) for call in calls]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                if not task.cancelling():  # Once is enough: a second time would end the ending itself.
                    task.cancel()
            await asyncio.wait(tasks)

    def stop(self, call: str) -> asyncio.Task[None] | None:
        """Stop one call by its id; the task ends when nothing of it is left. None when it does not run."""
        task = self._tasks.get(call)
        if task is not None and not task.cancelling():
            self._stopped.add(call)
            task.cancel()
        return task

    def _begin(self, call: ToolUse, done: dict[str, ToolAnswer], room: Slots) -> asyncio.Task[None]:
        task = asyncio.create_task(self._one(call, done, room), name=f"call {call.name[:60]}")
        self._tasks[call.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(call.id, None))
        return task

    async def _one(self, call: ToolUse, done: dict[str, ToolAnswer], room: Slots) -> None:
        started: float | None = None
        ended: list[int] = []
        caller_context.ended.set(ended.append)
        try:
            if room.full:
                self.emit(CallQueued(id=call.id, tool=call.name, arguments=call.arguments))
            async with room.held(call.id):
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
            self.keep(Kept(name=name, text=shown.whole))
            self.offering.allow_reading()
        outcome = "tool_error" if result.get("isError") else "ok"
        return ToolAnswer(id=call.id, name=call.name, parts=shown.parts, outcome=outcome)

    async def _call(self, call: ToolUse) -> ToolResult:
        if call.cut:
            raise InvalidArguments(f"{call.name}: {CUT}", hint=SHORTER)
        if call.broken is not None:
            raise InvalidArguments(
                f"{call.name}: the arguments are no JSON object: {call.broken[:200]}",
                hint="Write the whole call again with arguments that are valid JSON, all numbers finite.",
            )
        if self.offering.is_banned(call.name):
            raise Denied(f"{call.name} is not to be used in this chat.", hint="The person has banned it.")
        if call.name == SEARCH:
            return await self._search(call)
        if call.name == READ:
            return read_on(self.chat, call.arguments, self.limit)

        def moved(progress: float, total: float | None, message: str | None) -> None:
            self.emit(CallMoved(id=call.id, progress=progress, total=total, message=message))

        def decided(decision: Decision) -> None:
            asked = "allowed" in decision.noted  # A person's word counts before the rule that asked for it.
            self._rules[call.id] = ASKED if asked else decision.rule or ""
            self._allowed[call.id] = time.perf_counter()
            self._at_gate.discard(call.id)
            waiting.cancel()
            room.take_back(call.id)
            if call.id in self._held and decision.allowed:
                self.emit(CallBegan(id=call.id, tool=call.name, arguments=call.arguments))

        self._allowed[call.id] = None
        room = self._room
        self._at_gate.add(call.id)
        waiting = asyncio.get_running_loop().call_later(NOTICED_AFTER, self._hold, call)
        try:
            with self.watch(call.name):
                return await self.door.call(
                    call.name,
                    call.arguments,
                    principal=self.principal,
                    on_progress=moved,
                    on_decided=decided,
                )
        finally:
            waiting.cancel()
            self._held.discard(call.id)

    def _hold(self, call: ToolUse) -> None:
        """The gate takes its time: a person is asked about this call, or about another one first."""
        self._held.add(call.id)
        self._room.lend(call.id)
        self.emit(CallQueued(id=call.id, tool=call.name, arguments=call.arguments))

    async def _search(self, call: ToolUse) -> ToolResult:
        query, limit = search_arguments(call.arguments)
        found, new = await self.offering.search(query, limit)
        if new:
            why = f"sought: {query[:100]}"
            self.emit(ToolsOffered(tools=tuple({"name": one.tool.name, "why": why} for one in new)))
        return found_result(found, self.offering.total)
