"""Discord's markup as a reader sees it: names of users, roles and channels, emojis, and times in the zone of
this machine. Also the time that an id contains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from toolcrib.serverkit.visible_text import visible

_EPOCH = 1_420_070_400_000
"""Milliseconds; ids of Discord count time from here."""
_MARKUP = re.compile(
    r"<(?P<kind>@!?|@&|\#)(?P<id>\d{15,20})>"
    r"|<a?:(?P<emoji>\w{2,32}):\d{15,20}>"
    r"|<t:(?P<time>-?\d{1,12})(?::[tTdDfFsSR])?>"
    r"|</(?P<command>[^:>]{1,100}):\d{15,20}>"
)


@dataclass(frozen=True)
class Names:
    """The names of the ids in a text."""

    users: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)


def readable_text(text: str, names: Names) -> str:
    """The text without markup and invisible characters; ids of unknown names stay visible."""
    return shown_markup(visible(text), names)


def shown_markup(text: str, names: Names) -> str:
    """The text with its markup as Discord shows it, and otherwise unchanged."""

    def replace(found: re.Match[str]) -> str:
        if emoji := found["emoji"]:
            return f":{emoji}:"
        if command := found["command"]:
            return f"/{command}"
        if seconds := found["time"]:
            return shown_time(int(seconds))
        known = {"#": names.channels, "@&": names.roles}.get(found["kind"], names.users)
        sign = "#" if found["kind"] == "#" else "@"
        return f"{sign}{known.get(found['id'], found['id'])}"

    return _MARKUP.sub(replace, text)


def mentions_roles(text: str) -> bool:
    return "<@&" in text


def mentions_channels(text: str) -> bool:
    return "<#" in text


def shown_time(seconds: int) -> str:
    """In the time zone of this machine."""
    try:
        return local(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))
    except (OverflowError, ValueError, OSError):
        return f"time {seconds}"


def local(time: datetime) -> str:
    return time.astimezone().isoformat(sep=" ", timespec="minutes")


def snowflake(time: datetime) -> str:
    """The smallest id of that time: ids contain when they were made."""
    milliseconds = int(time.timestamp() * 1000) - _EPOCH
    return str(max(0, milliseconds) << 22)


def time_of(identifier: int) -> datetime:
    """When something with this id was made."""
    return datetime.fromtimestamp(((identifier >> 22) + _EPOCH) / 1000, UTC)
