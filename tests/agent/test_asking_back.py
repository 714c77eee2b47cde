"""What a server asks while it works for a chat goes to that chat's model and person, and to nobody else's."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Crib
from toolcrib.agent.events import Asking
from toolcrib.agent.server_questions import MOST_QUESTIONS
from toolcrib.approvals.gate import AllowAll
from toolcrib.testing.model import ScriptedModel, calls

PROGRAM = Path(__file__).parent / "programs" / "asking_server.py"


@pytest.fixture
def asking(crib: Crib) -> Crib:
    crib.entry("asking", {"command": sys.executable, "args": [str(PROGRAM)]})
    return crib


def reply_of(ended: Any) -> Any:
    return json.loads(ended.calls[0].text)


async def test_elicitation_goes_to_the_person(asking: Crib, person: Any) -> None:
    ada = person({"action": "accept", "content": {"name": "Ada"}})
    async with asking.open(gate=AllowAll()) as host:
        await host.ready()
        model = ScriptedModel(calls(("asking__interview", {})), "Hello Ada.")
        events = [event async for event in host.agent(model, person=ada).run("who am I?")]

    assert [question.text for question in ada.asked] == ["Your name?"]
    assert any(isinstance(event, Asking) and event.about == "elicitation" for event in events)
    assert reply_of(events[-1]) == {"action": "accept", "content": {"name": "Ada"}}


async def test_without_a_person_elicitation_is_declined(asking: Crib) -> None:
    async with asking.open(gate=AllowAll()) as host:
        await host.ready()
        model = ScriptedModel(calls(("asking__interview", {})), "Nobody there.")
        ended = await host.agent(model).ask("who am I?")

    assert reply_of(ended) == {"action": "decline"}


async def test_sampling_goes_to_the_chats_model_once_the_person_agrees(asking: Crib, person: Any) -> None:
    ada = person({"action": "accept"})
    model = ScriptedModel(calls(("asking__ponder", {})), "A bed for tools.", "done")
    async with asking.open(gate=AllowAll()) as host:
        await host.ready()
        ended = await host.agent(model, person=ada).ask("ponder")

    assert ada.asked[0].detail["asks"] == "What is a crib?"
    assert reply_of(ended)["content"] == {"type": "text", "text": "A bed for tools."}
    assert reply_of(ended)["model"] == model.name
    assert model.requests[1].max_tokens == 50
    assert model.requests[1].tools == ()
    assert ended.usage.requests == 3  # What a server asks is paid for by the turn.


async def test_a_server_that_asks_without_end_is_told_that_it_is_enough(asking: Crib, person: Any) -> None:
    ada = person({"action": "accept", "content": {"name": "Ada"}})
    async with asking.open(gate=AllowAll()) as host:
        await host.ready()
        model = ScriptedModel(calls(("asking__pester", {})), "Enough.")
        ended = await host.agent(model, person=ada).ask("who am I?")

    assert len(ada.asked) == MOST_QUESTIONS
    assert "limit of" in reply_of(ended)["message"]


@pytest.mark.parametrize("field", ["password", "api_key", "accessToken", "Your PIN"])
async def test_a_form_for_secrets_reaches_nobody(asking: Crib, person: Any, field: str) -> None:
    ada = person({"action": "accept", "content": {field: "1234"}})
    async with asking.open(gate=AllowAll()) as host:
        await host.ready()
        model = ScriptedModel(calls(("asking__interview", {"field": field})), "No.")
        ended = await host.agent(model, person=ada).ask("who am I?")

    assert ada.asked == []
    assert "must not ask for secrets" in reply_of(ended)["message"]


@pytest.mark.parametrize(("setting", "asked"), [("deny", 0), ("ask", 1)])
async def test_sampling_that_is_refused_asks_no_model(
    asking: Crib, person: Any, setting: str, asked: int
) -> None:
    asking.setting(agent={"sampling": setting})
    nobody = person({"action": "decline"})
    model = ScriptedModel(calls(("asking__ponder", {})), "refused")
    async with asking.open(gate=AllowAll()) as host:
        await host.ready()
        ended = await host.agent(model, person=nobody).ask("ponder")

    assert len(model.requests) == 2
    assert len(nobody.asked) == asked
    assert "does not allow" in reply_of(ended)["message"]


async def test_a_call_that_no_chat_made_reaches_no_chat(asking: Crib) -> None:
    async with asking.open(gate=AllowAll()) as host:
        await host.ready()
        result = await host.call("asking__interview")

    assert "No client can answer" in result["content"][0]["text"]
