"""Toolcrib's own tools ask before they send behind the gateway; an answer is for the client that asked."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

import httpx2
import mcp_types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.bundled.discord.conftest import discord, store
from tests.bundled.discord.server import GENERAL
from tests.gateway.speaking import ACCEPT, DEADLINE, META, eventually
from toolcrib.approvals.question import ApprovalAnswer
from toolcrib.config.tokens import hash_token, new_token
from toolcrib.gateway import gateway as gateway_module
from toolcrib.gateway import identity

__all__ = ["discord", "store"]

TOOL = "discord__send_message"
SEND = {"channel": GENERAL, "text": "The pond is ready."}
INFO = "io.modelcontextprotocol/clientInfo"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
OLD = "2025-06-18"


@pytest.fixture(autouse=True)
def crib_with_discord(crib, store):
    crib.entry("discord", {"type": "inprocess", "module": "toolcrib.bundled.discord"})
    crib.setting(gateway={"approvalWait": 0})


@pytest.fixture
def sent(discord):
    """The texts that reached Discord."""
    return lambda: [
        message["content"]
        for message in discord.channels[GENERAL].messages
        if "pond is" in message["content"]
    ]


class Modern:
    """A client of the modern era that calls itself by this name, or not at all."""

    def __init__(self, http, url, name, elicits=False):
        self.http, self.url = http, url
        info = {} if name is None else {INFO: {"name": name, "version": "1"}}
        others = {key: value for key, value in META.items() if key not in (INFO, CAPABILITIES)}
        self.meta = {**others, **info, CAPABILITIES: {"elicitation": {}} if elicits else {}}

    async def request(self, method, **params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": self.meta}}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": params["name"]}
        return (await self.http.post(self.url, json=message, headers=headers)).json()

    async def call(self, name=TOOL, arguments=SEND, **more):
        answer = await self.request("tools/call", name=name, arguments=arguments, **more)
        return answer["result"]


class Legacy:
    """A client with a session."""

    def __init__(self, http, url):
        self.http, self.url, self.session = http, url, {}

    async def open(self):
        info = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info}
        answer = await self.http.post(self.url, json=message)
        self.session = {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
        return self

    async def call(self, name=TOOL, arguments=SEND):
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return (await self.http.post(self.url, json=message, headers=self.session)).json()["result"]

    async def close(self):
        await self.http.delete(self.url, headers=self.session)


@asynccontextmanager
async def reached(serve, path=""):
    """The host, the address, and plain HTTP."""
    async with (
        serve() as (host, url),
        httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE) as http,
    ):
        await host.ready()
        yield host, f"{url}{path}", http


async def waiting(host):
    return [request.question for request in await host.approvals.questions.requests.waiting()]


async def until_asked(host):
    async with asyncio.timeout(DEADLINE):
        while not await waiting(host):
            pass


async def answer(host, allow=True, **said):
    [question] = await waiting(host)
    assert await host.approvals.questions.answer(question["id"], ApprovalAnswer(allow=allow, **said))
    return question


def note(result):
    return result["_meta"]["toolcrib/error"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("decision", ["allow once", "deny"])
async def test_a_client_that_can_ask_shows_the_call_and_decides_for_this_call(serve, sent, mode, decision):
    asked = []

    async def decide(context, params):
        asked.append(params.message)
        return mcp_types.ElicitResult(action="accept", content={"decision": decision})

    async with (
        serve() as (host, url),
        Client(streamable_http_client(url), mode=mode, elicitation_callback=decide) as client,
    ):
        await host.ready()
        results = [await client.call_tool(TOOL, SEND) for _ in range(2)]
        assert host.approvals.policy.rules.active == ()
    assert len(asked) == 2
    assert TOOL in asked[0]
    assert SEND["text"] in asked[0]
    assert [result.is_error for result in results] == [decision == "deny"] * 2
    assert len(sent()) == (0 if decision == "deny" else 2)


@pytest.mark.parametrize(
    "reply", [{"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {}}]
)
async def test_only_a_clear_yes_of_the_client_allows(serve, sent, reply):
    async def decide(context, params):
        return mcp_types.ElicitResult(**reply)

    async with (
        serve() as (host, url),
        Client(streamable_http_client(url), elicitation_callback=decide) as client,
    ):
        await host.ready()
        assert (await client.call_tool(TOOL, SEND)).is_error
    assert sent() == []


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_call_of_a_client_that_cannot_ask_is_pending_until_the_user_answers(serve, sent, era):
    async with reached(serve) as (host, url, http):
        client = Modern(http, url, "b") if era == "modern" else await Legacy(http, url).open()
        first = await client.call()
        assert first["isError"]
        assert note(first)["status"] == "approval_pending"
        question = await answer(host)
        assert note(first)["id"] == question["id"]
        assert f"toolcrib approvals allow {question['id']}" in first["content"][0]["text"]
        assert question["scopes"] == (["once", "always"] if era == "modern" else ["once", "chat", "always"])
        assert sent() == []
        assert not (await client.call())["isError"]
        assert sent() == [SEND["text"]]
        assert note(await client.call())["status"] == "approval_pending"
        await answer(host, allow=False, message="not today")
        assert "not today" in (await client.call())["content"][0]["text"]
    assert sent() == [SEND["text"]]


async def test_an_answer_within_the_wait_lets_the_call_continue(serve, crib, sent):
    crib.setting(gateway={"approvalWait": DEADLINE})
    async with reached(serve) as (host, url, http):
        calling = asyncio.create_task(Modern(http, url, "b").call())
        await until_asked(host)
        await answer(host)
        assert not (await calling)["isError"]
    assert sent() == [SEND["text"]]


@pytest.mark.parametrize("other", ["c", None, "session"])
async def test_an_answer_is_not_for_another_client(serve, sent, other):
    async with reached(serve) as (host, url, http):
        asking_one = Modern(http, url, "b")
        another = await Legacy(http, url).open() if other == "session" else Modern(http, url, other)
        await asking_one.call()
        await answer(host)
        assert (await another.call())["isError"]
        assert sent() == []
        assert not (await asking_one.call())["isError"]
    assert sent() == [SEND["text"]]


async def test_one_answer_is_for_one_of_two_calls_at_the_same_time(serve, crib, sent):
    crib.setting(gateway={"approvalWait": 1})
    async with reached(serve) as (host, url, http):
        client = Modern(http, url, "b")
        calls = [asyncio.create_task(client.call()) for _ in range(2)]
        await eventually(lambda: len(host.approvals.policy.asking) == 2)
        await until_asked(host)
        await answer(host)
        results = await asyncio.gather(*calls)
        assert sorted(result["isError"] for result in results) == [False, True]
        [pending] = [result for result in results if result["isError"]]
        assert [question["id"] for question in await waiting(host)] == [note(pending)["id"]]
    assert sent() == [SEND["text"]]


async def test_an_answer_outlasts_a_restart_for_the_same_client_alone(serve, sent):
    async with reached(serve) as (_, url, http):
        await Modern(http, url, "b").call()
    async with reached(serve) as (host, url, http):
        await answer(host)
        assert (await Modern(http, url, "c").call())["isError"]
        assert not (await Modern(http, url, "b").call())["isError"]
    assert sent() == [SEND["text"]]


async def test_a_new_token_ends_what_was_asked_before(serve, crib, sent):
    async with reached(serve) as (_, url, http):
        await Modern(http, url, "b").call()
    token = new_token()
    crib.setting(gateway={"approvalWait": 0, "tokenHash": hash_token(token)})
    async with reached(serve) as (host, url, http):
        await answer(host)
        http.headers["Authorization"] = f"Bearer {token}"
        assert (await Modern(http, url, "b").call())["isError"]
    assert sent() == []


async def test_a_client_without_a_name_is_answered_while_it_waits_or_never(serve, sent):
    async with reached(serve) as (host, url, http):
        client = Modern(http, url, None)
        result = await client.call()
        assert note(result)["kind"] == "denied"
        assert "clientInfo" in result["content"][0]["text"]
        assert await waiting(host) == []
        assert (await client.call())["isError"]
    assert sent() == []


async def test_more_clients_than_can_be_told_apart_are_anonymous(serve, monkeypatch):
    monkeypatch.setattr(identity, "MAX_CLIENTS", 1)
    async with reached(serve) as (_, url, http):
        assert note(await Modern(http, url, "b").call())["kind"] == "approval_pending"
        assert note(await Modern(http, url, "c").call())["kind"] == "denied"
        assert note(await Modern(http, url, "b").call())["kind"] == "approval_pending"


async def test_an_answer_for_a_session_ends_with_it_and_is_for_no_other(serve, sent):
    async with reached(serve) as (host, url, http):
        one, other = await Legacy(http, url).open(), await Legacy(http, url).open()
        await one.call()
        await answer(host, scope="chat")
        assert not (await one.call())["isError"]
        assert not (await one.call())["isError"]
        assert host.approvals.policy.rules.active == ()
        assert (await other.call())["isError"]
        assert (await Modern(http, url, "old").call())["isError"]
        await one.close()
        again = await Legacy(http, url).open()
        assert (await again.call())["isError"]
    assert len(sent()) == 2


async def test_no_wider_answer_than_offered_counts_for_a_client_without_a_session(serve, sent):
    async with reached(serve) as (host, url, http):
        client = Modern(http, url, "b")
        await client.call()
        await answer(host, scope="chat", lift="session", whole_turn=True)
        assert not (await client.call())["isError"]
        assert (await client.call())["isError"]
        assert host.approvals.policy.rules.active == ()
    assert len(sent()) == 1


async def test_always_stores_the_exact_rule(serve, sent):
    async with reached(serve) as (host, url, http):
        client = Modern(http, url, "b")
        await client.call()
        await answer(host, scope="always")
        assert not (await client.call())["isError"]
        assert not (await Modern(http, url, "c").call())["isError"]
        other = {**SEND, "text": "The pond is full."}
        assert (await client.call(arguments=other))["isError"]
    assert len(sent()) == 2


async def test_a_question_expires(serve, monkeypatch, sent):
    monkeypatch.setattr(gateway_module, "EXPIRES_AFTER", timedelta(seconds=-1))
    async with reached(serve) as (host, url, http):
        client = Modern(http, url, "b")
        expired = note(await client.call())["id"]
        assert await waiting(host) == []
        assert not await host.approvals.questions.answer(expired, ApprovalAnswer(allow=True))
        monkeypatch.setattr(gateway_module, "EXPIRES_AFTER", timedelta(hours=1))
        assert note(await client.call())["id"] != expired
        assert len(await waiting(host)) == 1
    assert sent() == []


@pytest.mark.parametrize("view", ["", "/quiet"])
async def test_one_setting_for_each_view_turns_it_off(serve, crib, sent, view):
    off = {"approvals": "off"}
    crib.setting(gateway={"approvalWait": 0, **(off if not view else {})})
    crib.setting(profiles={"quiet": off if view else {}})
    async with reached(serve) as (host, url, http):
        others = "" if view else "/quiet"
        assert not (await Modern(http, f"{url}{view}", "b").call())["isError"]
        assert (await Modern(http, f"{url}{others}", "b").call())["isError"]
        if view:
            crib.setting(profiles={"quiet": {"approvals": "page"}})
            await host.reload()
            assert (await Modern(http, f"{url}{view}", "b").call())["isError"]
    assert sent() == [SEND["text"]]


async def test_a_view_can_have_the_page_alone_decide(serve, crib, sent):
    crib.setting(gateway={"approvalWait": 0, "approvals": "page"})
    async with reached(serve) as (_, url, http):
        result = await Modern(http, url, "b", elicits=True).call()
        assert note(result)["status"] == "approval_pending"
    assert sent() == []


async def test_input_of_one_client_does_not_answer_for_another(serve, sent):
    async with reached(serve) as (_, url, http):
        one, other = (Modern(http, url, name, elicits=True) for name in "bc")
        asked = await one.call()
        assert asked["resultType"] == "input_required"
        [key] = asked["inputRequests"]
        yes = {key: {"action": "accept", "content": {"decision": "allow once"}}}
        given = {"requestState": asked["requestState"], "inputResponses": yes}
        params = {"name": TOOL, "arguments": SEND, **given}
        assert (await other.request("tools/call", **params))["error"]["code"] == -32602
        changed = {**params, "arguments": {**SEND, "text": "The pond is full."}}
        assert (await one.request("tools/call", **changed))["error"]["code"] == -32602
        assert sent() == []
        assert not (await one.call(**given))["isError"]
        assert (await one.request("tools/call", **params))["error"]["code"] == -32602
    assert sent() == [SEND["text"]]


async def test_ordinary_work_and_other_servers_do_not_ask(serve, crib, tmp_path):
    (tmp_path / "files").mkdir()
    module = ["-m", "toolcrib.bundled.filesystem", str(tmp_path / "files")]
    crib.entry("files", {"command": sys.executable, "args": module})
    crib.server("other")
    async with reached(serve) as (_, url, http):
        client = Modern(http, url, "b")
        path = str(tmp_path / "files" / "a.txt")
        written = await client.call("files__write_file", {"path": path, "content": "x"})
        assert not written["isError"], written
        assert not (await client.call("other__echo", {"text": "x"}))["isError"]


async def test_a_question_is_withdrawn_when_the_session_ends(serve):
    async with reached(serve) as (host, url, http):
        client = await Legacy(http, url).open()
        await client.call()
        await Modern(http, url, "b").call()
        assert len(await waiting(host)) == 2
        await client.close()
        async with asyncio.timeout(DEADLINE):
            while len(await waiting(host)) == 2:
                pass
        assert [question["session"].split()[0] for question in await waiting(host)] == ["b"]


async def test_a_client_that_asks_for_progress_hears_that_its_call_waits(serve):
    async with reached(serve) as (_, url, http):
        client = Modern(http, url, "b")
        client.meta["progressToken"] = "p"
        message = {"name": TOOL, "arguments": SEND, "_meta": client.meta}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": TOOL}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": message}
        said = (await http.post(url, json=body, headers=headers)).text
        assert "notifications/progress" in said
        assert f"Waiting for approval of {TOOL}." in said
        assert '"approval_pending"' in said


async def test_a_waiting_question_names_the_client(serve):
    async with reached(serve) as (host, url, http):
        await Modern(http, url, "Kate's editor").call()
        [question] = await waiting(host)
        assert question["principal"] == "gateway"
        assert question["session"].startswith("Kates editor 1 ")
