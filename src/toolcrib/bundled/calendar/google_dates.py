"""The lines of a Google series beside its rules: dates that are excluded (EXDATE) or added (RDATE)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from toolcrib.bundled.calendar.google_events import JSON
from toolcrib.bundled.calendar.identifiers import occurrence_key, read_key
from toolcrib.bundled.calendar.model import Moment
from toolcrib.bundled.calendar.zones import find_zone
from toolcrib.serverkit.context import ToolFailure

Change = Callable[[Moment], Moment | None]
"""The date that replaces one; None removes it."""


def with_rules(raw: JSON, rules: Sequence[str], start: Moment, change: Change | None = None) -> list[str]:
    """The recurrence of a series with other rules; its dates stay, or are changed."""
    kept = [line for line in raw.get("recurrence") or () if not line.upper().startswith("RRULE:")]
    if change is not None:
        kept = [changed for line in kept if (changed := _changed(line, start, change))]
    return [*(f"RRULE:{rule}" for rule in rules), *kept]


def _changed(line: str, start: Moment, change: Change) -> str:
    """One line; empty if no date is left, and as it is if its dates cannot be read."""
    name, _, values = line.partition(":")
    try:
        given = [_placed(read_key(value.strip()), name, start) for value in values.split(",")]
    except ToolFailure:
        return line
    dates = [changed for each in given if (changed := change(each)) is not None]
    if not dates:
        return ""
    kind = "" if isinstance(dates[0], datetime) else ";VALUE=DATE"
    return f"{name.partition(';')[0]}{kind}:{','.join(map(occurrence_key, dates))}"


def _placed(moment: Moment, name: str, start: Moment) -> Moment:
    """In the zone that the line names, else that of the series."""
    if not isinstance(moment, datetime) or not isinstance(start, datetime):
        return moment
    if moment.tzinfo is None:
        named = [part[5:] for part in name.split(";")[1:] if part.upper().startswith("TZID=")]
        moment = moment.replace(tzinfo=(find_zone(named[0]) if named else None) or start.tzinfo)
    return moment.astimezone(start.tzinfo)
