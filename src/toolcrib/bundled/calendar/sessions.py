"""Opens the calendars that a call is about: account, connection, and the calendar by its name or the default
one. Has the errors for read-only accounts and unknown calendars, and how many calendars are read at once.

`Calendars` is what a provider can do; `caldav` and `google` implement it.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Protocol

from toolcrib.accounts import Account, AccountStore, choose
from toolcrib.bundled.calendar.identifiers import EventRef
from toolcrib.bundled.calendar.model import (
    Busy,
    CalendarInfo,
    Event,
    EventChanges,
    Listing,
    NewEvent,
    Scope,
    TimeWindow,
)
from toolcrib.bundled.calendar.zones import local_zone
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.extras import ensure

EXTRA = "calendar"
AT_ONCE = 4
"""Calendars that are read at the same time."""


class Calendars(Protocol):
    """The calendars of one account, while connected."""

    async def calendars(self) -> list[CalendarInfo]:
        """All of them, the default one first."""

    async def events(self, calendar: CalendarInfo, window: TimeWindow, query: str = "") -> Listing:
        """The occurrences that touch the window and contain all words of the query."""

    async def event(self, ref: EventRef) -> Event:
        """One event or occurrence; raises `ToolFailure` if it is not there."""

    async def create(self, calendar: CalendarInfo, new: NewEvent, notify: bool) -> tuple[Event, list[str]]:
        """The stored event, and remarks."""

    async def update(
        self, ref: EventRef, changes: EventChanges, scope: Scope, notify: bool
    ) -> tuple[Event, list[str]]:
        """The event as it is now, and remarks."""

    async def losses(self, ref: EventRef, changes: EventChanges, scope: Scope) -> list[str]:
        """What the change of a series cannot keep, one sentence each; nothing is changed."""

    async def delete(self, ref: EventRef, scope: Scope, notify: bool) -> list[str]:
        """Remarks."""

    async def busy(self, addresses: Sequence[str], window: TimeWindow) -> dict[str, list[Busy] | str]:
        """When others are busy, or why that is not known."""


OpenCalendars = Callable[[Account, tzinfo], AbstractAsyncContextManager[Calendars]]
"""Connects to the calendars of an account; times without a zone are in the given one.

Made by `provider` of a module, once for a server, so that it may remember what it found.
"""


@dataclass(frozen=True)
class CalendarSession:
    """One call's connection to the calendars of one account."""

    account: Account
    calendars: Calendars
    zone: tzinfo
    now: datetime
    """When the call was made, or when the user was asked about it; "tomorrow" is the day after it."""

    def check_writable(self) -> None:
        """Raise `ToolFailure` for an account that must not change anything."""
        if self.account.read_only:
            raise ToolFailure(
                f"The account {self.account.name} is read-only.",
                "The user can add it again without the read-only option: "
                f"toolcrib account add {self.account.provider} {self.account.name} --replace",
            )

    async def calendar(self, name: str | None, *, for_change: bool = False) -> CalendarInfo:
        """The calendar with this id or name, or the default one; raises `ToolFailure`."""
        known = await self.calendars.calendars()
        found = (
            _named(known, name) if name else next((calendar for calendar in known if calendar.primary), None)
        )
        if found is None:
            choices = ", ".join(calendar.name for calendar in known) or "none"
            what = f"No calendar is called {name[:60]!r}." if name else "There is no default calendar."
            raise ToolFailure(what, f"Calendars of this account: {choices}.")
        if for_change and not found.writable:
            raise ToolFailure(
                f"The calendar {found.name} is read-only.", "Use another calendar: see list_calendars."
            )
        return found

    async def listed(self, name: str | None, window: TimeWindow, query: str = "") -> Listing:
        """The events of one calendar, or of all."""
        chosen = [await self.calendar(name)] if name else await self.calendars.calendars()
        limit = asyncio.Semaphore(AT_ONCE)

        async def read(calendar: CalendarInfo) -> Listing:
            async with limit:
                return await self.calendars.events(calendar, window, query)

        found = await asyncio.gather(*map(read, chosen))
        return Listing(
            [event for listing in found for event in listing.events],
            [remark for listing in found for remark in listing.remarks],
        )


class CalendarAccounts:
    """Opens the calendars of the accounts of a home."""

    def __init__(self, store: AccountStore, time_zone: str = "") -> None:
        self._store = store
        self._time_zone = time_zone
        self._providers: dict[str, OpenCalendars] = {}

    @asynccontextmanager
    async def open(
        self, name: str | None, context: ToolContext | None = None, asked_at: datetime | None = None
    ) -> AsyncIterator[CalendarSession]:
        """Choose the account and connect; installs what the calendar needs on first use."""
        account = await asyncio.to_thread(choose, self._store, "calendar", name)
        await ensure(EXTRA, context)
        zone = local_zone(self._time_zone)
        now = (asked_at or datetime.now(zone)).astimezone(zone).replace(microsecond=0)
        connect = await self._provider(account.provider)
        async with connect(account, zone) as calendars:
            yield CalendarSession(account, calendars, zone, now)

    async def _provider(self, name: str) -> OpenCalendars:
        if name not in self._providers:
            # A thread, because the first import takes a third of a second.
            module = await asyncio.to_thread(importlib.import_module, f"toolcrib.bundled.calendar.{name}")
            self._providers.setdefault(name, module.provider(self._store))
        return self._providers[name]


def _named(known: list[CalendarInfo], name: str) -> CalendarInfo | None:
    exact = [calendar for calendar in known if calendar.id == name or calendar.name == name]
    alike = [calendar for calendar in known if calendar.name.casefold() == name.strip().casefold()]
    return next(iter(exact or alike), None)
