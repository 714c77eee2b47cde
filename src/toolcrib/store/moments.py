"""Times as the database keeps them: whole microseconds since 1970, UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_stored(moment: datetime) -> int:
    """Exact, unlike a detour over seconds as a float."""
    return (moment - _EPOCH) // _MICROSECOND


def from_stored(stored: int) -> datetime:
    """The moment again."""
    return _EPOCH + timedelta(microseconds=stored)
