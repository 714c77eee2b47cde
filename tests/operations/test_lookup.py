"""The tool that is meant, and the servers that need not start for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.operations.conftest import entry, write_config
from toolcrib.errors import ServerNotReady, UnknownTool
from toolcrib.host import open_host
from toolcrib.operations.lookup import find_tool, possible_owners
from toolcrib.tools.names import public_name

SERVERS = ("a", "a-b", "my server", "x.y")


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("tool", ["t", "t__u", "ü", "long" * 30, "t_0123456789"])
@pytest.mark.parametrize("prefix", ["", "mcp__"])
def test_the_owner_of_a_public_name_is_always_among_the_possible_ones(
    server: str, tool: str, prefix: str
) -> None:
    assert server in possible_owners(public_name(server, tool, prefix=prefix), SERVERS)


def test_a_clean_name_has_one_possible_owner() -> None:
    assert possible_owners("a__t", SERVERS) == ("a",)
    assert possible_owners("nobody__t", SERVERS) == ()
    assert possible_owners("bare", SERVERS) == ()


async def test_a_tool_of_a_server_that_is_starting_is_waited_for(home: Path) -> None:
    write_config(home, {"small": entry()})
    async with open_host(home) as host:
        tool = await find_tool(host, "small__echo")

    assert tool.definition.name == "echo"


async def test_a_server_that_does_not_come_up_says_why(home: Path) -> None:
    write_config(home, {"small": entry("--crash")})
    async with open_host(home) as host:
        with pytest.raises(ServerNotReady, match="cannot go on"):
            await find_tool(host, "small__echo")


async def test_a_tool_of_nobody_is_not_waited_for(home: Path) -> None:
    write_config(home, {"hanging": entry("--hang")})
    async with open_host(home) as host, asyncio.timeout(60):
        with pytest.raises(UnknownTool):
            await find_tool(host, "nobody__echo")
