"""How old a release is: a very new one has been looked at by nobody yet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

COOLING = timedelta(days=3)
"""Most malicious releases are found and taken back within this time."""


def freshness(published: str | None, now: datetime | None = None) -> tuple[str, ...]:
    """A remark on a release that came out only just now; nothing on all others."""
    if published is None:
        return ()
    try:
        moment = datetime.fromisoformat(published)
    except ValueError:
        return ()
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    age = (now or datetime.now(UTC)) - moment
    if age > COOLING:
        return ()
    hours = max(0, int(age.total_seconds() // 3600))
    return (f"This version came out only {hours} hours ago.",)
