"""Times as JSON."""

from __future__ import annotations

from datetime import datetime


def moment(time: datetime) -> str:
    """ISO 8601 with milliseconds."""
    return time.isoformat(timespec="milliseconds")
