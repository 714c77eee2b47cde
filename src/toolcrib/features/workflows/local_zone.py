"""The time zone of this machine by its name, such as `Europe/Berlin`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

UNKNOWN = "UTC"
LINK = Path("/etc/localtime")


def local_zone(environ: Mapping[str, str] = os.environ, link: Path = LINK) -> str:
    """`TZ` if it is a name, else what the system's link names; `UTC` if neither is known."""
    named = environ.get("TZ", "").removeprefix(":")
    if named and _exists(named):
        return named
    try:
        target = str(link.resolve(strict=True))
    except OSError:
        return UNKNOWN
    name = target.partition("/zoneinfo/")[2]
    return name if name and _exists(name) else UNKNOWN


def _exists(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return False
    return True
