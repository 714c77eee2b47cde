from __future__ import annotations

from toolcrib.approvals.gate import AllowAll
from toolcrib.schema.tools import Principal, ToolCall
from toolcrib.tools.registry import Registry


async def test_the_open_gate_lets_every_call_through() -> None:
    registry = Registry()
    registry.put("demo", "mcp", [{"name": "destroy", "annotations": {"destructiveHint": True}}])
    call = ToolCall(id="1", tool=registry.resolve("demo__destroy"), arguments={}, principal=Principal())

    decision = await AllowAll().check(call)

    assert decision.allowed
