"""Chats are kept as they happen, can go on and be forked, and are always ones that a vendor takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.conftest import Crib
from toolcrib.agent.chat import (
    ByHand,
    Chat,
    ChatMetadata,
    Continued,
    Entry,
    FullResult,
    HistorySummary,
    OfferedTools,
    Partial,
    Remark,
    Said,
    Shortened,
    TextFile,
    Took,
    answered,
    shown,
)
from toolcrib.agent.entry_json import entry_json, read_entry
from toolcrib.agent.events import Speaking
from toolcrib.agent.export import as_markdown, chat_json
from toolcrib.agent.ports import AgentQuestion
from toolcrib.approvals.gate import AllowAll
from toolcrib.approvals.rule import Rule
from toolcrib.errors import ModelUnreachable, NotFound
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits, TextDelta, ThinkingDelta
from toolcrib.schema.messages import (
    FromModel,
    FromTools,
    FromUser,
    Image,
    Opaque,
    Text,
    ToolAnswer,
    ToolUse,
    Usage,
)
from toolcrib.store.chats import Chats
from toolcrib.store.database import open_database
from toolcrib.testing.model import ScriptedModel, calls

USE = ToolUse(id="c1", name="add", arguments={"a": 1}, vendor={"signature": "s"})
ENTRIES: list[Entry] = [
    Said(FromUser(parts=(Text("hi"), Image("AAAA", "image/png")))),
    OfferedTools(tools=(("add", "always on"),), note="a note"),
    Said(FromModel(parts=(Text("let me see"), Opaque(vendor="anthropic", data={"x": 1}), USE))),
    Said(FromTools(answers=(ToolAnswer(id="c1", name="add", parts=(Text("2"),), outcome="denied", ms=1.5),))),
    FullResult(name="r1", text="long"),
    Shortened(covers=2),
    HistorySummary(covers=3, text="so far"),
    Remark(kind="stopped", text="by the person"),
    ByHand(call=USE, answer=ToolAnswer(id="c1", name="add", parts=(Text("2"),))),
    Took(model="m", ending="answered", rounds=2, usage=Usage(input=3, output=1, requests=2), cost=0.5),
]
INTERRUPTED: list[Entry] = [
    Said(FromTools(answers=(ToolAnswer(id="c1", name="add", parts=(Text("no"),), ran=False),))),
    Partial(mark="m1", text="once upon", thinking="a story"),
    Continued(),
    Said(FromUser(parts=(Text("again"),)), 0, (TextFile(key="f1", name="a.md", text="text", shown=2),)),
]


@pytest.mark.parametrize("entry", [*ENTRIES, *INTERRUPTED], ids=lambda entry: type(entry).__name__)
def test_an_entry_survives_json(entry: Entry) -> None:
    assert read_entry(*entry_json(entry)) == entry


def test_what_a_question_replaced_is_not_shown_and_its_summary_does_not_count() -> None:
    def said(text: str) -> Said:
        return Said(FromModel(parts=(Text(text),)))

    def asked(text: str, replaces: int | None = None) -> Said:
        return Said(FromUser(parts=(Text(text),)), replaces)

    now = datetime(2026, 11, 15, tzinfo=UTC)
    chat = Chat(
        ChatMetadata(id="c", title="", model="m", created=now, updated=now),
        [
            asked("one"),
            said("1"),
            asked("two"),
            HistorySummary(covers=2, text="sum"),
            said("2"),
            asked("2b", 2),
        ],
    )

    assert [message.parts[0] for message in chat.messages()] == [Text("one"), Text("1"), Text("2b")]
    assert chat.questions() == ["one", "2b"]
    assert chat.question()[0] == 5
    assert chat.question(0)[1] == asked("one")
    with pytest.raises(NotFound):
        chat.question(2)


def test_a_call_that_never_got_an_answer_gets_one() -> None:
    messages = answered([FromUser(parts=(Text("q"),)), FromModel(parts=(USE,)), FromUser(parts=(Text("r"),))])

    assert [type(message) for message in messages] == [FromUser, FromModel, FromTools, FromUser]
    assert messages[2].answers[0].outcome == "cancelled"  # type: ignore[union-attr]


def test_answers_that_nobody_asked_for_are_left_out() -> None:
    stray = FromTools(answers=(ToolAnswer(id="x", name="y", parts=()),))

    assert answered([FromUser(parts=(Text("q"),)), stray]) == [FromUser(parts=(Text("q"),))]


def test_a_summary_stands_for_what_it_covers() -> None:
    messages = shown(ENTRIES)

    assert messages[0] == FromUser(parts=(Text("so far"),))
    assert not any(isinstance(message, FromModel) for message in messages)


async def test_a_chat_is_read_back_as_it_was(tmp_path: Path) -> None:
    async with open_database(tmp_path / "db") as database:
        chats = Chats(database)
        chat = await chats.create("demo", title="hello")
        for position, entry in enumerate(ENTRIES):
            chats.append(chat.id, position, entry)
        await chats.flush()
    async with open_database(tmp_path / "db") as database:
        found = await Chats(database).load(chat.id[:5])

    assert found.entries == ENTRIES
    assert (found.info.title, found.info.model, found.info.entries) == ("hello", "demo", len(ENTRIES))


async def test_a_fork_goes_its_own_way(tmp_path: Path) -> None:
    async with open_database(tmp_path / "db") as database:
        chats = Chats(database)
        chat = await chats.create("demo")
        chats.append(chat.id, 0, ENTRIES[0])
        chats.append(chat.id, 1, ENTRIES[1])
        fork = await chats.fork(chat.id, 1)
        chats.append(fork.id, 1, ENTRIES[7])

        assert (await chats.load(fork.id)).entries == [ENTRIES[0], ENTRIES[7]]
        assert (await chats.load(chat.id)).entries == ENTRIES[:2]
        assert fork.info.parent == chat.id


async def test_an_unknown_chat_is_not_found(tmp_path: Path) -> None:
    async with open_database(tmp_path / "db") as database:
        with pytest.raises(NotFound, match="nowhere"):
            await Chats(database).load("nowhere")
        with pytest.raises(NotFound, match="no chat yet"):
            await Chats(database).load("last")


async def test_a_chat_goes_on_after_the_host_was_closed(crib: Crib) -> None:
    first = ScriptedModel(calls(("add", {"a": 1, "b": 2})), "It is 3.")
    async with crib.open(gate=AllowAll()) as host:

        @host.tool()
        def add(a: int, b: int) -> int:
            """Add."""
            return a + b

        ended = await host.agent(first).ask("1 and 2?")
    second = ScriptedModel("As I said: 3.", name="scripted:other")
    async with crib.open(gate=AllowAll()) as host:
        chat = await host.chats.store.load(ended.chat)
        await host.agent(second).ask("once more?", chat=chat)
        listed = await host.chats.store.list()

    assert [type(message) for message in second.requests[0].messages] == [
        FromUser,
        FromModel,
        FromTools,
        FromModel,
        FromUser,
    ]
    assert [(info.id, info.model, info.title) for info in listed] == [
        (ended.chat, "scripted:other", "1 and 2?")
    ]


def test_the_latest_tools_come_first_and_once() -> None:
    said = [Said(FromModel(parts=(ToolUse(id=name, name=name),))) for name in ("a", "b", "a")]
    info = ChatMetadata.__new__(ChatMetadata)

    assert Chat(info, list(said)).used() == ["a", "b"]


async def read_then_write(crib: Crib, chat: str | None, model: ScriptedModel, asked: list[str]) -> str:
    """Go on with a chat in a host of its own; returns the chat."""

    class Watcher:
        async def answer(self, question: AgentQuestion) -> dict[str, str]:
            asked.append(question.detail["reasons"][0])
            return {"action": "accept"}

    async with crib.open() as host:

        @host.tool()
        def send(text: str) -> str:
            """Send it."""
            return "sent"

        await host.ready()
        host.approvals.policy.rules.add(Rule(effect="allow"))
        going = await host.chats.store.load(chat) if chat else None
        ended = await host.agent(model, person=Watcher()).ask("go on", chat=going)
        await host.chats.store.flush()
        return ended.chat


@pytest.mark.parametrize("fork", [False, True])
async def test_what_a_chat_has_read_counts_in_the_next_process_too(crib: Crib, fork: bool) -> None:
    crib.server("box")
    asked: list[str] = []
    chat = await read_then_write(
        crib, None, ScriptedModel(calls(("box__echo", {"text": "x"})), "Read."), asked
    )
    assert asked == []
    if fork:
        async with crib.open() as host:
            chat = (await host.chats.store.fork(chat)).id

    await read_then_write(crib, chat, ScriptedModel(calls(("send", {"text": "x"})), "Sent."), asked)

    assert len(asked) == 1
    assert "box__echo" in asked[0]


async def test_a_chat_is_exported_with_places_times_and_costs(crib: Crib) -> None:
    async with crib.open(gate=AllowAll()) as host:

        @host.tool()
        def add(a: int, b: int) -> int:
            """Add."""
            return a + b

        ended = await host.agent(ScriptedModel(calls(("add", {"a": 1, "b": 2})), "It is 3.")).ask("1 and 2?")
        chat = await host.chats.store.load(ended.chat)
        async for _ in host.agent(ScriptedModel()).call(chat, "add", {"a": 5, "b": 5}):
            pass
        chat = await host.chats.store.load(ended.chat)

    shown, text = chat_json(chat), as_markdown(chat)

    assert [entry["position"] for entry in shown["entries"]] == list(range(len(chat.entries)))
    assert all(entry["time"] for entry in shown["entries"])
    assert shown["usage"]["requests"] == 2
    assert text == as_markdown(shown)
    for wanted in ("# 1 and 2?", "## Question", "Calls `add`", "`add` (ok", "It is 3.", "*By hand:*", "10"):
        assert wanted in text


class Thoughtful:
    """A model that shows a thought and some words, and then nothing more."""

    name = "thoughtful"
    form = "openai"

    async def traits(self) -> ModelTraits:
        return ModelTraits()

    async def close(self) -> None:
        pass

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        yield ThinkingDelta("Which story?")
        yield TextDelta("Once upon")
        await asyncio.Event().wait()


async def test_a_stopped_answer_keeps_the_reasoning_that_was_shown(crib: Crib) -> None:
    async with crib.open() as host:
        agent = host.agent(Thoughtful())
        async with asyncio.timeout(60), aclosing(agent.run("Tell me a story.")) as events:
            async for event in events:
                if isinstance(event, Speaking):
                    break
        chat = await host.chats.store.load("last")

    [partial] = [entry for entry in chat.entries if isinstance(entry, Partial)]
    assert (partial.thinking, partial.text) == ("Which story?", "Once upon")
    assert chat.unfinished
    assert "*(The answer was interrupted here.)*" in as_markdown(chat)


async def test_a_model_that_cannot_be_reached_leaves_the_question_and_the_reason(crib: Crib) -> None:
    class Gone(Thoughtful):
        async def traits(self) -> ModelTraits:
            raise ModelUnreachable("Nobody answers.")

    async with crib.open() as host:
        with pytest.raises(ModelUnreachable):
            await host.agent(Gone()).ask("Hello?")
        chat = await host.chats.store.load("last")

    assert chat.questions() == ["Hello?"]
    assert chat.entries[-1] == Remark(kind="failed", text="Nobody answers.")


async def test_a_rewritten_entry_stays_in_its_place_and_is_found(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        chats = Chats(database)
        chat = await chats.create("demo", entries=[Said(FromUser(parts=(Text("q"),)))])
        for text in ("once", "once upon"):
            chats.rewrite(chat.id, 1, "m1", Partial(mark="m1", text=text))
        chats.append(chat.id, 1, Remark(kind="noted", text="by somebody else meanwhile"))
        [unfinished] = await chats.search("once upon")
        chats.rewrite(chat.id, 1, "m1", Said(FromModel(parts=(Text("once upon a time"),))))
        kept = (await chats.load(chat.id)).entries
        [found] = await chats.search("upon a time")

    assert [type(entry) for entry in kept] == [Said, Said, Remark]
    assert (unfinished.position, found.position) == (1, 1)
