"""What a server asks of us on the way: sampling, elicitation and roots, in both eras by the same hooks."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.servers.conftest import LoopClock
from tests.servers.puppets import LEGACY, MODERN, SCRIPTS, TOOL, Message, Puppet
from toolcrib.errors import CallFailed, Denied, PeerError
from toolcrib.servers import session as session_module
from toolcrib.servers.handlers import Handlers

pytestmark = pytest.mark.usefixtures("tidy")
ERAS = pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
SOON = 20.0
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}

FORM = {"mode": "form", "message": "Your name?", "requestedSchema": {"type": "object", "x-kept": 1}}
URL = {"mode": "url", "message": "Sign in", "url": "https://example.com/x", "elicitationId": "e1"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5}
ROOTS = {"roots": [{"uri": "file:///a", "name": "A"}]}


class Person:
    """Answers everything, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    async def sample(self, server: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(("sample", server, params))
        return {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}

    async def elicit(self, server: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(("elicit", server, params))
        if params.get("mode") == "url":
            return {"action": "accept"}
        return {"action": "accept", "content": {"name": "Ada"}}

    async def roots(self, server: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(("roots", server, params))
        return ROOTS

    def handlers(self) -> Handlers:
        return Handlers(sample=self.sample, elicit=self.elicit, roots=self.roots)


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
        with caplog.at_level(logging.CRITICAL, logger="toolcrib.servers.handlers"):
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


# The modern era: answers that ask for more


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
        caplog.set_level(logging.CRITICAL, logger="toolcrib.servers.handlers")
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
