"""Modern answers that ask for more input: the same hooks are asked, and the call goes on."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.loop_clock import LoopClock
from tests.servers.person import DONE, FORM, ROOTS, SAMPLE, URL, Person
from tests.servers.puppets import MODERN, TOOL, Message, Puppet
from toolcrib.errors import CallFailed, Denied
from toolcrib.servers.sessions import session as session_module
from toolcrib.servers.sessions.handlers import Handlers

pytestmark = pytest.mark.usefixtures("tidy")
SOON = 60.0


def wants(requests: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    """A modern answer that asks for more."""
    result: dict[str, Any] = {"resultType": "input_required", **rest}
    if requests is not None:
        result["inputRequests"] = requests
    return result


def in_turn(*results: dict[str, Any]) -> Any:
    """Answer the first call with the first result, and so on."""

    def react(server: Puppet, message: Message) -> Any:
        return server.reply(message, results[len(server.all(message["method"])) - 1])

    return react


async def test_a_modern_server_gets_several_answers_at_once_and_the_call_goes_on(puppet):
    requests = {
        "name": {"method": "elicitation/create", "params": FORM},
        "login": {"method": "elicitation/create", "params": URL},
        "thought": {"method": "sampling/createMessage", "params": SAMPLE},
        "folders": {"method": "roots/list"},
    }
    person = Person()
    script = {**MODERN, "tools/call": in_turn(wants(requests, requestState="opaque é=="), DONE)}
    async with puppet(script) as server, server.connect(handlers=person.handlers()) as session:
        result = await session.call_tool("x", {"a": 1}, timeout=SOON, meta={"traceparent": "t"})
        assert result == DONE
        first, second = server.all("tools/call")
    assert second["id"] != first["id"]
    assert second["params"] == {
        **first["params"],
        "requestState": "opaque é==",
        "inputResponses": {
            "name": {"action": "accept", "content": {"name": "Ada"}},
            "login": {"action": "accept"},
            "thought": {
                "role": "assistant",
                "content": {"type": "text", "text": "hello"},
                "model": "m",
            },
            "folders": ROOTS,
        },
    }
    assert sorted(kind for kind, _, _ in person.asked) == ["elicit", "elicit", "roots", "sample"]


async def test_each_round_carries_only_its_own_answers_and_state(puppet):
    ask = {"method": "roots/list"}
    rounds = [
        wants({"one": ask}, requestState="s1"),
        wants({"two": ask}),
        wants(requestState="s3"),
        wants({"four": ask, "five": ask}, requestState=""),
        DONE,
    ]
    script = {**MODERN, "tools/call": in_turn(*rounds)}
    async with puppet(script) as server, server.connect(handlers=Person().handlers()) as session:
        assert await session.call_tool("x", {}, timeout=SOON) == DONE
        carried = [
            (sorted(call["params"].get("inputResponses", {})), call["params"].get("requestState", "absent"))
            for call in server.all("tools/call")
        ]
    assert carried == [
        ([], "absent"),
        (["one"], "s1"),
        (["two"], "absent"),
        ([], "s3"),
        (["five", "four"], ""),
    ]


@pytest.mark.parametrize(
    "state", ["x" * 100_000, '{"json":"like"}', "line\nbreak", "\ud800", 7, None, {"a": [1]}]
)
async def test_the_state_goes_back_exactly_as_it_came(puppet, state: Any):
    script = {**MODERN, "tools/call": in_turn(wants(requestState=state), DONE)}
    async with puppet(script) as server, server.connect() as session:
        await session.call_tool("x", {}, timeout=SOON)
        assert server.all("tools/call")[1]["params"]["requestState"] == state
        assert "inputResponses" not in server.all("tools/call")[1]["params"]


async def test_a_server_that_is_never_content_is_left(puppet, monkeypatch):
    monkeypatch.setattr(session_module.asyncio, "sleep", _no_pause)
    script = {**MODERN, "tools/call": wants(requestState="again")}
    async with puppet(script) as server, server.connect() as session:
        with pytest.raises(CallFailed, match="asked for more input 10 times"):
            await session.call_tool("x", {}, timeout=SOON)
        assert len(server.all("tools/call")) == 11
        assert await session.list_tools(timeout=SOON) == [TOOL]


async def _no_pause(seconds: float) -> None:
    """Rounds without questions are paced; not here."""


@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
async def test_prompts_and_resources_may_ask_too(puppet, method: str):
    script = {
        **MODERN,
        method: in_turn(wants({"a": {"method": "roots/list"}}, requestState="s"), {"messages": []}),
    }
    async with puppet(script) as server, server.connect(handlers=Person().handlers()) as session:
        assert await session.ask(method, {"name": "p"}, timeout=SOON) == {"messages": []}
        again = server.all(method)[1]["params"]
        assert (again["inputResponses"], again["requestState"]) == ({"a": ROOTS}, "s")
        assert again["name"] == "p"


async def test_without_a_hook_the_call_fails_and_says_why(puppet):
    script = {**MODERN, "tools/call": wants({"a": {"method": "elicitation/create", "params": FORM}})}
    async with puppet(script) as server, server.connect() as session:
        with pytest.raises(CallFailed, match="does not offer elicitation/create"):
            await session.call_tool("x", {}, timeout=SOON)
        assert len(server.all("tools/call")) == 1


async def test_one_refusal_ends_the_call_and_the_other_questions(puppet):
    asked, ended = asyncio.Event(), asyncio.Event()

    async def think(server: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {}

    async def deny(server: str, params: dict[str, Any]) -> dict[str, Any]:
        await asked.wait()
        raise Denied("Not today.")

    wanted = {"a": {"method": "elicitation/create", "params": FORM}, "b": {"method": "roots/list"}}
    script = {**MODERN, "tools/call": wants(wanted)}
    handlers = Handlers(elicit=think, roots=deny)
    async with puppet(script) as server, server.connect(handlers=handlers) as session:
        with pytest.raises(Denied, match=r"Not today\."):
            await session.call_tool("x", {}, timeout=SOON)
        assert ended.is_set()
        assert len(server.all("tools/call")) == 1


async def test_a_hook_that_stumbles_fails_the_call_alone(puppet, caplog):
    async def stumble(server: str, params: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("a bug")

    script = {**MODERN, "tools/call": wants({"a": {"method": "roots/list"}})}
    async with puppet(script) as server, server.connect(handlers=Handlers(roots=stumble)) as session:
        caplog.set_level(logging.CRITICAL, logger="toolcrib.servers.sessions.handlers")
        with pytest.raises(CallFailed, match="The handler of roots/list failed"):
            await session.call_tool("x", {}, timeout=SOON)
        assert await session.list_tools(timeout=SOON) == [TOOL]


@pytest.mark.parametrize("wanted", [{"a": None}, {"a": "roots/list"}, {"a": {}}, {"a": {"method": 5}}])
async def test_a_misshapen_question_fails_the_call_alone(puppet, wanted: Any):
    script = {**MODERN, "tools/call": wants(wanted)}
    async with puppet(script) as server, server.connect(handlers=Person().handlers()) as session:
        with pytest.raises(CallFailed):
            await session.call_tool("x", {}, timeout=SOON)
        assert await session.list_tools(timeout=SOON) == [TOOL]


async def test_a_call_cancelled_during_a_question_takes_the_question_back(puppet):
    asked, ended = asyncio.Event(), asyncio.Event()

    async def think(server: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {}

    script = {**MODERN, "tools/call": wants({"a": {"method": "elicitation/create", "params": FORM}})}
    async with puppet(script) as server, server.connect(handlers=Handlers(elicit=think)) as session:
        call = asyncio.ensure_future(session.call_tool("x", {}, timeout=SOON))
        async with asyncio.timeout(SOON):
            await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ended.is_set()
        await session.list_tools(timeout=SOON)
        assert not server.all("notifications/cancelled")  # no request was on its way then


async def test_a_question_does_not_use_up_the_time_of_a_modern_call(puppet, clock: LoopClock):
    answered, asked = asyncio.Event(), asyncio.Event()

    async def think(server: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        await answered.wait()
        return {"action": "cancel"}

    question = {"a": {"method": "elicitation/create", "params": FORM}}
    script = {**MODERN, "tools/call": in_turn(wants(question), DONE)}
    async with puppet(script) as server, server.connect(handlers=Handlers(elicit=think)) as session:
        call = asyncio.ensure_future(session.call_tool("x", {}, timeout=30))
        async with asyncio.timeout(SOON):
            await asked.wait()
        await clock.passes(3600)
        answered.set()
        assert await call == DONE
