"""`since` of a search: a period, or a date and the shortest period that includes it."""

from __future__ import annotations

from datetime import UTC, date, datetime

from toolcrib.bundled.websearch.engines.engine import Period
from toolcrib.serverkit.context import ToolFailure

_DAYS: tuple[tuple[int, Period], ...] = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))


def read_since(since: str | None) -> tuple[Period | None, date | None]:
    """The period to search in and the first day, each if known; raises `ToolFailure`."""
    text = (since or "").strip().lower()
    if not text:
        return None, None
    for _, period in _DAYS:
        if text in (period, f"past {period}", f"last {period}", period[0]):
            return period, None
    try:
        first = date.fromisoformat(text[:10])
    except ValueError:
        raise ToolFailure(
            f"since={since!r} is not understood.", "Use day, week, month, year or a date such as 2026-01-31."
        ) from None
    age = (datetime.now(UTC).date() - first).days
    if age < 0:
        raise ToolFailure(f"since={since!r} is in the future.", "Use a date in the past.")
    return next((period for days, period in _DAYS if age <= days), None), first
