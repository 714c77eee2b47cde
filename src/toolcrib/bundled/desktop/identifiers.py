"""Ids of resources that clients create, such as `macros/login`, and their times."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

from toolcrib.bundled.desktop.failures import InvalidResourceName
from toolcrib.serverkit.context import ToolFailure

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class ResourceMissing(ToolFailure):
    """There is no such resource."""

    kind = "not_found"


class MacroMissing(ResourceMissing):
    kind = "macro_not_found"
    reason = "MACRO_NOT_FOUND"


class SessionMissing(ResourceMissing):
    kind = "session_not_found"
    reason = "SESSION_NOT_FOUND"


class ObservationMissing(ResourceMissing):
    kind = "observation_not_found"
    reason = "OBSERVATION_NOT_FOUND"


class ResourceExists(ToolFailure):
    """A resource with this id exists already."""

    kind = "already_exists"
    reason = "ALREADY_EXISTS"


def new_id(wanted: str | None) -> str:
    """The id of a new resource: the wanted one, or a random one. Raises `ToolFailure` for a bad one."""
    if not wanted:
        return uuid.uuid4().hex
    if not _ID.fullmatch(wanted):
        raise ToolFailure(
            f"{wanted[:80]!r} cannot be an id.",
            "Use up to 63 lower-case letters, digits, dashes and underscores.",
        )
    return wanted


def id_of(name: str, collection: str) -> str:
    """The last part of a name such as `macros/login`; the id alone is accepted. Raises `ToolFailure`."""
    found = name.strip().removeprefix(f"{collection}/")
    if not _ID.fullmatch(found):
        raise InvalidResourceName(f"{name[:120]!r} is not a name such as '{collection}/…'.")
    return found


def timestamp(moment: float | None) -> str | None:
    """Seconds since 1970 in the format of RFC 3339."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
