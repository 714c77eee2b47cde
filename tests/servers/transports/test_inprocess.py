"""Servers that live in this process: found by name, driven without a wire, and unable to harm it."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import ConfigError, ConnectionLost, ToolcribError
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports.inprocess import InprocessSpec
from toolcrib.servers.transports.inprocess import open as open_link

DEADLINE = 60.0
CONTEXT = LinkContext(server="test")
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Heard:
    """An inbox that keeps everything and can be waited on."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.reason: ToolcribError | None = None
        self._arrived = asyncio.Event()

    def receive(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self._arrived.set()

    def lost(self, error: ToolcribError) -> None:
        self.reason = error
        self._arrived.set()

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(DEADLINE):
            while not condition():
                self._arrived.clear()
                await self._arrived.wait()

    def answer(self, request_id: Any) -> dict[str, Any] | None:
        return next((each for each in self.messages if each.get("id") == request_id), None)

    async def answered(self, request_id: Any) -> dict[str, Any]:
        await self.until(lambda: self.answer(request_id))
        answer = self.answer(request_id)
        assert answer is not None
        return answer


def request(request_id: Any, method: str, **params: Any) -> dict[str, Any]:
    meta = {**MODERN, **params.pop("_meta", {})}
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": meta}}


def call(request_id: Any, tool: str, _meta: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    return request(request_id, "tools/call", name=tool, arguments=arguments, _meta=_meta or {})


@pytest.fixture
def module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[[str], str]:
    """Writes a module that can be imported, and gives its name."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(source: str) -> str:
        name = f"inprocess_sample_{abs(hash(request.node.name))}_{len(list(tmp_path.iterdir()))}"
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


TOOLS = """
import asyncio, sys, threading
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.server import ToolServer

events = []
release = threading.Event()

def create(args):
    server = ToolServer("sample", "1", " ".join(args))
    server.at_close(lambda: events.append("closed"))

    @server.tool(quick=True)
    def echo(text: str) -> str:
        return text

    @server.tool()
    async def wait(context: ToolContext) -> str:
        context.progress(1, 2, "waiting")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            events.append("stopped")

    @server.tool()
    def hang(context: ToolContext) -> str:
        context.progress(1)
        release.wait()

    @server.tool()
    def crash() -> str:
        raise ValueError("broken")

    @server.tool()
    async def leave() -> str:
        sys.exit(1)

    return server
"""


async def test_the_bundled_demo_answers_before_send_returns() -> None:
    heard = Heard()
    async with open_link(InprocessSpec(module="toolcrib.bundled.demo"), heard, CONTEXT) as link:
        assert link.pid is None
        await link.send(request(1, "server/discover"))
        await link.send(call(2, "add", a=1, b=2))
    assert [message["id"] for message in heard.messages] == [1, 2]
    assert heard.messages[1]["result"]["structuredContent"] == {"result": 3.0}
    assert heard.reason is None


async def test_arguments_reach_the_server_and_it_is_closed_with_the_link(
    module: Callable[[str], str], tmp_path: Path
) -> None:
    name, heard = module(TOOLS), Heard()
    async with open_link(InprocessSpec(module=name, args=("a", "b")), heard, CONTEXT) as link:
        await link.send(request(1, "server/discover"))
    assert heard.messages[0]["result"]["instructions"] == "a b"
    assert sys.modules[name].events == ["closed"]


async def test_a_legacy_client_is_served_too() -> None:
    heard = Heard()
    opening = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {}}
    async with open_link(InprocessSpec(module="toolcrib.bundled.demo"), heard, CONTEXT) as link:
        await link.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening})
        await link.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await link.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    assert heard.messages[0]["result"]["protocolVersion"] == "2024-11-05"
    assert len(heard.messages[1]["result"]["tools"]) == 4


async def test_cancelling_the_sender_stops_the_tool(module: Callable[[str], str]) -> None:
    name, heard = module(TOOLS), Heard()
    async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
        sending = asyncio.create_task(link.send(call(1, "wait", _meta={"progressToken": "t"})))
        await heard.until(lambda: heard.messages)
        assert heard.messages[0]["params"]["message"] == "waiting"
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert sys.modules[name].events == ["stopped"]
        await link.send(call(2, "echo", text="on"))
    assert [message.get("id") for message in heard.messages] == [None, 2]


async def test_a_cancelled_notification_stops_the_tool_too(module: Callable[[str], str]) -> None:
    name, heard = module(TOOLS), Heard()
    async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
        sending = asyncio.create_task(link.send(call(1, "wait", _meta={"progressToken": "t"})))
        await heard.until(lambda: heard.messages)
        params = {"requestId": 1}
        await link.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        await sending
    assert sys.modules[name].events == ["stopped", "closed"]
    assert heard.answer(1) is None


@pytest.mark.parametrize(("tool", "told"), [("crash", "ValueError: broken"), ("leave", "exit")])
async def test_a_tool_that_breaks_is_an_error_result(
    module: Callable[[str], str], tool: str, told: str
) -> None:
    heard = Heard()
    async with open_link(InprocessSpec(module=module(TOOLS)), heard, CONTEXT) as link:
        await link.send(call(1, tool))
        await link.send(call(2, "echo", text="on"))
    assert heard.messages[0]["result"]["isError"] is True
    assert told in heard.messages[0]["result"]["content"][0]["text"]
    assert heard.messages[1]["result"]["isError"] is False


async def test_a_tool_that_hangs_holds_up_nobody_and_not_the_end(module: Callable[[str], str]) -> None:
    name, heard = module(TOOLS), Heard()
    async with asyncio.timeout(DEADLINE):
        async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
            sending = asyncio.create_task(link.send(call(1, "hang", _meta={"progressToken": 1})))
            await heard.until(lambda: heard.messages)
            await link.send(call(2, "echo", text="on"))
        await sending
    assert heard.answer(1) is None
    sys.modules[name].release.set()


async def test_two_links_to_one_server_object_are_two_conversations(module: Callable[[str], str]) -> None:
    name = module(TOOLS + "\nshared = create(['shared'])\n")
    one, other = Heard(), Heard()
    spec = InprocessSpec(module=f"{name}:shared")
    async with open_link(spec, one, CONTEXT) as first:
        async with open_link(spec, other, CONTEXT) as second:
            sending = asyncio.create_task(first.send(call(1, "wait", _meta={"progressToken": 1})))
            await one.until(lambda: one.messages)
            await second.send(call(1, "echo", text="x"))
        assert not sending.done()
        assert other.messages[0]["result"]["content"][0]["text"] == "x"
    await sending
    assert sys.modules[name].events == ["stopped"]


async def test_a_slow_import_does_not_stall_the_loop(module: Callable[[str], str]) -> None:
    gate = module("import threading\ngate = threading.Event()\nentered = threading.Event()\n")
    name = module(f"import {gate} as g\ng.entered.set()\nassert g.gate.wait(20)\n{TOOLS}")
    heard = Heard()

    async def use() -> None:
        async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
            await link.send(call(1, "echo", text="x"))

    using = asyncio.create_task(use())
    importing = await asyncio.to_thread(__import__, gate)
    assert await asyncio.to_thread(importing.entered.wait, DEADLINE)
    for _ in range(10):
        await asyncio.sleep(0)
    assert not using.done()
    importing.gate.set()
    await using
    assert heard.answer(1)


async def test_an_import_that_never_ends_can_be_given_up(module: Callable[[str], str]) -> None:
    gate = module("import threading\ngate = threading.Event()\nentered = threading.Event()\n")
    name = module(f"import {gate} as g\ng.entered.set()\ng.gate.wait()\n")

    async def use() -> None:
        async with open_link(InprocessSpec(module=name), Heard(), CONTEXT):
            raise AssertionError("it never loads")

    using = asyncio.create_task(use())
    importing = await asyncio.to_thread(__import__, gate)
    assert await asyncio.to_thread(importing.entered.wait, DEADLINE)
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    importing.gate.set()


@pytest.mark.parametrize(
    ("source", "suffix", "args", "told"),
    [
        ("import no_such_package", "", (), "no_such_package"),
        ("1 / 0", "", (), "ZeroDivisionError"),
        ("def (", "", (), "SyntaxError"),
        ("raise SystemExit(3)", "", (), "SystemExit"),
        ("x = 1", "", (), "has no 'server'"),
        ("x = 1", ":y.z", (), "has no 'y.z'"),
        ("server = 5", "", (), "not an MCP server but a int"),
        ("def create(args): raise KeyError('k')", "", (), "KeyError"),
        ("def create(args): raise SystemExit(2)", "", (), "SystemExit"),
        ("def create(args): return 'text'", "", (), "not an MCP server but a str"),
        (TOOLS + "\nserver = create([])", ":server", ("x",), "takes no 'args'"),
    ],
)
async def test_a_module_without_a_server_is_a_config_error_with_a_hint(
    module: Callable[[str], str], source: str, suffix: str, args: tuple[str, ...], told: str
) -> None:
    spec = InprocessSpec(module=module(source) + suffix, args=args)
    with pytest.raises(ConfigError, match=told) as caught:
        async with open_link(spec, Heard(), CONTEXT):
            raise AssertionError("there is nothing to open")
    assert caught.value.hint


async def test_a_module_that_is_not_there_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="no_such_module") as caught:
        async with open_link(InprocessSpec(module="no_such_module.at_all"), Heard(), CONTEXT):
            raise AssertionError("there is nothing to open")
    assert "Install" in caught.value.hint


async def test_wrong_arguments_of_a_bundled_server_are_a_config_error() -> None:
    with pytest.raises(ConfigError, match="at least one folder") as caught:
        async with open_link(InprocessSpec(module="toolcrib.bundled.filesystem"), Heard(), CONTEXT):
            raise AssertionError("there is nothing to open")
    assert "usage" in caught.value.hint


async def test_a_factory_may_take_no_arguments(module: Callable[[str], str]) -> None:
    name, heard = module(TOOLS + "\ndef make(): return create(['made'])\n"), Heard()
    async with open_link(InprocessSpec(module=f"{name}:make"), heard, CONTEXT) as link:
        await link.send(request(1, "server/discover"))
    assert heard.messages[0]["result"]["instructions"] == "made"


SDK = """
import asyncio
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("sdk", instructions="From the SDK.")
lowlevel = server._lowlevel_server
events = []

class Wrapped:  # as fastmcp keeps it
    _mcp_server = lowlevel

wrapped = Wrapped()

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

@server.tool()
def crash() -> str:
    raise ValueError("broken")

@server.tool()
async def wait(ctx: Context) -> str:
    await ctx.report_progress(1)
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        events.append("stopped")
"""


@pytest.mark.parametrize("attribute", ["", ":lowlevel", ":wrapped"])
async def test_a_server_of_the_sdk_is_served_in_both_eras(
    module: Callable[[str], str], attribute: str
) -> None:
    name = module(SDK) + attribute
    heard = Heard()
    async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
        assert link.pid is None
        await link.send(request(1, "server/discover"))
        discovered = await heard.answered(1)
        assert "2026-07-28" in discovered["result"]["supportedVersions"]
        await link.send(call(2, "add", a=1, b=2))
        result = (await heard.answered(2))["result"]
        assert result["structuredContent"] == {"result": 3}
        await link.send(call(3, "crash"))
        assert (await heard.answered(3))["result"]["isError"] is True
    heard = Heard()
    opening = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
        await link.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening})
        assert (await heard.answered(1))["result"]["protocolVersion"] == "2025-06-18"
        await link.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await link.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        assert len((await heard.answered(2))["result"]["tools"]) == 3
    assert heard.reason is None


async def test_a_call_of_an_sdk_server_is_cancelled_by_its_notification(module: Callable[[str], str]) -> None:
    name, heard = module(SDK), Heard()
    async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
        await link.send(call(1, "wait", _meta={"progressToken": 1}))
        await heard.until(lambda: heard.messages)
        params = {"requestId": 1}
        await link.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        await link.send(call(2, "add", a=1, b=1))
        await heard.answered(2)
        assert sys.modules[name].events == ["stopped"]


async def test_leaving_ends_the_calls_of_an_sdk_server(module: Callable[[str], str]) -> None:
    name, heard = module(SDK), Heard()
    async with asyncio.timeout(DEADLINE):
        async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
            await link.send(call(1, "wait", _meta={"progressToken": 1}))
            await heard.until(lambda: heard.messages)
    assert sys.modules[name].events == ["stopped"]
    assert heard.reason is None


async def test_an_sdk_server_that_dies_is_reported_lost(module: Callable[[str], str]) -> None:
    source = """
class Dying:
    def create_initialization_options(self): return None
    async def run(self, read, write, options):
        await read.receive()
        raise RuntimeError("had enough")
server = Dying()
"""
    heard = Heard()
    logged: list[str] = []
    context = LinkContext(server="dying", on_log=logged.append)
    async with open_link(InprocessSpec(module=module(source)), heard, context) as link:
        await link.send(request(1, "server/discover"))
        await heard.until(lambda: heard.reason)
        with pytest.raises(ToolcribError):
            await link.send({"jsonrpc": "1.0"})
    assert isinstance(heard.reason, ConnectionLost)
    assert "had enough" in heard.reason.message
    assert logged == ["RuntimeError: had enough"]


async def test_many_calls_leave_no_tasks_and_no_threads_behind(module: Callable[[str], str]) -> None:
    name, heard = module(TOOLS), Heard()
    tasks = len(asyncio.all_tasks())
    async with open_link(InprocessSpec(module=name), heard, CONTEXT) as link:
        for number in range(500):
            await link.send(call(number, "crash") if number % 10 == 0 else call(number, "echo", text="x"))
    assert len(heard.messages) == 500
    assert len(asyncio.all_tasks()) == tasks
    for thread in threading.enumerate():
        if thread.name == "crash":
            await asyncio.to_thread(thread.join, DEADLINE)
            assert not thread.is_alive()
