"""What a provider of calendars can do; `caldav` and `google` implement it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import tzinfo
from typing import Protocol, cast

from toolcrib.accounts import Account, AccountStore
from toolcrib.bundled.calendar.identifiers import EventRef
from toolcrib.bundled.calendar.model import (
    Busy,
    CalendarInfo,
    Event,
    EventChanges,
    Listing,
    NewEvent,
    Scope,
    Window,
)


class Calendars(Protocol):
    """The calendars of one account, while connected."""

    async def calendars(self) -> list[CalendarInfo]:
        """All of them, the default one first."""

    async def events(self, calendar: CalendarInfo, window: Window, query: str = "") -> Listing:
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

    async def busy(self, addresses: Sequence[str], window: Window) -> dict[str, list[Busy] | str]:
        """When others are busy, or why that is not known."""


class CalendarProvider(Protocol):
    def open_calendars(
        self, store: AccountStore, account: Account, zone: tzinfo
    ) -> AbstractAsyncContextManager[Calendars]:
        """Connect. Times without a zone are in `zone`."""


def open_calendars(
    store: AccountStore, account: Account, zone: tzinfo
) -> AbstractAsyncContextManager[Calendars]:
    """Connect to the calendars of an account."""
    module = importlib.import_module(f"toolcrib.bundled.calendar.{account.provider}")
    return cast("CalendarProvider", module).open_calendars(store, account, zone)
