"""A talk that grew too long is made short without losing what is open; nothing of the chat is deleted."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import Crib
from toolcrib.agent.chat import HistorySummary, Took
from toolcrib.agent.compaction import tokens
from toolcrib.agent.events import Compacted
from toolcrib.approvals.gate import AllowAll
from toolcrib.errors import ContextTooLong, ModelBusy
from toolcrib.llm.model import CompletionRequest, Finished, ModelEvent, ModelTraits
from toolcrib.schema.messages import FromUser, Usage
from toolcrib.testing.model import ScriptedCalls, ScriptedModel, calls

SMALL = ModelTraits(context_tokens=8000)
NOTE = "NOTE: the treasure is at 17 Elm Street; the key was found in round one."


def is_for_a_note(request: CompletionRequest) -> bool:
    first = request.messages[0]
    return isinstance(first, FromUser) and "replaced by your summary" in first.text


def worker(rounds: int) -> Any:
    done = 0

    def step(request: CompletionRequest) -> str | ScriptedCalls:
        nonlocal done
        if is_for_a_note(request):
            return NOTE
        done += 1
        return calls(("dig", {"hole": done})) if done <= rounds else "The treasure is at 17 Elm Street."

    return step


async def test_a_long_turn_is_compacted_and_the_question_stays(crib: Crib) -> None:
    model = ScriptedModel(worker(12), traits=SMALL)
    async with crib.open(gate=AllowAll()) as host:

        @host.tool()
        def dig(hole: int) -> str:
            """Dig a hole."""
            return f"hole {hole}: " + "earth " * 900

        events = [event async for event in host.agent(model).run("Where is the treasure? Do not stop early.")]
        chat = await host.chats.store.load("last")

    assert events[-1].answer == "The treasure is at 17 Elm Street."  # type: ignore[union-attr]
    compacted = [event for event in events if isinstance(event, Compacted)]
    assert compacted
    assert all(event.after < event.before for event in compacted)
    last = [request for request in model.requests if not is_for_a_note(request)][-1]
    assert "Where is the treasure? Do not stop early." in str(last.messages)
    assert len(chat.questions()) == 1
    assert sum("hole" in str(entry) for entry in chat.entries) > 12


async def test_old_questions_become_a_note_of_the_models(crib: Crib) -> None:
    def step(request: CompletionRequest) -> str:
        return NOTE if is_for_a_note(request) else "word " * 1000

    model = ScriptedModel(step, traits=SMALL)
    async with crib.open(gate=AllowAll()) as host:
        chat = await host.chats.store.create(model.name)
        for number in range(8):
            await host.agent(model).ask(f"question {number}: " + "please " * 300, chat=chat)

    assert any(isinstance(entry, HistorySummary) for entry in chat.entries)
    last = [request for request in model.requests if not is_for_a_note(request)][-1]
    assert NOTE in str(last.messages[0])
    assert "question 7" in str(last.messages[-1])
    assert "question 0" not in str(last.messages)


async def test_a_vendor_that_finds_it_too_long_is_asked_with_less(crib: Crib) -> None:
    refused = 0

    def step(request: CompletionRequest) -> str | ScriptedCalls:
        nonlocal refused
        if is_for_a_note(request):
            return NOTE
        if len(str(request.messages)) > 12_000:
            refused += 1
            raise ContextTooLong("too long")
        return calls(("dig", {"hole": len(model.requests)})) if len(model.requests) < 6 else "found"

    model = ScriptedModel(step)
    async with crib.open(gate=AllowAll()) as host:

        @host.tool()
        def dig(hole: int) -> str:
            """Dig a hole."""
            return "earth " * 800

        ended = await host.agent(model).ask("dig")

    assert refused
    assert ended.answer == "found"


@pytest.mark.parametrize("note", ["", "  \n"])
async def test_without_a_note_the_past_stays(crib: Crib, note: str) -> None:
    def step(request: CompletionRequest) -> str:
        return note if is_for_a_note(request) else "word " * 1000

    model = ScriptedModel(step, traits=SMALL)
    async with crib.open(gate=AllowAll()) as host:
        chat = await host.chats.store.create(model.name)
        for number in range(8):
            ended = await host.agent(model).ask(f"question {number}: " + "please " * 300, chat=chat)

    assert ended.ending == "answered"
    assert any(is_for_a_note(request) for request in model.requests)
    assert not any(isinstance(entry, HistorySummary) for entry in chat.entries)
    assert "question 0" in str(model.requests[-1].messages)


async def test_a_model_that_refuses_to_write_the_note_leaves_the_past(crib: Crib) -> None:
    def step(request: CompletionRequest) -> str:
        if is_for_a_note(request):
            raise ModelBusy("too busy for a note")
        return "word " * 1000

    model = ScriptedModel(step, traits=SMALL)
    async with crib.open(gate=AllowAll()) as host:
        chat = await host.chats.store.create(model.name)
        for number in range(6):
            ended = await host.agent(model).ask(f"question {number}: " + "please " * 300, chat=chat)

    assert ended.ending == "answered"
    assert "question 0" in str(model.requests[-1].messages)


async def test_a_record_that_is_too_long_for_the_note_is_halved(crib: Crib) -> None:
    refused = 0

    def step(request: CompletionRequest) -> str:
        nonlocal refused
        if is_for_a_note(request) and len(str(request.messages)) > 5000:
            refused += 1
            raise ContextTooLong("too long")
        return NOTE if is_for_a_note(request) else "word " * 1000

    model = ScriptedModel(step, traits=SMALL)
    async with crib.open(gate=AllowAll()) as host:
        chat = await host.chats.store.create(model.name)
        for number in range(8):
            await host.agent(model).ask(f"question {number}: " + "please " * 300, chat=chat)

    assert refused
    assert any(isinstance(entry, HistorySummary) for entry in chat.entries)


async def test_a_note_that_is_longer_than_the_past_is_not_taken(crib: Crib) -> None:
    def step(request: CompletionRequest) -> str:
        return "note " * 200_000 if is_for_a_note(request) else "word " * 1000

    model = ScriptedModel(step, traits=SMALL)
    async with crib.open(gate=AllowAll()) as host:
        chat = await host.chats.store.create(model.name)
        for number in range(8):
            await host.agent(model).ask(f"question {number}: " + "please " * 300, chat=chat)

    assert all(tokens(entry.text) < 4000 for entry in chat.entries if isinstance(entry, HistorySummary))


async def test_with_nothing_to_replace_no_note_is_asked_for(crib: Crib) -> None:
    model = ScriptedModel("fine", traits=SMALL)
    async with crib.open(gate=AllowAll()) as host:
        await host.agent(model).ask("please " * 8000)

    assert not any(is_for_a_note(request) for request in model.requests)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("word " * 700, 900, 1100), ("日本語の文章です。" * 100, 800, 1400), ("Привет, мир! " * 100, 500, 1000)],
)
def test_tokens_are_estimated_in_every_script(text: str, least: int, most: int) -> None:
    assert least <= tokens(text) <= most


async def test_what_the_vendor_counted_last_decides_when_it_is_full(crib: Crib) -> None:
    """Our estimate says that there is room, the vendor says that there is none."""
    model = CountingModel(worker(4), traits=SMALL)
    async with crib.open(gate=AllowAll()) as host:

        @host.tool()
        def dig(hole: int) -> str:
            """Dig a hole."""
            return f"hole {hole}: " + "earth " * 200

        chat = await host.chats.store.create(model.name)
        events = [event async for event in host.agent(model).run("Where is it?", chat=chat)]
        took = [entry for entry in chat.entries if isinstance(entry, Took)]

    assert any(isinstance(event, Compacted) for event in events)
    assert took[-1].context == 7510


class CountingModel(ScriptedModel):
    """One whose vendor counts many tokens."""

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        async for event in super().stream(request):
            if isinstance(event, Finished):
                yield replace(event, usage=Usage(input=7500, output=10, requests=1))
            else:
                yield event


async def test_a_talk_with_nothing_to_summarise_asks_for_no_summary(crib: Crib) -> None:
    def step(request: CompletionRequest) -> str:
        if is_for_a_note(request):
            return NOTE
        raise ContextTooLong("too long")

    model = ScriptedModel(step)
    async with crib.open(gate=AllowAll()) as host:
        with pytest.raises(ContextTooLong):
            await host.agent(model).ask("a question that is too long by itself")

    assert [is_for_a_note(request) for request in model.requests] == [False]
