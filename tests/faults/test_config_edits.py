"""The config file is edited while the host runs. Numbers are those of the fault list."""

from __future__ import annotations

import json

from toolcrib.schema.events import ConfigChanged
from toolcrib.schema.servers import ServerState


async def test_25_an_invalid_edit_keeps_the_last_good_state_and_says_where(crib):
    crib.server("steady")
    async with crib.open() as host:
        await host.ready()
        pid = host.servers.status("steady").pid
        with host.events.subscribe() as events:
            (crib.home / "mcp.json").write_text('{\n  "mcpServers": {\n    "steady": {,}\n  }\n}')
            event = await events.next()
            while not isinstance(event, ConfigChanged):
                event = await events.next()
        assert "line 3, column 16" in event.error
        assert host.servers.status("steady").pid == pid
        assert (await host.call("steady__echo", {"text": "x"}))["isError"] is False


async def test_an_edit_of_the_settings_alone_is_told_too(crib):
    crib.server("steady")
    async with crib.open() as host:
        await host.ready()
        with host.events.subscribe() as events:
            crib.setting(retrieval={"k": 9})
            crib.write()
            event = await events.next()
            while not isinstance(event, ConfigChanged):
                event = await events.next()
        assert (event.error, event.changed, host.settings.retrieval.k) == (None, (), 9)


async def test_26_only_the_server_whose_entry_changed_is_restarted(crib, until):
    crib.server("kept")
    crib.server("changed")
    crib.server("removed")
    async with crib.open() as host:
        await host.ready()
        kept, changed = host.servers.status("kept").pid, host.servers.status("changed").pid
        crib.server("changed", args=("--tools", "1"))
        crib.server("added")
        del crib.document["mcpServers"]["removed"]
        crib.write()
        await until(host, lambda: "added" in host.servers and host.tools("added") != [])
        await until(host, lambda: host.servers.status("changed").pid not in (None, changed))
        assert host.servers.status("kept").pid == kept
        await until(host, lambda: "removed" not in host.servers)
        assert host.tools("removed") == []
        assert any(tool.name == "changed__tool_0000" for tool in host.tools())


async def test_one_bad_entry_leaves_the_others_alone(crib, until):
    crib.server("good")
    async with crib.open() as host:
        await host.ready()
        pid = host.servers.status("good").pid
        crib.entry("bad", {"command": 7})
        await until(host, lambda: "bad" in host.servers)
        status = host.servers.status("bad")
        assert status.state is ServerState.NEEDS_CONFIG
        assert "command" in status.reason
        assert host.servers.status("good").pid == pid


async def test_the_master_switch_stops_and_starts_everything(crib, until):
    crib.server("one")
    async with crib.open() as host:
        await host.ready()
        crib.document["globalEnabled"] = False
        crib.write()
        await until(host, lambda: host.servers.status("one").state is ServerState.DISABLED)
        assert host.tools() == []
        crib.document["globalEnabled"] = True
        crib.write()
        await until(host, lambda: host.servers.status("one").state is ServerState.READY)


async def test_a_disabled_server_is_not_started(crib):
    crib.server("off", enabled=False)
    async with crib.open() as host:
        await host.ready()
        status = host.servers.status("off")
        assert (status.state, status.pid) == (ServerState.DISABLED, None)
        assert "toolcrib enable off" in status.hint


async def test_an_edit_keeps_what_other_programs_wrote(crib):
    crib.entry("foreign", {"command": "x", "enabled": False, "x-note": {"keep": ["me"]}})
    crib.document["someOtherHost"] = {"theme": "dark"}
    async with crib.open() as host:
        host.core.config_store.set_enabled("foreign", False)
        host.core.config_store.add_server("new", {"command": "y", "enabled": False})
        document = json.loads((crib.home / "mcp.json").read_text())
        assert document["someOtherHost"] == {"theme": "dark"}
        assert document["mcpServers"]["foreign"]["x-note"] == {"keep": ["me"]}
        assert (crib.home / "mcp.json").stat().st_mode & 0o777 == 0o600
