"""Identifiers of events that models use: calendar, UID and, for an occurrence of a series, its original start
or its own id. Has the error for an id that get_events did not return.

    work/3f2a81@example.org/20261120T080000Z
    anna@example.org/7h2k9c/=7h2k9c_20261120T080000Z

An occurrence keeps its identifier when it is moved: its original start stays the same. Google's own ids have
no form that can be relied on, so they are kept unchanged.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import NamedTuple
from urllib.parse import quote, unquote

from toolcrib.bundled.calendar.model import Moment
from toolcrib.serverkit.context import ToolFailure

_KEY = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_SAFE = "@:-_.~+=,;!()*{}"


class EventRef(NamedTuple):
    calendar: str
    uid: str
    occurrence: str = ""
    """As `occurrence_key` writes it; empty for an event that does not repeat, or the series as a whole."""
    own: str = ""
    """The provider's own id of an occurrence, instead of its original start."""

    def __str__(self) -> str:
        parts = (self.calendar, self.uid, self.occurrence or (f"={self.own}" if self.own else ""))
        return "/".join(quote(part, safe=_SAFE) for part in parts if part)

    @property
    def is_occurrence(self) -> bool:
        return bool(self.occurrence or self.own)

    @property
    def series(self) -> EventRef:
        return EventRef(self.calendar, self.uid)


def read_id(text: str) -> EventRef:
    """An identifier; raises `ToolFailure`."""
    parts = [unquote(part) for part in text.strip().split("/")]
    own = parts.pop()[1:] if len(parts) == 3 and parts[2].startswith("=") else ""
    if len(parts) not in (2, 3) or not all(parts) or (len(parts) == 3 and not _KEY.fullmatch(parts[2])):
        raise ToolFailure(
            f"{text[:80]!r} is not the id of an event.",
            "Use an id that get_events returned.",
        )
    return EventRef(*parts)._replace(own=own)


def occurrence_key(original: Moment) -> str:
    """The original start of an occurrence in one spelling for all zones."""
    if not isinstance(original, datetime):
        return original.strftime("%Y%m%d")
    if original.tzinfo is None:
        return original.strftime("%Y%m%dT%H%M%S")
    return original.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def read_key(key: str) -> Moment:
    """The original start; with UTC as its zone if it has one."""
    found = _KEY.fullmatch(key)
    if found is None:
        raise ToolFailure(f"{key[:40]!r} is not the start of an occurrence.")
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
        if found[4] is None:
            return day
        hour, minute, second = int(found[4]), int(found[5]), int(found[6])
        zone = UTC if found[7] else None
        return datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=zone)
    except ValueError:
        raise ToolFailure(f"{key[:40]!r} is not the start of an occurrence.") from None
