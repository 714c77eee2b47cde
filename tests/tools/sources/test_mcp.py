from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tests.tools.workshop import Workshop
from toolcrib.schema.tools import Principal, ToolResult
from toolcrib.tools.ports import OnProgress
from toolcrib.tools.sources.mcp import McpTools


class Servers:
    """Stands where the pool stands: notes how it is called."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    async def call_tool(
        self,
        server: str,
        tool: str,
        arguments: dict[str, Any],
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        session: str | None = None,
        repeatable: bool = False,
        check: Callable[[Any], None] | None = None,
    ) -> ToolResult:
        assert type(arguments) is dict
        self.calls.append({"call": (server, tool, arguments), "timeout": timeout, "session": session})
        self.calls[-1]["repeatable"] = repeatable
        return {"content": []}


def listed(name: str, **annotations: Any) -> Mapping[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": annotations}


async def test_a_call_goes_to_its_server_under_the_tool_s_own_name(workshop: Workshop) -> None:
    servers = Servers()
    door = workshop.open(McpTools(servers))
    workshop.registry.put("my server", "mcp", [listed("do.it"), listed("look", readOnlyHint=True)])
    odd = workshop.registry.snapshot.find("my server", "do.it")
    look = workshop.registry.snapshot.find("my server", "look")
    assert odd is not None
    assert look is not None

    await door.call(odd.name, MappingProxyType({"a": 1}), principal=Principal(session="s1"), timeout=3)
    await door.call(look.name)

    assert servers.calls == [
        {"call": ("my server", "do.it", {"a": 1}), "timeout": 3, "session": "s1", "repeatable": False},
        {"call": ("my server", "look", {}), "timeout": None, "session": None, "repeatable": True},
    ]


async def test_a_tool_with_a_time_of_its_own_is_waited_for_so_long(workshop: Workshop) -> None:
    servers = Servers()
    door = workshop.open(McpTools(servers, lambda tool: {"slow": 600.0}.get(tool.definition.name)))
    workshop.registry.put("s", "mcp", [listed("slow"), listed("quick")])

    await door.call("s__slow")
    await door.call("s__slow", timeout=1)
    await door.call("s__quick")

    assert [call["timeout"] for call in servers.calls] == [600.0, 1, None]
