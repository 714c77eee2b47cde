"""The promise of the first five minutes, through the Python API."""

from __future__ import annotations

import toolcrib


async def test_a_new_home_offers_the_demo_the_filesystem_and_web_search(crib, until):
    async with toolcrib.open_host(crib.home) as host:
        await host.ready()
        assert [status.state for status in host.servers.statuses()] == ["ready"] * 3
        names = [tool.name for tool in host.tools()]
        assert "demo__add" in names
        assert "filesystem__read_file" in names
        assert "websearch__read_website" in names
        result = await host.call("demo__add", {"a": 1, "b": 2})
        assert result["content"][0]["text"] == "3"


async def test_a_server_is_called_and_the_call_is_recorded(crib):
    crib.server("echo")
    async with crib.open() as host:
        await host.ready()
        result = await host.call("echo__echo", {"text": "hello"})
        assert result["content"] == [{"type": "text", "text": "hello"}]
        record = (await host.audit.query(limit=1))[0]
        assert (record.tool, record.server, record.outcome) == ("echo__echo", "echo", "ok")
