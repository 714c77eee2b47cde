"""Turns that run in the background: any number of subscribers follow one, join late, leave and return. Limits
how many events and ended turns are kept.

A subscriber that leaves stops nothing; `stop` and closing the host do. Events are numbered and kept, so that
a subscriber can continue where it left off. Of a very long turn, single text events of finished rounds are
dropped: `RoundEnded` has their whole text.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from toolcrib.agent.chat import Chat, Continued, Said
from toolcrib.agent.events import AgentEvent, CallMoved, RoundEnded, Speaking, Thinking, TurnEnded
from toolcrib.errors import CallFailed, NotFound, ToolcribError, UsageError
from toolcrib.schema.messages import Image, Usage

if TYPE_CHECKING:
    from toolcrib.agent.agent import Agent

MOST_KEPT = 5000
"""Events kept of one turn."""
ENDED_KEPT = 64
"""Ended turns that can still be followed."""
_WORDS = (Speaking, Thinking, CallMoved)
Events = AsyncGenerator[AgentEvent, None]


class LiveTurn:
    """One turn in the background; created by `Turns`."""

    def __init__(self, agent: Agent, chat: Chat, since: int) -> None:
        self.id = secrets.token_hex(6)
        self.chat = chat.id
        self.since = since
        """Entries of the chat before the turn."""
        self._agent = agent
        self._told: list[tuple[int, AgentEvent]] = []
        self._number = 0
        self._news = asyncio.Event()
        self._ended: TurnEnded | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self._ended is None

    @property
    def number(self) -> int:
        return self._number

    async def follow(self, after: int = 0) -> AsyncGenerator[tuple[int, AgentEvent], None]:
        """Events after number `after`, each with its number; the last is `TurnEnded`."""
        while True:
            news = self._news
            for number, event in [entry for entry in self._told if entry[0] > after]:
                after = number
                yield number, event
            if self._ended is not None and after >= self._number:
                return
            await news.wait()

    async def result(self) -> TurnEnded:
        """The end of the turn; a failure is part of it and not raised."""
        async with aclosing(self.follow(self._number)) as events:
            async for _ in events:
                pass
        assert self._ended is not None
        return self._ended

    async def stop(self) -> TurnEnded:
        """Stop the turn; when this returns, nothing that it started is running."""
        if self._task is not None and self.running and not self._agent.halt(self.chat):
            self._task.cancel()  # It had not begun.
        return await self.result()

    async def stop_call(self, call: str) -> bool:
        """Stop one of its calls and continue without it; False if that call is not running."""
        return await self._agent.stop_call(self.chat, call)

    def _start(self, events: Events, done: Callable[[LiveTurn], None]) -> None:
        self._task = asyncio.create_task(self._run(events), name=f"live turn of {self.chat}")
        self._task.add_done_callback(lambda _: done(self))

    async def _run(self, events: Events) -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    self._tell(event)
        except asyncio.CancelledError:
            pass  # The generator is closed by now.
        except ToolcribError as error:
            self._tell(self._ending(error))
        except Exception as error:
            self._tell(self._ending(CallFailed(f"The turn failed: {type(error).__name__}: {error}")))
            raise
        finally:
            if self._ended is None:
                self._tell(self._ending(None))

    def _ending(self, failure: ToolcribError | None) -> TurnEnded:
        return TurnEnded(
            chat=self.chat,
            model=self._agent.model.name,
            answer="",
            ending="stopped" if failure is None else "failed",
            rounds=0,
            calls=(),
            usage=Usage(),
            cost=None,
            failure=failure,
        )

    def _tell(self, event: AgentEvent) -> None:
        self._number += 1
        self._told.append((self._number, event))
        if isinstance(event, TurnEnded):
            self._ended = event
        elif isinstance(event, RoundEnded) and len(self._told) > MOST_KEPT:
            self._told = [entry for entry in self._told if not isinstance(entry[1], _WORDS)]
        news, self._news = self._news, asyncio.Event()
        news.set()


class Turns:
    """The turns of a host, one at a time in each chat."""

    def __init__(self) -> None:
        self._turns: dict[str, LiveTurn] = {}

    async def start(
        self, agent: Agent, text: str, *, chat: Chat | None = None, images: Sequence[Image] = ()
    ) -> LiveTurn:
        """Start answering a question; raises `UsageError` if the chat is busy."""
        if chat is None:
            return self.answer(agent, await agent.open_chat(text, images))
        return self._start(agent, chat, agent.run(text, chat=chat, images=images), len(chat.entries))

    def ask(self, agent: Agent, chat: Chat, asked: Said) -> LiveTurn:
        """Start answering this question, which is added to the chat; raises `UsageError` if it is busy."""
        return self._start(agent, chat, agent.answer(chat, asked), len(chat.entries))

    def answer(self, agent: Agent, chat: Chat) -> LiveTurn:
        """Start answering the last question of a chat."""
        return self._start(agent, chat, agent.answer(chat), len(chat.entries) - 1)

    def resume(self, agent: Agent, chat: Chat) -> LiveTurn:
        """Continue an answer that ended early; raises `UsageError` if there is none, or if busy."""
        if not chat.unfinished:
            raise UsageError("The last answer of this chat is complete.", hint="Ask something new instead.")
        return self._start(agent, chat, agent.answer(chat, Continued()), len(chat.entries))

    async def call(self, agent: Agent, chat: Chat, tool: str, arguments: Mapping[str, Any]) -> LiveTurn:
        """Start a call by hand in a chat; raises `UsageError` if the chat is busy."""
        return self._start(agent, chat, agent.call(chat, tool, arguments), len(chat.entries))

    def get(self, turn: str) -> LiveTurn:
        """A turn by its id, running or recently ended; raises `NotFound`."""
        found = self._turns.get(turn)
        if found is None:
            raise NotFound(
                f"There is no turn {turn!r}.", hint="It ended some time ago; the chat has its result."
            )
        return found

    def of(self, chat: str) -> LiveTurn | None:
        """The latest turn of a chat, if known."""
        return next((turn for turn in reversed(self._turns.values()) if turn.chat == chat), None)

    def running(self) -> list[LiveTurn]:
        return [turn for turn in self._turns.values() if turn.running]

    async def close(self) -> None:
        await asyncio.gather(*(turn.stop() for turn in self.running()))

    def _start(self, agent: Agent, chat: Chat, events: Events, since: int) -> LiveTurn:
        latest = self.of(chat.id)
        if (latest is not None and latest.running) or chat.id in agent.chats.busy:
            from toolcrib.agent.agent import BUSY

            raise UsageError(BUSY, hint="Wait until it ends, or stop it.")
        turn = LiveTurn(agent, chat, since)
        self._turns[turn.id] = turn
        turn._start(events, self._forget)
        return turn

    def _forget(self, ended: LiveTurn) -> None:
        over = [turn.id for turn in self._turns.values() if not turn.running]
        for old in over[: max(0, len(over) - ENDED_KEPT)]:
            del self._turns[old]
