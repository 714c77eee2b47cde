"""A home with an account on a CalDAV server, and the calendar server over it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.calendar.google_calendar import GoogleCalendarService, google_calendar
from tests.bundled.calendar.radicale_server import PASSWORD, CalendarUser, Radicale, run_radicale
from toolcrib.accounts import AccountStore
from toolcrib.bundled.calendar import create
from toolcrib.serverkit.server import ToolServer

ZONE = "Europe/Berlin"


@dataclass
class Diary:
    """One user's calendars, through the tools."""

    user: CalendarUser
    home: Path
    server: ToolServer

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds."""
        result = await self.server.tools[tool].call(arguments)
        assert result["isError"] is False, result
        content: dict[str, Any] = result["structuredContent"]
        return content

    async def text(self, tool: str, **arguments: Any) -> str:
        result = await self.server.tools[tool].call(arguments)
        assert result["isError"] is False, result
        return str(result["content"][0]["text"])

    async def refusal(self, tool: str, **arguments: Any) -> str:
        result = await self.server.tools[tool].call(arguments)
        assert result["isError"] is True, result
        return str(result["content"][0]["text"])

    async def events(self, start: str, end: str, **more: Any) -> list[dict[str, Any]]:
        found = await self.call("get_events", start=start, end=end, **more)
        events: list[dict[str, Any]] = found["events"]
        return events

    async def starts(self, start: str, end: str, **more: Any) -> list[str]:
        return [event["start"] for event in await self.events(start, end, **more)]


@pytest.fixture(scope="session")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Radicale]:
    with run_radicale(tmp_path_factory.mktemp("radicale")) as server:
        yield server


@pytest.fixture
def user(radicale: Radicale) -> Iterator[CalendarUser]:
    """A user with the calendar `work`."""
    made = radicale.user()
    made.add_calendar("work")
    yield made
    radicale.before.clear()


@pytest.fixture
def diary(user: CalendarUser, tmp_path: Path) -> Diary:
    store = AccountStore.of_home(tmp_path)
    store.add(user.account(), PASSWORD)
    return Diary(user, tmp_path, create(["--time-zone", ZONE], tmp_path))


@pytest.fixture
async def google() -> AsyncIterator[GoogleCalendarService]:
    async with google_calendar() as service:
        yield service


@pytest.fixture
def planner(google: GoogleCalendarService, tmp_path: Path) -> Diary:
    """The same tools on a Google account."""
    store = AccountStore.of_home(tmp_path)
    store.add(google.account(), google.credentials().to_secret())
    return Diary(None, tmp_path, create(["--time-zone", ZONE], tmp_path))  # type: ignore[arg-type]
