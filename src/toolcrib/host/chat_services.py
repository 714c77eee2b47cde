"""What chats need: models, stored chats and their live events. Decides how often new text and progress are
published, and how many ended turns can be replayed. Opened on first use.

The events of turns are published, and replayed to late subscribers. Each event has a number that grows by
one, so that a subscriber knows when it missed something. What is kept is folded: a text is one entry however
many words it came in. Words are published a few times a second, a tool's progress four times.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from toolcrib.agent.live import LiveTurn, Turns
from toolcrib.agent.ports import AgentQuestion, User
from toolcrib.agent.question_routing import OpenQuestions
from toolcrib.agent.tool_offer import ToolForms
from toolcrib.chats.reducer import EventLog
from toolcrib.config.secrets import SecretStore
from toolcrib.events import Bus
from toolcrib.host.chat_questions import QuestionWords
from toolcrib.host.core import HostCore
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.llm.context import ModelContext
from toolcrib.llm.models import ModelRegistry
from toolcrib.schema.events import Event, TurnTold
from toolcrib.schema.tools import Tool
from toolcrib.store.chat_rows import ChatRows
from toolcrib.store.chats import Chats
from toolcrib.tasks import TaskSet, cancel_and_wait
from toolcrib.tools.masker import Masker
from toolcrib.tools.names import BORDER

Json = dict[str, Any]
Describe = Callable[[str, Mapping[str, Any]], Awaitable[Json]]
"""Describes an event of a chat, in this folder, for the page and other surfaces."""

PAUSE = 0.06
"""Seconds between two tellings of words."""
PROGRESS_PAUSE = 0.25
KEPT_TURNS = 50
"""Turns that ended and are still remembered; the chat itself is in the store."""


@dataclass(eq=False)
class _Teller:
    """One turn's news."""

    chat: str
    turn: str
    since: int
    log: EventLog = field(default_factory=EventLog)
    number: int = 0
    ended: bool = False
    words: Json | None = None
    """Words that were not told yet."""
    moved: dict[str, Json] = field(default_factory=dict)
    """Progress that was not told yet, by call."""
    wake: asyncio.TimerHandle | None = None


@dataclass(frozen=True, kw_only=True)
class Told:
    """The events of a turn so far; a reader that continues after `number` gets each event once."""

    turn: str
    since: int
    """Entries that the chat had before it."""
    number: int
    running: bool
    events: list[Json]


class ChatFeed:
    """Follows turns; `close` ends that, the turns themselves belong to others."""

    def __init__(self, bus: Bus[Event], describe: Describe) -> None:
        self._bus = bus
        self._describe = describe
        self._tellers: OrderedDict[str, _Teller] = OrderedDict()
        self._tasks = TaskSet()

    def follow(self, turn: LiveTurn, first: Mapping[str, Any]) -> None:
        """Tell of a turn from its beginning; `first` says what was asked."""
        teller = _Teller(turn.chat, turn.id, turn.since)
        self._tellers[turn.chat] = teller
        self._tellers.move_to_end(turn.chat)
        self._forget()
        self._tell(teller, dict(first))
        self._tasks.start(self._run(teller, turn), name=f"news of {turn.chat}")

    def of(self, chat: str) -> Told | None:
        """The latest turn of a chat, as far as it was told."""
        teller = self._tellers.get(chat)
        if teller is None:
            return None
        self._flush(teller)
        return Told(
            turn=teller.turn,
            since=teller.since,
            number=teller.number,
            running=not teller.ended,
            events=teller.log.events(),
        )

    def questions(self, chat: str) -> int:
        """How many questions of a chat wait for its person."""
        teller = self._tellers.get(chat)
        return 0 if teller is None or teller.ended else len(teller.log.turn.open_questions)

    def busy(self, chat: str, reason: str, seconds: float) -> None:
        """The chat's model is busy and is asked again after so many seconds."""
        teller = self._tellers.get(chat)
        if teller is not None and not teller.ended:
            self._flush(teller)
            self._tell(teller, {"event": "busy", "reason": reason, "seconds": round(seconds, 1)})

    def person(self, person: User) -> User:
        """The same person, of whose answers the chat's listeners hear."""
        return _Heard(person, self._answered)

    async def close(self) -> None:
        """Stop listening."""
        await cancel_and_wait(*self._tasks)
        for teller in self._tellers.values():
            if teller.wake is not None:
                teller.wake.cancel()

    async def _run(self, teller: _Teller, turn: LiveTurn) -> None:
        from toolcrib.agent.events import event_json

        async for _, event in turn.follow():
            told = await self._describe(teller.chat, event_json(event))
            self._take(teller, told)
        self._flush(teller)
        teller.ended = True

    def _take(self, teller: _Teller, told: Json) -> None:
        kind = told["event"]
        if kind in ("text", "thinking"):
            self._hold_words(teller, told)
        elif kind == "progress":
            teller.moved[told["id"]] = told
            self._later(teller, PROGRESS_PAUSE)
        else:
            self._flush(teller)
            self._tell(teller, told)

    def _hold_words(self, teller: _Teller, told: Json) -> None:
        held = teller.words
        if held is not None and held["event"] == told["event"]:
            held["text"] += told["text"]
            return
        self._flush(teller)
        teller.words = dict(told)
        self._later(teller, PAUSE)

    def _later(self, teller: _Teller, pause: float) -> None:
        if teller.wake is None:
            teller.wake = asyncio.get_running_loop().call_later(pause, self._flush, teller)

    def _flush(self, teller: _Teller) -> None:
        if teller.wake is not None:
            teller.wake.cancel()
            teller.wake = None
        words, teller.words = teller.words, None
        moved, teller.moved = teller.moved, {}
        for news in (*moved.values(), *([words] if words is not None else ())):
            self._tell(teller, news)

    def _tell(self, teller: _Teller, event: Json) -> None:
        teller.number += 1
        shown = teller.log.add(event)
        if shown["event"] == "question":
            # Pictures are too large to be told to everybody; who wants them reads the chat.
            shown = {**shown, "images": []}
        self._bus.publish(TurnTold(teller.chat, teller.turn, teller.number, shown))

    def _answered(self, question: str, reply: Mapping[str, Any]) -> None:
        for teller in self._tellers.values():
            if teller.log.has_question(question):
                self._flush(teller)
                self._tell(teller, _answer_json(question, reply))
                return

    def _forget(self) -> None:
        ended = [chat for chat, teller in self._tellers.items() if teller.ended]
        for chat in ended[: max(0, len(self._tellers) - KEPT_TURNS)]:
            del self._tellers[chat]


class _Heard:
    """An approver whose decisions are published."""

    def __init__(self, person: User, heard: Callable[[str, Mapping[str, Any]], None]) -> None:
        self._person = person
        self._heard = heard

    async def answer(self, question: AgentQuestion) -> Mapping[str, Any]:
        reply = await self._person.answer(question)
        self._heard(question.id, reply)
        return reply


def _answer_json(question: str, reply: Mapping[str, Any]) -> Json:
    content = reply.get("content")
    said = content if isinstance(content, Mapping) else {}
    return {
        "event": "answered",
        "id": question,
        "action": str(reply.get("action", "")),
        "scope": str(said.get("scope") or "once"),
        "message": str(said.get("message") or ""),
    }


class ChatWords:
    """Describes events; `tool_of` finds a tool by its public name, `count` says how many there are."""

    def __init__(
        self,
        tool_of: Callable[[str], Tool | None],
        count: Callable[[], int],
        questions: QuestionWords,
    ) -> None:
        self._tool_of = tool_of
        self._count = count
        self._questions = questions

    async def told(self, chat: str, event: Mapping[str, Any]) -> Json:
        """The event as pages receive it."""
        kind = event["event"]
        if kind == "offered":
            tools = [self.offered(tool["name"], tool["why"]) for tool in event["tools"]]
            return {**event, "tools": tools, "of": self._count()}
        if kind in ("queued", "call", "result"):
            return {**event, **self.named(event["tool"])}
        if kind == "asking":
            return await self._asking(event)
        if kind == "ended":
            return {**event, "calls": len(event["calls"])}
        return dict(event)

    def offered(self, name: str, why: str) -> Json:
        """A tool in an offer: its names, why it is there, and what it costs."""
        tool = self._tool_of(name)
        return {"tool": name, **self.named(name), "why": why, "tokens": 0 if tool is None else tool.tokens}

    def named(self, name: str) -> Json:
        """A tool's server and its own name; of one that is gone, as far as its public name says."""
        tool = self._tool_of(name)
        if tool is not None:
            return {"server": tool.server, "name": tool.definition.name}
        server, border, own = name.partition(BORDER)
        return {"server": server, "name": own} if border else {"server": None, "name": name}

    async def _asking(self, event: Mapping[str, Any]) -> Json:
        if event["about"] != "call":
            return dict(event)
        return {**event, "detail": await self._questions.described(event["detail"])}


@dataclass(frozen=True, kw_only=True)
class ChatServices:
    models: ModelRegistry
    store: Chats
    rows: ChatRows
    words: ChatWords
    news: ChatFeed
    questions: OpenQuestions
    """Open questions to the user of a turn."""
    turns: Turns = field(default_factory=Turns)
    forms: ToolForms = field(default_factory=ToolForms)

    async def close(self) -> None:
        """Stop running turns and close the models."""
        await self.turns.close()
        await self.news.close()
        await self.models.close()


def open_chat_services(
    core: HostCore,
    workspace_tools: WorkspaceTools,
    is_ours: Callable[[Tool], bool],
    count_tools: Callable[[], int],
) -> ChatServices:
    database, clock = core.database, core.clock
    context = ModelContext(secret=partial(_secret, core.secrets, core.masker), clock=clock)
    known = QuestionWords(core.tool, is_ours, workspace_tools.holds)
    words = ChatWords(core.tool, count_tools, known)
    return ChatServices(
        models=ModelRegistry(context, core.config.settings.agent),
        store=Chats(database, clock),
        rows=ChatRows(database),
        words=words,
        news=ChatFeed(core.events, words.told),
        questions=core.question_router.questions,
    )


def _secret(secrets: SecretStore, masker: Masker, name: str) -> str | None:
    """A model's key; from now on it is masked in logs and records."""
    value = secrets.get(name)
    if value is not None:
        masker.learn([value])
    return value
