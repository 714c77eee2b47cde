"""Call records for tests."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from toolcrib.schema.tools import CallRecord

NOON = datetime(2026, 11, 15, 12, 0, 0, 123_456, tzinfo=UTC)


def record(number: int = 0, **fields: Any) -> CallRecord:
    """A call `number` seconds after noon."""
    usual: dict[str, Any] = {
        "time": NOON + timedelta(seconds=number),
        "tool": "demo__add",
        "server": "demo",
        "principal": "python",
        "outcome": "ok",
        "ms": 1.25,
        "bytes": 42,
        "arguments": '{"a": 1}',
        "call_id": f"c-{number}",
    }
    return CallRecord(**{**usual, **fields})


class Noon:
    """A clock that stands where a test puts it; whoever sleeps wakes when it is turned."""

    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return (self.time - NOON).total_seconds()

    async def sleep(self, seconds: float) -> None:
        await asyncio.Event().wait()
