"""What a legacy server asks of us in the middle of things, and what of it we offer at all."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.loop_clock import LoopClock
from tests.servers.person import DONE, FORM, ROOTS, SAMPLE, URL, Person
from tests.servers.puppets import LEGACY, SCRIPTS, TOOL, Message, Puppet
from toolcrib.errors import Denied, PeerError
from toolcrib.servers.sessions.handlers import Handlers

pytestmark = pytest.mark.usefixtures("tidy")
ERAS = pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
SOON = 60.0

# What is offered


@pytest.mark.parametrize(
    ("hooks", "capabilities"),
    [
        ([], {}),
        (["sample"], {"sampling": {}}),
        (["elicit"], {"elicitation": {"form": {}, "url": {}}}),
        (["roots"], {"roots": {"listChanged": True}}),
        (
            ["sample", "elicit", "roots"],
            {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": True}},
        ),
    ],
)
@ERAS
async def test_only_what_has_a_hook_is_advertised(puppet, script, hooks, capabilities):
    person = Person()
    handlers = Handlers(**{name: getattr(person, name) for name in hooks})
    async with puppet(script) as server, server.connect(handlers=handlers) as session:
        await session.list_tools(timeout=SOON)
        if script is LEGACY:
            assert server.all("initialize")[0]["params"]["capabilities"] == capabilities
        else:
            meta = server.all("tools/list")[0]["params"]["_meta"]
            assert meta["io.modelcontextprotocol/clientCapabilities"] == capabilities


# The legacy era: requests to us


@pytest.mark.parametrize(
    ("method", "params", "asked", "result"),
    [
        ("elicitation/create", FORM, "elicit", {"action": "accept", "content": {"name": "Ada"}}),
        ("elicitation/create", URL, "elicit", {"action": "accept"}),
        (
            "sampling/createMessage",
            SAMPLE,
            "sample",
            {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"},
        ),
        ("roots/list", {}, "roots", ROOTS),
    ],
)
async def test_a_legacy_server_gets_its_answers_in_the_middle_of_a_call(
    puppet, method, params, asked, result
):
    async def work(server: Puppet, message: Message) -> None:
        await server.ask("q-1", method, **params)
        assert (await server.answer_to("q-1"))["result"] == result
        await server.reply(message, DONE)

    person = Person()
    script = {**LEGACY, "tools/call": work}
    async with puppet(script) as server, server.connect(handlers=person.handlers()) as session:
        assert await session.call_tool("x", {}, timeout=SOON) == DONE
    assert person.asked == [(asked, "puppet", params)]


async def test_a_legacy_request_without_a_hook_is_refused(puppet):
    async with puppet(LEGACY) as server, server.connect() as session:
        for number, method in enumerate(
            ["sampling/createMessage", "elicitation/create", "roots/list", "x/y"]
        ):
            await server.ask(number, method)
            error = (await server.answer_to(number))["error"]
            assert error["code"] == -32601
            assert method in error["message"]
        assert await session.list_tools(timeout=SOON) == [TOOL]


async def test_a_refusal_of_the_person_reaches_the_legacy_server(puppet, caplog):
    async def deny(server: str, params: dict[str, Any]) -> dict[str, Any]:
        raise Denied("Not today.")

    async def refuse(server: str, params: dict[str, Any]) -> dict[str, Any]:
        raise PeerError("User rejected sampling", code=-1, data={"why": 1})

    async def stumble(server: str, params: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("a bug")

    handlers = Handlers(elicit=deny, sample=refuse, roots=stumble)
    async with puppet(LEGACY) as server, server.connect(handlers=handlers):
        await server.ask(1, "elicitation/create", **FORM)
        assert (await server.answer_to(1))["error"] == {"code": -32603, "message": "Not today."}
        await server.ask(2, "sampling/createMessage", **SAMPLE)
        error = (await server.answer_to(2))["error"]
        assert error == {"code": -1, "message": "User rejected sampling", "data": {"why": 1}}
        with caplog.at_level(logging.CRITICAL, logger="toolcrib.servers.sessions.handlers"):
            await server.ask(3, "roots/list")
            assert (await server.answer_to(3))["error"]["code"] == -32603


async def test_a_question_that_takes_longer_than_the_call_may_does_not_fail_the_call(
    puppet, clock: LoopClock
):
    answered, asked = asyncio.Event(), asyncio.Event()

    async def think(server: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        await answered.wait()
        return {"action": "decline"}

    def ask(server: Puppet, message: Message) -> Any:
        return server.ask("q", "elicitation/create", **FORM)

    handlers = Handlers(elicit=think)
    async with puppet({**LEGACY, "tools/call": ask}) as server, server.connect(handlers=handlers) as session:
        call = asyncio.ensure_future(session.call_tool("x", {}, timeout=30))
        async with asyncio.timeout(SOON):
            await asked.wait()
        await clock.passes(3600)
        assert not call.done()
        answered.set()
        assert (await server.answer_to("q"))["result"] == {"action": "decline"}
        await server.reply(server.all("tools/call")[0], DONE)
        assert await call == DONE


async def test_a_question_taken_back_by_the_server_is_no_longer_asked(puppet):
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def think(server: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return {}

    async with puppet(LEGACY) as server, server.connect(handlers=Handlers(elicit=think)):
        await server.ask("q", "elicitation/create", **FORM)
        async with asyncio.timeout(SOON):
            await asked.wait()
            await server.notify("notifications/cancelled", requestId="q")
            await cancelled.wait()


async def test_questions_end_with_the_session(puppet):
    asked = asyncio.Event()

    async def think(server: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        await asyncio.Event().wait()
        return {}

    async with puppet(LEGACY) as server, server.connect(handlers=Handlers(elicit=think)):
        await server.ask("q", "elicitation/create", **FORM)
        async with asyncio.timeout(SOON):
            await asked.wait()
