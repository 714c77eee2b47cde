"""What every desktop operation keeps, and that each surface is made from the table."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.desktop import create
from toolcrib.bundled.desktop.grpc import methods
from toolcrib.bundled.desktop.grpc.schema import service, v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.grpc.server import by_hand, method_of, snake_case
from toolcrib.bundled.desktop.operations.table import (
    KEEPING,
    Desktop,
    DesktopOperation,
    Reply,
    groups,
    operation,
)
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_operation
from toolcrib.serverkit.server import ToolServer

TABLE = {row.name: row for group in groups().values() for row in group}
RPCS = {method.name for method in service().methods}


@pytest.fixture
def session() -> DesktopSession:
    return DesktopSession(SessionSettings())


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_an_operation_has_a_surface_and_a_result(row: DesktopOperation) -> None:
    assert row.title or row.rpc in RPCS
    assert dataclasses.is_dataclass(row.result)
    assert "read_mask" not in row.hints


def test_every_tool_comes_from_the_table(tmp_path: Path) -> None:
    server = create(["--profile", "full"], tmp_path)
    try:
        assert set(server.tools) == {row.name for row in TABLE.values() if row.title}
    finally:
        server.close()


def test_every_rpc_has_one_implementation_or_a_reason(session: DesktopSession) -> None:
    groups_by_hand = by_hand(ServedDesktop(session))
    written = {rpc for rpc in RPCS if any(hasattr(group, snake_case(rpc)) for group in groups_by_hand)}
    table = {row.rpc for row in TABLE.values()}

    assert written | table | set(methods.MISSING) >= RPCS
    assert not written & set(methods.MISSING)


@dataclasses.dataclass(frozen=True)
class Numbered:
    name: str
    display_name: str
    calls: int


@operation("Begin a session", KEEPING, rpc="CreateSession", maskable=True)
async def begin_session(desktop: Desktop, session_id: str = "none") -> Reply[Numbered]:
    """Begin."""
    return Reply(Numbered(f"sessions/{session_id}", "Ada", 1), "Begun.")


async def test_one_row_is_a_tool_and_a_grpc_method(session: DesktopSession) -> None:
    row: DesktopOperation = begin_session.operation  # type: ignore[attr-defined]
    server = ToolServer("desktop", "1")
    offer_operation(server, session, row)
    tool: Any = server.tools["begin_session"]

    assert list(tool.definition["inputSchema"]["properties"]) == ["session_id", "read_mask"]
    assert list(tool.definition["outputSchema"]["properties"]) == ["name", "display_name", "calls"]
    answer = await tool.call({"session_id": "a", "read_mask": "calls"})
    assert answer["structuredContent"] == {"name": "sessions/a", "calls": 1}
    assert answer["content"][0]["text"] == "Begun."

    plain = dataclasses.replace(row, maskable=False)
    method = method_of(plain, service().methods_by_name["CreateSession"], ServedDesktop(session))
    made = await method(v1.CreateSessionRequest(session_id="b"))
    assert (made.name, made.display_name) == ("sessions/b", "Ada")
