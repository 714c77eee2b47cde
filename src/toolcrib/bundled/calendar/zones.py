"""Time zones by IANA name, Windows name or a name with a vendor's prefix; and the zone of this machine. Also
times that daylight saving skips, and the error for unknown zones."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import cache
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo, available_timezones

from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.time_phrases import ZONES
from toolcrib.suggestions import did_you_mean

_LINK = Path("/etc/localtime")
_NAME = Path("/etc/timezone")
M = TypeVar("M", datetime, date)


@cache
def find_zone(name: str) -> tzinfo | None:
    """The zone that a name means; None if it is unknown."""
    cleaned = name.strip().strip('"').strip("/")
    if cleaned.upper() in ("UTC", "Z", "GMT", "ETC/UTC", "ETC/GMT"):
        return UTC
    return _iana(cleaned) or _windows(cleaned) or _suffix(cleaned) or _offset(cleaned)


def zone_named(name: str) -> tzinfo:
    """The zone that a user or model named; raises `ToolFailure`."""
    found = find_zone(name)
    if found is None:
        hint = did_you_mean(name, sorted(available_timezones())) or "Use a name such as Europe/Berlin."
        raise ToolFailure(f"{name[:60]!r} is not a time zone.", hint)
    return found


def clock_zone(name: str, at: datetime) -> tzinfo:
    """The zone that a text names beside a time; raises `ToolFailure` if it is not the one of that season."""
    place = ZONES.get(name.upper().removesuffix(" TIME"))
    zone = find_zone(place or name)
    if zone is None:
        raise ToolFailure(f"{name!r} is not a time zone.", "Use create_event with `time_zone`.")
    current = at.replace(tzinfo=zone).tzname() or ""
    if place and len(name) in (3, 4) and current != name.upper():
        raise ToolFailure(
            f"On {at:%-d %B %Y} {place} has {current}, not {name.upper()}.",
            f'Use create_event with time_zone="{place}", or with the offset that is meant.',
        )
    return zone


@cache
def local_zone(chosen: str = "") -> tzinfo:
    """The chosen zone, else that of this machine, else UTC."""
    if chosen:
        return zone_named(chosen)
    for name in (os.environ.get("TZ", "").removeprefix(":"), _linked_name(), _file_name()):
        found = find_zone(name) if name else None
        if found is not None:
            return found
    return UTC


def zone_name(zone: tzinfo | None) -> str:
    """The IANA name of a zone if it has one, else its offset; empty for floating times."""
    if zone is None:
        return ""
    key = getattr(zone, "key", "")
    if key:
        return str(key)
    if zone is UTC:
        return "UTC"
    return str(getattr(zone, "_tzid", "")) or str(zone)


def settled(moment: M) -> M:
    """A time that a clock shows: one skipped by daylight saving becomes the time after the gap."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        return moment
    return moment.astimezone(UTC).astimezone(moment.tzinfo)


@cache
def _iana(name: str) -> tzinfo | None:
    if not name or name.startswith((".", "/")) or len(name) > 60:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _windows(name: str) -> tzinfo | None:
    try:
        from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON
    except ImportError:  # the extra is not installed yet
        return None
    known = WINDOWS_TO_OLSON.get(name)
    return _iana(known) if known else None


def _suffix(name: str) -> tzinfo | None:
    """`freeassociation.sourceforge.net/Europe/Berlin`, as some programs write it."""
    parts = name.split("/")
    return next((zone for at in range(1, len(parts) - 1) if (zone := _iana("/".join(parts[at:])))), None)


def _offset(name: str) -> tzinfo | None:
    """`UTC+02:00`, `GMT-0330`, `+01:00`."""
    text = name.upper().removeprefix("UTC").removeprefix("GMT").strip().replace(":", "")
    digits = text[1:]
    if text[:1] not in ("+", "-") or not digits.isdigit() or len(digits) not in (1, 2, 4):
        return None
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) == 4 else (int(digits), 0)
    if hours > 14 or minutes > 59:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def _linked_name() -> str:
    try:
        return str(_LINK.resolve()).partition("/zoneinfo/")[2]
    except OSError:
        return ""


def _file_name() -> str:
    try:
        return _NAME.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
