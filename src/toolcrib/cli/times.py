"""Parses and formats times, durations and sizes: `--since 30m`, local times, `in 8 s`, milliseconds, KB and
MB."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

_AGO = re.compile(r"(\d+)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str, now: datetime | None = None) -> datetime:
    """The time `30m`, `2h` or `7d` ago, or a date and time, local without an offset."""
    if found := _AGO.fullmatch(text.strip()):
        try:
            return (now or datetime.now(UTC)) - timedelta(**{_UNITS[found[2]]: int(found[1])})
        except OverflowError:
            raise click.BadParameter(f"{text!r} is too long ago.") from None
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is not a time; write 30m, 2h, 7d or 2026-01-31T12:00.") from None


def until(moment: str) -> str:
    """The time until a moment: `in 8 s`."""
    seconds = (datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()
    return f"in {seconds:.0f} s" if seconds >= 1 else "now"


def local(moment: str) -> str:
    """A time in local time, to the second."""
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def duration(ms: float) -> str:
    """A duration in milliseconds, with a fitting unit."""
    if ms < 1:
        return f"{ms:.2f} ms"
    if ms < 10:
        return f"{ms:.1f} ms"
    return f"{ms:.0f} ms" if ms < 10_000 else f"{ms / 1000:.1f} s"


def size(count: int) -> str:
    """A number of bytes, with a fitting unit."""
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GB"
