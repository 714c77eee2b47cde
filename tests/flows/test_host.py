"""What a host promises its callers: one registry, one door, sessions of one's own, sleep, and no growth."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from toolcrib import Handlers, Principal
from toolcrib.errors import Denied, InvalidArguments, ToolcribError, UnknownTool
from toolcrib.schema.events import CallFinished, ServerChanged, ToolsChanged
from toolcrib.schema.servers import ServerState
from toolcrib.tools.ports import Decision
from toolcrib.tools.sources.inline import InlineServer


async def test_native_inline_and_server_tools_stand_in_one_registry(crib):
    crib.server("remote")
    async with crib.open() as host:

        @host.tool(read_only=True)
        def word_count(text: str) -> int:
            """Count the words of a text."""
            return len(text.split())

        terminal = InlineServer("terminal")

        @terminal.tool()
        def where() -> str:
            """Say where we are."""
            return "here"

        host.add_inline(terminal)
        await host.ready()
        origins = {tool.name: tool.origin for tool in host.tools()}
        assert origins["word_count"] == "native"
        assert origins["terminal__where"] == "inline"
        assert origins["remote__echo"] == "mcp"
        assert (await host.call("word_count", {"text": "a b c"}))["content"][0]["text"] == "3"
        assert (await host.call("terminal__where"))["content"][0]["text"] == "here"
        assert (await host.call("mcp__remote__echo", {"text": "x"}))["content"][0]["text"] == "x"


async def test_a_wrong_argument_reaches_no_server_and_is_explained(crib):
    crib.server("strict")
    async with crib.open() as host:
        await host.ready()
        with pytest.raises(InvalidArguments, match="text") as caught:
            await host.call("strict__echo", {"text": 7})
        assert "string" in f"{caught.value.message} {caught.value.hint}"
        assert (await host.call("strict__count"))["content"][0]["text"] == "1"


async def test_an_unknown_tool_is_named_with_its_nearest(crib):
    crib.server("near")
    async with crib.open() as host:
        await host.ready()
        with pytest.raises(UnknownTool) as caught:
            await host.call("near__ecko", {})
        assert "near__echo" in caught.value.hint


async def test_a_denied_call_reaches_no_server(crib):
    class NoCounting:
        async def check(self, call):
            return Decision(allowed=call.tool.definition.name != "pid", reason="not today", rule="no-pid")

    crib.server("guarded")
    async with crib.open(gate=NoCounting()) as host:
        await host.ready()
        with pytest.raises(Denied, match="not today"):
            await host.call("guarded__pid")
        assert (await host.call("guarded__count"))["content"][0]["text"] == "1"
        assert [record.outcome for record in await host.audit.query(limit=2)] == ["ok", "denied"]


async def test_excluded_tools_are_neither_listed_nor_callable(crib):
    crib.server("filtered", tools={"include": ["e*", "pid"], "exclude": ["environment"]})
    async with crib.open() as host:
        await host.ready()
        assert [tool.name for tool in host.tools()] == ["filtered__echo", "filtered__pid"]
        with pytest.raises(UnknownTool, match="disabled"):
            await host.call("filtered__environment")


async def test_each_session_has_its_own_instance_of_an_isolated_server(crib):
    crib.server("private", isolation="session")
    crib.server("common")
    async with crib.open() as host:
        await host.ready()

        async def pid(tool: str, principal: Principal) -> str:
            return (await host.call(tool, principal=principal))["content"][0]["text"]

        async with host.session("first") as first, host.session("second") as second:
            pids = {await pid("private__pid", first), await pid("private__pid", second)}
            assert len(pids) == 2
            assert str(host.servers.status("private").pid) not in pids
            assert await pid("private__pid", first) in pids
            assert await pid("common__pid", first) == await pid("common__pid", second)
        assert not any(Path(f"/proc/{number}").exists() for number in pids)


async def test_a_lazy_server_offers_its_tools_asleep_and_wakes_for_a_call(crib):
    crib.server("sleepy", lazy=True)
    async with crib.open() as host:  # no list is known yet: it starts
        await host.ready()
        assert host.servers.status("sleepy").pid is not None
    async with crib.open() as host:
        await host.ready()
        status = host.servers.status("sleepy")
        assert (status.state, status.pid, status.stale_tools) == (ServerState.READY, None, True)
        assert "sleepy__echo" in [tool.name for tool in host.tools()]
        assert (await host.call("sleepy__echo", {"text": "awake"}))["content"][0]["text"] == "awake"
        assert host.servers.status("sleepy").pid is not None


async def test_servers_that_are_known_to_work_start_before_those_that_are_not(crib, tmp_path):
    starts = tmp_path / "starts"

    def noting(name: str) -> None:
        server = f"exec {sys.executable} -m toolcrib.testing.server --name {name}"
        crib.entry(name, {"command": "/bin/sh", "args": ["-c", f"echo {name} >> {starts}; {server}"]})

    crib.setting(start_concurrency=1)
    noting("unknown")
    noting("known")
    async with crib.open(only=["known"]) as host:
        await host.ready()
    starts.unlink()
    async with crib.open() as host:
        await host.ready()
        assert [status.name for status in host.servers.statuses()] == ["unknown", "known"]
    assert starts.read_text().split()[0] == "known"


async def test_a_host_whose_servers_need_no_process_starts_none(crib):
    crib.entry("inside", {"type": "inprocess", "module": "toolcrib.bundled.demo"})
    crib.server("off", enabled=False)
    async with crib.open() as host:
        await host.ready()
        assert host.servers.status("inside").state is ServerState.READY
        assert host.core.connector.guard._watchdog is None


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_changed_tool_list_is_followed_in_both_eras(crib, until, era):
    crib.server("changing", args=("--era", era))
    async with crib.open() as host:
        await host.ready()
        await host.call("changing__change")
        await until(host, lambda: any(tool.name == "changing__extra_0000" for tool in host.tools()))
        assert host.servers.status("changing").tools == 10


async def test_events_tell_of_servers_tools_and_calls(crib):
    async with crib.open() as host:
        with host.events.subscribe() as events:
            crib.server("new")
            await host.reload()
            await host.ready()
            await host.call("new__echo", {"text": "x"})
            seen = []
            async with asyncio.timeout(60):
                while not any(isinstance(event, CallFinished) for event in seen):
                    seen.append(await events.next())
        states = [event.status.state for event in seen if isinstance(event, ServerChanged)]
        assert states[0] is ServerState.STARTING
        assert states[-1] is ServerState.READY
        assert any("new__echo" in event.added for event in seen if isinstance(event, ToolsChanged))


async def test_a_call_under_way_when_the_host_closes_is_on_record(crib):
    crib.server("slow")
    async with crib.open() as host:
        await host.ready()
        call = asyncio.create_task(host.call("slow__sleep", {"seconds": 60}))
        await asyncio.sleep(0)  # it goes first
        assert (await host.call("slow__count"))["content"][0]["text"] == "2"
    with pytest.raises(ToolcribError):
        await call

    async with crib.open(only=()) as host:
        outcomes = {record.tool: record.outcome for record in await host.audit.query(limit=5)}
        assert outcomes == {"slow__count": "ok", "slow__sleep": "unavailable"}


async def test_a_server_sees_only_what_it_may_of_our_environment(crib, monkeypatch):
    monkeypatch.setenv("SECRET_OF_OURS", "x")
    monkeypatch.setenv("SHARED_WITH_IT", "y")
    crib.server("curious", envAllow=["SHARED_WITH_IT"], env={"OWN": "${SHARED_WITH_IT}-z"})
    async with crib.open() as host:
        await host.ready()
        text = (await host.call("curious__environment"))["content"][0]["text"]
        assert '"SHARED_WITH_IT": "y"' in text
        assert '"OWN": "y-z"' in text
        assert "SECRET_OF_OURS" not in text


async def test_a_secret_reaches_the_server_but_no_log_and_no_file(crib):
    crib.server("trusted", "banner", env={"TOKEN": "${secret:TOKEN}"})
    async with crib.open(watch=False) as host:
        host.core.secrets.set("TOKEN", "hunter2-and-more")
        await host.servers["trusted"].restart()
        await host.ready()
        await host.call("trusted__echo", {"text": "x", "password": "hunter2-and-more"})
        assert (
            '"TOKEN": "hunter2-and-more"' in (await host.call("trusted__environment"))["content"][0]["text"]
        )
        records = await host.audit.query(limit=5)
        assert all("hunter2" not in record.arguments for record in records)
    assert "hunter2" not in (crib.home / "mcp.json").read_text()


async def test_a_server_may_ask_the_person_through_the_handlers(crib, tmp_path):
    program = tmp_path / "asking.py"
    program.write_text(ASKING)
    asked = []

    async def elicit(server, params):
        asked.append((server, params["message"]))
        return {"action": "accept", "content": {"name": "Ada"}}

    crib.entry("asking", {"command": os.sys.executable, "args": [str(program)]})
    async with crib.open(handlers=Handlers(elicit=elicit)) as host:
        await host.ready()
        assert (await host.call("asking__greet"))["content"][0]["text"] == "Hello Ada"
        assert asked == [("asking", "Who are you?")]


ASKING = """
from typing import Annotated
from mcp.server.mcpserver import MCPServer, Elicit, Resolve
from pydantic import BaseModel

class Person(BaseModel):
    name: str

async def ask() -> Person | Elicit[Person]:
    return Elicit("Who are you?", Person)

server = MCPServer("asking")

@server.tool()
async def greet(person: Annotated[Person, Resolve(ask)]) -> str:
    return f"Hello {person.name}"

server.run()
"""


@pytest.mark.acceptance
async def test_ten_thousand_calls_leave_no_growth_in_memory_tasks_or_descriptors(crib):
    crib.server("steady")
    async with crib.open() as host:
        await host.ready()

        async def calls(count: int) -> None:
            for _ in range(count):
                await host.call("steady__echo", {"text": "x"})

        await calls(500)
        await host.audit.flush()
        gc.collect()
        tasks, descriptors = len(asyncio.all_tasks()), _descriptors()
        tracemalloc.start()
        await calls(200)
        await host.audit.flush()
        before = tracemalloc.take_snapshot()
        tracemalloc.stop()
        await calls(10_000)
        tracemalloc.start()
        await calls(200)
        await host.audit.flush()
        gc.collect()
        after = tracemalloc.take_snapshot()
        tracemalloc.stop()
        assert len(asyncio.all_tasks()) == tasks
        assert _descriptors() <= descriptors + 1
        growth = _total(after) - _total(before)
        assert growth < 256 * 1024


async def test_a_snapshot_of_a_thousand_tools_is_not_made_again(crib):
    crib.server("many", args=("--tools", "1000"))
    async with crib.open() as host:
        await host.ready()
        assert len(host.toolset.registry.snapshot.tools) == 1009
        assert host.toolset.registry.snapshot.tools is host.toolset.registry.snapshot.tools


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _total(snapshot: tracemalloc.Snapshot) -> int:
    return sum(statistic.size for statistic in snapshot.statistics("filename"))
