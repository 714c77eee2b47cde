"""Recording the messages of servers of each transport and era: what is kept and masked, and when it ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.conftest import Crib
from tests.servers.remote.sdk import sdk_server
from toolcrib.errors import ToolcribError, UnknownServer
from toolcrib.host import Host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.servers.traffic import (
    LONGEST_MESSAGE,
    MESSAGES_A_SECOND,
    MOST_CHARACTERS,
    MOST_MESSAGES,
    UNSEEN,
    Traffic,
)
from toolcrib.testing.clock import TurnedClock
from toolcrib.tools.masker import Masker

DEADLINE = 60.0
SECRET = "hunter2-and-more"


async def ask(host: Host, operation: str, **params: Any) -> Any:
    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation(from_page=True))


async def recorded(host: Host, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await ask(host, "traffic", name=name))["messages"]
    return found


def of_method(messages: list[dict[str, Any]], method: str) -> list[tuple[bool, str]]:
    return [(one["to_server"], one["kind"]) for one in messages if one["method"] == method]


CALL = [(True, "request"), (False, "result")]


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_call_over_stdio_is_recorded_both_ways_while_it_is_switched_on(crib: Crib, era: str):
    crib.server("srv", args=("--era", era))
    async with crib.open(watch=False) as host:
        await host.ready()
        await host.call("srv__echo", {"text": "before"})
        assert await recorded(host, "srv") == []

        assert await ask(host, "traffic_record", name="srv", on=True) == {"server": "srv", "recording": True}
        await host.call("srv__echo", {"text": "meanwhile"})
        await ask(host, "restart", name="srv")
        await ask(host, "traffic_record", name="srv", on=False)
        await host.call("srv__echo", {"text": "after"})

        messages = await recorded(host, "srv")
        first = {"legacy": "initialize", "modern": "server/discover"}[era]
        assert of_method(messages, "tools/call") == CALL
        assert of_method(messages, first)[-2:] == CALL
        request, answer = (one for one in messages if one["method"] == "tools/call")
        assert json.loads(request["text"])["params"]["arguments"] == {"text": "meanwhile"}
        assert json.loads(answer["text"])["result"]["content"][0]["text"] == "meanwhile"
        assert request["id"] == answer["id"]
        assert (request["milliseconds"], request["cut"]) == (None, False)
        assert answer["milliseconds"] > 0
        assert abs(answer["size"] - len(answer["text"])) < 10
        text = "".join(one["text"] for one in messages)
        assert "before" not in text
        assert "after" not in text


@pytest.mark.parametrize(
    ("mode", "era"), [("http", "modern"), ("http", "legacy"), ("json", "modern"), ("sse", "legacy")]
)
async def test_a_call_of_a_remote_server_is_recorded_without_its_secrets(crib: Crib, mode: str, era: str):
    async with sdk_server(mode) as server:
        headers = {"X-Key": "${secret:KEY}"}
        kind = "sse" if mode == "sse" else "http"
        crib.entry(
            "far", {"type": kind, "url": f"{server.url}?key=${{secret:KEY}}", "headers": headers, "era": era}
        )
        async with crib.open(watch=False) as host:
            host.core.secrets.set("KEY", SECRET)
            await ask(host, "traffic_record", name="far", on=True)
            await ask(host, "restart", name="far")
            await host.call("far__echo", {"text": f"it is {SECRET}, or Bearer abcdefgh12345678"})

            messages = await recorded(host, "far")
            assert of_method(messages, "tools/call") == CALL
            assert SECRET not in json.dumps(messages)
            assert "abcdefgh12345678" not in json.dumps(messages)
            assert "it is ***, or ***" in messages[-1]["text"]


async def test_a_server_in_this_process_is_recorded(crib: Crib):
    crib.entry("demo", {"type": "inprocess", "module": "toolcrib.bundled.demo"})
    async with crib.open(watch=False) as host:
        await host.ready()
        await ask(host, "traffic_record", name="demo", on=True)
        await host.call("demo__add", {"a": 1, "b": 2})
        assert of_method(await recorded(host, "demo"), "tools/call") == CALL

        await ask(host, "traffic_clear", name="demo")
        await host.call("demo__add", {"a": 3, "b": 4})
        found = await ask(host, "traffic", name="demo")
        assert [one["number"] for one in found["messages"]] == [found["oldest"], found["oldest"] + 1]
        later = await ask(host, "traffic", name="demo", after=found["oldest"])
        assert later["messages"] == found["messages"][1:]
        with pytest.raises(UnknownServer):
            await ask(host, "traffic_record", name="nobody", on=True)


async def test_secrets_in_arguments_and_in_the_environment_are_masked(crib: Crib):
    crib.server("srv", env={"TOKEN": "${secret:TOKEN}", "PIN": "${secret:PIN}"})
    async with crib.open(watch=False) as host:
        host.core.secrets.set("TOKEN", SECRET)
        host.core.secrets.set("PIN", "4711")
        await ask(host, "traffic_record", name="srv", on=True)
        await ask(host, "restart", name="srv")
        await host.call("srv__environment", {})
        with pytest.raises(ToolcribError):
            await host.call("srv__fail", {"password": "open-sesame"})
        await host.call("srv__echo", {"text": "4711"})
        await host.call("srv__echo", {"text": "see https://h.example/?api_token=xyz12345"})

        text = "\n".join(one["text"] for one in await recorded(host, "srv"))
        assert "TOKEN" in text
        for hidden in (SECRET, "open-sesame", "4711", "xyz12345"):
            assert hidden not in text


async def test_a_recording_ends_when_nobody_looks_and_keeps_what_it_has(crib: Crib):
    clock = TurnedClock()
    crib.server("srv")
    async with crib.open(watch=False, clock=clock) as host:
        await host.ready()
        await ask(host, "traffic_record", name="srv", on=True)
        for _ in range(2):
            clock.turn(UNSEEN - 1)
            assert (await ask(host, "traffic", name="srv"))["recording"]
        await host.call("srv__echo", {"text": "seen"})
        clock.turn(UNSEEN + 1)
        await host.call("srv__echo", {"text": "unseen"})

        assert host.core.traffic.active == {}
        found = await ask(host, "traffic", name="srv")
        assert not found["recording"]
        assert "unseen" not in json.dumps(found)
        assert "seen" in json.dumps(found)


async def test_a_flood_is_counted_and_calls_go_on(crib: Crib):
    crib.server("storm", "storm")
    async with crib.open(watch=False, clock=TurnedClock()) as host:
        await host.ready()
        await ask(host, "traffic_record", name="storm", on=True)
        await host.call("storm__echo", {"text": "x"})
        await host.call("storm__echo", {"text": "y"})

        found = await ask(host, "traffic", name="storm")
        assert len(found["messages"]) <= MESSAGES_A_SECOND
        assert found["skipped"] >= 800


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def traffic(clock: TurnedClock) -> Traffic:
    made = Traffic(clock=clock, mask=Masker([SECRET]).value)
    made.record("srv", True)
    return made


def test_the_last_messages_are_kept_within_bounds(traffic: Traffic, clock: TurnedClock):
    recording = traffic.active["srv"]
    for number in range(MOST_MESSAGES + 20):
        clock.turn(2)
        traffic.look("srv")
        recording.note(None, {"jsonrpc": "2.0", "method": f"m/{number}"}, to_server=True)
    assert (len(recording.messages), recording.oldest) == (MOST_MESSAGES, 21)

    long = {"jsonrpc": "2.0", "method": "m", "params": {"text": "ü" * 10**6, "more": list(range(10**5))}}
    for _ in range(100):
        clock.turn(2)
        recording.note(None, long, to_server=False)
    last = recording.messages[-1]
    assert sum(len(one.text) for one in recording.messages) <= MOST_CHARACTERS
    assert (last.cut, last.size > 10**6, len(last.text) < LONGEST_MESSAGE + 200) == (True, True, True)
    assert "1,000,000 characters" in json.loads(last.text)["params"]["text"]


def test_a_message_of_any_form_is_kept_as_json(traffic: Traffic):
    deep: Any = SECRET
    for _ in range(5000):
        deep = [deep]
    circle: dict[str, Any] = {}
    circle["circle"] = circle
    odd = {
        "deep": deep,
        "circle": circle,
        "nan": float("nan"),
        "half": "\ud800",
        "large": 10**5000,
        "set": {1},
    }
    recording = traffic.active["srv"]
    recording.note(None, {"jsonrpc": "2.0", "method": "m", "id": [1], "params": odd}, to_server=False)

    [kept] = recording.messages
    params = json.loads(kept.text)["params"]
    assert (kept.cut, kept.id, params["nan"], params["half"], params["set"]) == (
        True,
        None,
        None,
        "?",
        "… a set",
    )
    assert SECRET not in kept.text


def test_names_of_arguments_in_schemas_are_not_secrets(traffic: Traffic):
    schema = {"type": "object", "properties": {"api_key": {"type": "string", "default": SECRET}}}
    tool = {
        "name": "t",
        "inputSchema": schema,
        "headers": {"Authorization": "me:1"},
        "credentials": {"a": ["b"]},
        "text": json.dumps({"password": 'a"b', "plain": "c"}),
    }
    message = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool], "progressToken": 5}}
    traffic.active["srv"].note(None, message, to_server=False)

    result = json.loads(traffic.active["srv"].messages[0].text)["result"]
    assert result["progressToken"] == 5
    assert result["tools"][0]["inputSchema"]["properties"]["api_key"] == {"type": "string", "default": "***"}
    assert result["tools"][0]["headers"] == {"Authorization": "***"}
    assert result["tools"][0]["credentials"] == {"a": ["***"]}
    assert json.loads(result["tools"][0]["text"]) == {"password": "***", "plain": "c"}


def test_connections_of_one_server_do_not_mix_up_their_answers(traffic: Traffic):
    first, second = object(), object()
    recording = traffic.active["srv"]
    recording.note(first, {"id": 1, "method": "tools/call"}, to_server=True)
    recording.note(second, {"id": 1, "method": "ping"}, to_server=True)
    recording.note(first, {"id": 1, "method": "sampling/createMessage"}, to_server=False)
    recording.note(second, {"id": 1, "result": {}}, to_server=False)
    recording.note(first, {"id": 1, "error": {}}, to_server=False)
    recording.note(first, {"id": 1, "result": {}}, to_server=True)

    assert [(one.kind, one.method) for one in recording.messages][3:] == [
        ("result", "ping"),
        ("error", "tools/call"),
        ("result", "sampling/createMessage"),
    ]


def test_what_was_recorded_is_forgotten_with_the_next_recording(traffic: Traffic):
    traffic.active["srv"].note(None, {"method": "m"}, to_server=True)
    traffic.record("srv", False)
    assert traffic.look("srv") is not None
    traffic.record("other", True)
    assert traffic.look("srv") is None
    traffic.forget("other")
    assert (traffic.active, traffic.look("other")) == ({}, None)
