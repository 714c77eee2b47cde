"""Records turns as the page receives them, with the entries that the store keeps of them.

    python -m tests.chats.recording

rewrites `tests/chats/recorded/`, which also tests the reducer of the page (`recorded.test.ts`).
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolcrib import Host, open_host
from toolcrib.agent import Agent
from toolcrib.agent.agent import question
from toolcrib.agent.chat import Chat
from toolcrib.agent.live import LiveTurn
from toolcrib.chats.reducer import apply
from toolcrib.chats.replay import StoredEntry, replay
from toolcrib.chats.turn import Turn, TurnCall, TurnNote, TurnPart, TurnText
from toolcrib.chats.turn_json import turn_json
from toolcrib.llm.model import Model
from toolcrib.operations.turns import resume_turn, start_turn
from toolcrib.schema.events import TurnTold
from toolcrib.schema.messages import Image

FOLDER = Path(__file__).parent / "recorded"
DEADLINE = 60.0
TIME = "2026-01-01T00:00:00.000+00:00"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")
_ID = re.compile(r"\b(call_|hand-|)([0-9a-f]{12,16}|[0-9a-f]{8}-\d+)\b")
Json = dict[str, Any]


class Recorder:
    """A host whose latest turn is recorded."""

    def __init__(self, host: Host, events: Any) -> None:
        self.host = host
        self.events: list[Json] = []
        self.chat = ""
        self.first_entry = 0
        """How many entries the chat had before the turn, where the events continue a turn."""
        self._news = events
        self._turn: LiveTurn | None = None

    def agent(self, model: Model, *, mode: Any = "off") -> Agent:
        person = self.host.chats.news.person(self.host.core.question_router.questions)
        return self.host.agent(model, person=person, mode=mode)

    async def ask(self, agent: Agent, text: str = "Go.", images: Sequence[Image] = ()) -> None:
        """Begin a turn in a new chat."""
        self._follow(await start_turn(self.host, agent, None, question(text, images)))

    async def resume(self, agent: Agent, chat: Chat) -> None:
        """Begin to continue the last answer of the chat."""
        self.first_entry = len(chat.entries)
        self._follow(await resume_turn(self.host, agent, chat))

    async def by_hand(self, agent: Agent, tool: str, arguments: Json) -> None:
        """Begin a call by hand in the chat of the turn before, or in a new one."""
        name = agent.model.name
        chat = await (
            self.host.chats.store.load(self.chat) if self.chat else self.host.chats.store.create(name)
        )
        self.first_entry = len(chat.entries)
        turn = await self.host.chats.turns.call(agent, chat, tool, arguments)
        first = {"event": "question", "text": None, "images": [], "pictures": 0, "time": TIME}
        self.host.chats.news.follow(turn, first)
        self._follow(turn)

    async def until(self, *kinds: str) -> Json:
        """The next event of these kinds."""
        async with asyncio.timeout(DEADLINE):
            while True:
                event = await self._news.next()
                if isinstance(event, TurnTold):
                    self.events.append(dict(event.event))
                    if event.event["event"] in kinds:
                        return self.events[-1]

    async def stop(self) -> None:
        """Stop the turn."""
        assert self._turn is not None
        await self._turn.stop()

    def reply(self, question: Json, action: str, **content: Any) -> None:
        """Answer a question."""
        reply = {"action": action, "content": content}
        self.host.core.question_router.questions.decide(question["id"], reply)

    async def recording(self) -> Json:
        """All of it, without what differs from one run to the next."""
        entries = await self.host.chats.rows.read(self.chat)
        found = {
            "continues": self.first_entry,
            "before": self._before(entries),
            "events": _regular(self.events),
            "entries": [vars(entry) for entry in entries if entry.kind != "kept"],
        }
        return finished(_without_chance(found, {self.chat: "chat", str(self.host.paths.home): "/home"}))

    def _before(self, entries: Sequence[StoredEntry]) -> Json | None:
        if not self.first_entry:
            return None
        turns = replay(entries[: self.first_entry], self.host.chats.words, len(self.host.tools()))
        return dict(turn_json(turns[-1]))

    def _follow(self, turn: LiveTurn) -> None:
        self._turn, self.chat = turn, turn.chat
        if self.first_entry:
            self.events = []


def finished(recording: Json) -> Json:
    """The recording with the turn that the reducer makes of its events."""
    turn = base_turn(recording)
    for event in recording["events"]:
        apply(turn, event)
    return {**recording, "turn": turn_record(turn)}


def base_turn(recording: Json) -> Turn:
    """The turn that the events begin with."""
    if recording["before"] is None:
        return Turn()
    entries = [entry for entry in stored(recording) if entry.position < recording["continues"]]
    return replay(entries, RecordedNames(recording), recording["before"]["of"])[-1]


def stored(recording: Json) -> list[StoredEntry]:
    return [StoredEntry(**entry) for entry in recording["entries"]]


class RecordedNames:
    """The names of tools as the events of a recording have them."""

    def __init__(self, recording: Json) -> None:
        called = [one for one in recording["events"] if one["event"] == "call"]
        offered = [tool for one in recording["events"] if one["event"] == "offered" for tool in one["tools"]]
        before = recording["before"] or {"items": [], "offered": []}
        self._offered = {tool["tool"]: tool for tool in [*before["offered"], *offered]}
        known = [*self._offered.values(), *called, *(one for one in before["items"] if one["kind"] == "call")]
        self._named = {one["tool"]: {"server": one["server"], "name": one["name"]} for one in known}

    def named(self, name: str) -> Json:
        return self._named.get(name, {"server": None, "name": name})

    def offered(self, name: str, why: str) -> Json:
        return {**self._offered[name], "why": why}


def turn_record(turn: Turn) -> Json:
    """A turn as the recordings have it; the page's `TurnView` is compared in this form."""
    return {
        "question": turn.text,
        "time": turn.time,
        "offered": [tool["tool"] for tool in turn.offered],
        "of": turn.of,
        "note": turn.note,
        "model": turn.model,
        "running": turn.running,
        "busy": None if turn.busy is None else turn.busy["reason"],
        "ending": turn.ending,
        "usage": turn.usage,
        "cost": turn.cost,
        "error": None if turn.error is None else turn.error["message"],
        "items": [item_record(item) for item in turn.items],
    }


def item_record(item: TurnPart) -> Json:
    if isinstance(item, TurnText):
        return {"kind": item.kind, "text": item.text}
    if isinstance(item, TurnNote):
        return {"kind": "note", "note": item.note, "text": item.text}
    asking = None if item.asking is None else item.asking["id"]
    return call_record(item, asking) if isinstance(item, TurnCall) else {"kind": "question", "asking": asking}


def call_record(call: TurnCall, asking: str | None) -> Json:
    reply, moved = call.answered, call.progress
    return {
        "kind": "call",
        "id": call.id,
        "tool": call.tool,
        "server": call.server,
        "name": call.name,
        "arguments": call.arguments,
        "outcome": call.outcome,
        "ms": call.ms,
        "text": call.text,
        "pictures": call.pictures,
        "rule": call.rule,
        "by_hand": call.by_hand,
        "progress": moved and [moved["progress"], moved["total"], moved["message"]],
        "asking": asking,
        "answered": reply and [reply["action"], reply["scope"], reply["message"]],
    }


def _regular(events: Sequence[Json]) -> list[Json]:
    """Without what depends on the clock: text in two pieces, and of a call's progress the last."""
    found: list[Json] = []
    for event in events:
        last = found[-1] if found else None
        if event["event"] in ("text", "thinking") and last is not None and last["event"] == event["event"]:
            found[-1] = {**last, "text": last["text"] + event["text"]}
        elif event["event"] == "progress" and last is not None and last["event"] == "progress":
            found[-1] = event
        else:
            found.append(event)
    return [piece for event in found for piece in _pieces(event)]


def _pieces(event: Json) -> list[Json]:
    if event["event"] not in ("text", "thinking"):
        return [event]
    first, space, rest = event["text"].partition(" ")
    return [{**event, "text": text} for text in (first + space, rest) if text]


def _without_chance(found: Json, known: dict[str, str]) -> Json:
    text = json.dumps(found)
    for value, name in known.items():
        text = text.replace(value, name)
    text = _TIME.sub(TIME, text)
    ids: dict[str, str] = {}
    text = _ID.sub(lambda match: ids.setdefault(match[0], f"{match[1] or 'id-'}{len(ids) + 1}"), text)
    result: Json = _with_one_ms(json.loads(text))
    return result


def _with_one_ms(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_one_ms(one) for one in value]
    if isinstance(value, dict):
        ended = value.get("ms") is not None and value.get("outcome") != "interrupted"
        timed = {"ms": 1.0} if ended else {}
        return {key: _with_one_ms(one) for key, one in value.items()} | timed
    return value


Scenario = Callable[[Recorder], Awaitable[None]]


@asynccontextmanager
async def recorder(home: Path, **settings: Any) -> AsyncIterator[Recorder]:
    """A recorder with a host of its own."""
    agent = {"prices": {"scripted:model": {"input": 1000, "output": 2000}}, **settings.pop("agent", {})}
    document = {"mcpServers": settings.pop("servers", {}), "toolcrib": {"agent": agent}}
    home.mkdir(mode=0o700, parents=True)
    (home / "mcp.json").write_text(json.dumps(document), encoding="utf-8")
    (home / "mcp.json").chmod(0o600)
    async with open_host(home) as host:
        await host.ready()
        with host.events.subscribe() as events:
            yield Recorder(host, events)


async def record(name: str, home: Path) -> Json:
    """Play a scenario and record it."""
    from tests.chats.scenarios import SCENARIOS, SETTINGS

    async with recorder(home, **SETTINGS.get(name, {})) as found:
        await SCENARIOS[name](found)
        return await found.recording()


def as_text(recording: Json) -> str:
    """As JSON with a line for each event and entry, so that changes are easy to read."""
    parts = [f"{json.dumps(key)}: {_lines(value)}" for key, value in recording.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n]"


def main() -> None:
    """Write all of them."""
    from tests.chats.scenarios import SCENARIOS

    os.environ |= {"TOOLCRIB_TRUST_CONFIG": "1", "TOOLCRIB_KEYRING": "off"}
    for name in SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="tc-") as folder:
            recording = asyncio.run(record(name, Path(folder) / "home"))
        (FOLDER / f"{name}.json").write_text(as_text(recording), encoding="utf-8")


if __name__ == "__main__":
    main()
