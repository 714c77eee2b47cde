"""CalDAV queries, and the objects that they find."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from xml.etree.ElementTree import Element

from toolcrib.accounts.dav_xml import DavItem, body, element
from toolcrib.bundled.calendar.ics import read_calendar
from toolcrib.bundled.calendar.model import Window

_MARGIN = timedelta(hours=15)
"""Floating times and days can be that far from UTC; what is outside of the window is sorted out later."""


@dataclass(frozen=True)
class StoredObject:
    """A resource with one event or series."""

    url: str
    etag: str
    data: str

    @classmethod
    def read(cls, item: DavItem) -> StoredObject | None:
        data = item.text("c:calendar-data")
        return cls(item.href, item.text("d:getetag"), data) if data else None

    def has_uid(self, uid: str) -> bool:
        """Some servers ignore the filter of a query."""
        try:
            return any(str(event.get("UID", "")) == uid for event in read_calendar(self.data).walk("VEVENT"))
        except ValueError:
            return False

    @property
    def loses_lines(self) -> bool:
        """Whether writing it again would drop something."""
        events = read_calendar(self.data).walk()
        return any(name is None for event in events for name, _ in getattr(event, "errors", ()))


def query_time(window: Window) -> bytes:
    """All events that may touch a window."""
    span = element("c:time-range", start=_stamp(window.start - _MARGIN), end=_stamp(window.end + _MARGIN))
    return _query(span)


def query_uid(uid: str) -> bytes:
    """The object of an event."""
    match = element("c:text-match", text=uid, collation="i;octet")
    return _query(element("c:prop-filter", match, name="UID"))


def _query(condition: Element) -> bytes:
    events = element("c:comp-filter", condition, name="VEVENT")
    return body(
        element(
            "c:calendar-query",
            element("d:prop", element("d:getetag"), element("c:calendar-data")),
            element("c:filter", element("c:comp-filter", events, name="VCALENDAR")),
        )
    )


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
