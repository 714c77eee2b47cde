"""Sessions: expiry without timers, histories, transactions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bundled.desktop.full_server import FullServer
from toolcrib.bundled.desktop.automation_sessions import MAX_HISTORY, AutomationSessions
from toolcrib.serverkit.context import ToolFailure


class Clock:
    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


def test_a_session_expires_an_hour_after_its_last_use() -> None:
    clock = Clock()
    sessions = AutomationSessions(clock)
    sessions.create("Report", {"owner": "Ada"}, "report")
    clock.time += 3000
    assert sessions.get("sessions/report").expire_time == clock.time + 3600
    clock.time += 3599
    assert [each.state for each in sessions.all()] == ["active"]
    clock.time += 1
    assert sessions.get("report").state == "expired"
    with pytest.raises(ToolFailure, match="has expired"):
        sessions.record("report", "click", "applications/1")
    assert sessions.create(session_id="report").state == "active"
    clock.time += 3 * 3600
    assert sessions.all() == []
    with pytest.raises(ToolFailure, match="no session 'report'"):
        sessions.get("report")


def test_a_transaction_counts_what_is_done_in_it() -> None:
    sessions = AutomationSessions(Clock())
    name = sessions.create().name
    begun = sessions.begin(name)
    assert sessions.get(name).state == "in_transaction"
    sessions.record(name, "execute_macro", "macros/a")
    sessions.record(name, "execute_macro", "macros/b", "failed")
    with pytest.raises(ToolFailure, match="already has the transaction"):
        sessions.begin(name)
    with pytest.raises(ToolFailure, match="no active transaction 'other'"):
        sessions.end(name, "other", "committed")
    with pytest.raises(ToolFailure, match="active transaction"):
        sessions.delete(name)
    ended = sessions.end(name, begun.transaction_id, "committed")
    assert (ended.state, ended.operations_count) == ("committed", 2)
    second = sessions.begin(name)
    assert sessions.end(name, second.transaction_id, "rolled_back").state == "rolled_back"
    session = sessions.get(name)
    assert session.state == "active"
    assert [(each.resource, each.success) for each in session.history] == [
        ("macros/a", True),
        ("macros/b", False),
    ]
    assert session.resources == ["macros/a", "macros/b"]
    sessions.begin(name)
    sessions.delete(name, force=True)
    assert sessions.all() == []


def test_sessions_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.bundled.desktop.automation_sessions.MAX_SESSIONS", 2)
    clock = Clock()
    sessions = AutomationSessions(clock)
    first = sessions.create().name
    sessions.create()
    with pytest.raises(ToolFailure, match="already 2 sessions"):
        sessions.create()
    for number in range(MAX_HISTORY + 5):
        sessions.record(first, "click", str(number))
    assert len(sessions.get(first).history) == MAX_HISTORY
    clock.time += 3601
    assert sessions.create("after those have expired").state == "active"
    with pytest.raises(ToolFailure, match="metadata"):
        sessions.create(metadata={"key": "x" * 3000})


async def test_the_tools_manage_sessions(tmp_path: Path) -> None:
    full = FullServer(None, tmp_path)
    made = await full.data(
        "create_session", session={"display_name": "Report", "metadata": {"a": "b"}}, session_id="report"
    )
    assert made["name"] == "sessions/report"
    assert made["expire_time"] > made["create_time"]
    assert "already a session" in await full.refused("create_session", session_id="report")
    await full.data("create_session")
    page = await full.data("list_sessions", page_size=1)
    rest = await full.data("list_sessions", page_token=page["next_page_token"])
    assert len(page["sessions"]) == len(rest["sessions"]) == 1
    assert (await full.data("get_session", name="report"))["history"] == []
    await full.data("delete_session", name="sessions/report")
    assert "no session" in await full.refused("get_session", name="report")
