"""The conversation itself, of both eras; the spec's own words are the expectation."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.session import ServerSession

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
MODERN = {VERSION: "2026-07-28", CAPABILITIES: {}}


class Client:
    """A session and what it said besides its answers."""

    def __init__(self, server: ToolServer) -> None:
        self.session: ServerSession = server.session()
        self.heard: list[dict[str, Any]] = []

    async def ask(self, method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        answer = await self.session.respond(message, self.heard.append)
        assert answer is not None
        return answer

    async def refused(self, method: str, **params: Any) -> dict[str, Any]:
        answer = await self.ask(method, **params)
        error: dict[str, Any] = answer["error"]
        return error


@pytest.fixture
def server() -> ToolServer:
    server = ToolServer("bench", "2.0", "Read me.")

    @server.tool(quick=True)
    def echo(text: str) -> str:
        return text

    @server.tool()
    async def wait(context: ToolContext) -> str:
        context.progress(1)
        await asyncio.get_running_loop().create_future()
        return "never"

    return server


@pytest.fixture
def client(server: ToolServer) -> Client:
    return Client(server)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_initialize_agrees_to_a_version_it_knows(client: Client, version: str) -> None:
    answer = await client.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={})
    assert answer["result"] == {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": False}, "logging": {}},
        "serverInfo": {"name": "bench", "version": "2.0"},
        "instructions": "Read me.",
    }


@pytest.mark.parametrize("version", ["2099-01-01", "2026-07-28", None, 5, ["2025-06-18"]])
async def test_initialize_offers_the_newest_it_knows_for_any_other(client: Client, version: Any) -> None:
    answer = await client.ask("initialize", protocolVersion=version)
    assert answer["result"]["protocolVersion"] == "2025-11-25"


async def test_discover_tells_what_there_is(client: Client) -> None:
    answer = await client.ask("server/discover", _meta=MODERN)
    assert answer["result"] == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": False}, "logging": {}},
        "instructions": "Read me.",
        "ttlMs": 300_000,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "2.0"}},
    }


async def test_a_modern_list_says_how_long_it_is_fresh(client: Client) -> None:
    result = (await client.ask("tools/list", _meta=MODERN))["result"]
    assert [tool["name"] for tool in result["tools"]] == ["echo", "wait"]
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 300_000, "public")


async def test_an_unsupported_version_is_refused_with_those_that_are(client: Client) -> None:
    for version in ("1900-01-01", "2025-11-25"):
        error = await client.refused("tools/list", _meta={**MODERN, VERSION: version})
        assert error["code"] == -32022
        assert error["data"] == {"supported": ["2026-07-28"], "requested": version}


@pytest.mark.parametrize(
    "meta",
    [
        {VERSION: "2026-07-28"},
        {VERSION: 5, CAPABILITIES: {}},
        {VERSION: "2026-07-28", CAPABILITIES: None},
        {**MODERN, "io.modelcontextprotocol/logLevel": "shouting"},
        "text",
    ],
)
async def test_a_modern_request_with_a_broken_envelope_is_refused(client: Client, meta: Any) -> None:
    assert (await client.refused("tools/list", _meta=meta))["code"] == -32602


async def test_discover_without_an_envelope_is_refused(client: Client) -> None:
    assert (await client.refused("server/discover"))["code"] == -32602


async def test_before_any_opening_only_ping_is_served(client: Client) -> None:
    assert (await client.ask("ping"))["result"] == {}
    error = await client.refused("tools/list")
    assert error["code"] == -32602
    assert "initialize" in error["message"]


async def test_both_eras_are_served_side_by_side(client: Client) -> None:
    await client.ask("initialize", protocolVersion="2025-06-18")
    assert "resultType" not in (await client.ask("tools/list"))["result"]
    assert "resultType" in (await client.ask("tools/list", _meta=MODERN))["result"]


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "initialise", "resources/list"])
async def test_what_the_modern_era_lacks_is_not_found_there(client: Client, method: str) -> None:
    assert (await client.refused(method, _meta=MODERN))["code"] == -32601


async def test_an_unknown_method_is_not_found(client: Client) -> None:
    await client.ask("initialize", protocolVersion="2025-06-18")
    assert (await client.refused("prompts/list"))["code"] == -32601


async def test_an_unknown_tool_and_wrong_params_are_invalid(client: Client) -> None:
    error = await client.refused("tools/call", _meta=MODERN, name="nope", arguments={})
    assert (error["code"], error["message"]) == (-32602, "Unknown tool: nope")
    for params in ({}, {"name": 5}, {"name": ["echo"]}, {"name": "echo", "arguments": [1]}):
        assert (await client.refused("tools/call", _meta=MODERN, **params))["code"] == -32602
    assert (await client.refused("tools/list", _meta=MODERN, cursor="x"))["code"] == -32602


async def test_wrong_arguments_are_a_result_for_the_model(client: Client) -> None:
    answer = await client.ask("tools/call", _meta=MODERN, name="echo", arguments={"txt": 1})
    assert answer["result"]["isError"] is True


@pytest.mark.parametrize("request_id", [None, 1.5, True, {"a": 1}])
async def test_an_id_that_is_none_gets_an_error_without_id(client: Client, request_id: Any) -> None:
    answer = await client.ask("ping", request_id)
    assert answer["error"]["code"] == -32600
    assert "id" not in answer


async def test_responses_and_unknown_notifications_are_ignored(client: Client) -> None:
    for message in (
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {"a": 1}}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}},
    ):
        assert await client.session.respond(message, client.heard.append) is None
    assert client.heard == []


async def test_an_id_in_use_is_refused_and_its_first_owner_unharmed(client: Client) -> None:
    first = asyncio.create_task(client.ask("subscriptions/listen", "same", _meta=MODERN))
    await asyncio.sleep(0)
    assert (await client.ask("tools/list", "same", _meta=MODERN))["error"]["code"] == -32600
    client.session.end()
    assert (await first)["id"] == "same"


async def test_a_subscription_is_acknowledged_and_ends_gracefully(client: Client) -> None:
    wanted = {"toolsListChanged": True}
    listening = asyncio.create_task(client.ask("subscriptions/listen", 9, _meta=MODERN, notifications=wanted))
    await asyncio.sleep(0)
    assert client.heard == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": 9}, "notifications": {}},
        }
    ]
    client.session.end()
    result = (await listening)["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/subscriptionId"] == 9


async def test_cancelling_by_message_leaves_the_waiting_task_alive(server: ToolServer) -> None:
    session = server.session()
    began = asyncio.Event()
    params = {"name": "wait", "arguments": {}, "_meta": {**MODERN, "progressToken": 1}}

    async def caller() -> str:
        call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
        assert await session.respond(call, lambda _: began.set()) is None
        await asyncio.sleep(0)
        return "went on"

    task = asyncio.create_task(caller())
    await began.wait()
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    for _ in range(2):
        await session.respond(notice, lambda _: None)
    assert await task == "went on"
    assert task.cancelling() == 0


async def test_cancelling_the_waiting_task_cancels_it(server: ToolServer) -> None:
    session = server.session()
    began = asyncio.Event()
    params = {"name": "wait", "arguments": {}, "_meta": {**MODERN, "progressToken": 1}}
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
    task = asyncio.create_task(session.respond(call, lambda _: began.set()))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    again = await session.respond({**call, "method": "server/discover"}, lambda _: None)
    assert again is not None
    assert "result" in again


async def test_sessions_of_one_server_do_not_touch_each_other(server: ToolServer) -> None:
    one, other = Client(server), Client(server)
    began = asyncio.Event()
    params = {"name": "wait", "arguments": {}, "_meta": {**MODERN, "progressToken": 1}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    task = asyncio.create_task(one.session.respond(call, lambda _: began.set()))
    await began.wait()
    other.session.cancel_all()
    assert (await other.ask("tools/call", 1, name="echo", arguments={"text": "x"}, _meta=MODERN))["id"] == 1
    await asyncio.sleep(0)
    assert not task.done()
    one.session.cancel_all()
    assert await task is None


async def test_a_tool_object_that_breaks_its_promise_costs_one_answer(
    server: ToolServer, client: Client
) -> None:
    class Broken:
        definition = {"name": "broken", "inputSchema": {"type": "object"}}  # noqa: RUF012

        async def call(self, arguments: Any, context: Any = None) -> Any:
            raise RuntimeError("no")

    server.add(Broken())
    assert (await client.refused("tools/call", name="broken", _meta=MODERN))["code"] == -32603


async def test_two_tools_of_one_name_are_refused(server: ToolServer) -> None:
    def other() -> None: ...

    with pytest.raises(UsageError, match="echo"):
        server.tool(name="echo")(other)


async def test_the_server_answers_for_a_single_connection_too(server: ToolServer) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": MODERN}}
    answer = await server.respond(message, lambda _: None)
    assert answer is not None
    assert answer["result"]["resultType"] == "complete"


def test_closing_releases_in_reverse_order(server: ToolServer) -> None:
    released: list[int] = []
    server.at_close(lambda: released.append(1))
    server.at_close(lambda: released.append(2))
    server.close()
    server.close()
    assert released == [2, 1]
