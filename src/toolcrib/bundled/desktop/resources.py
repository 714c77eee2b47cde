"""Resource names such as `applications/42/windows/7`, and the ids of resources that clients create (macros,
sessions, observations): allowed characters, and errors for missing or existing ones."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

from toolcrib.bundled.desktop.failures import InvalidResourceName
from toolcrib.serverkit.context import ToolFailure

ALL = "-"
"""In the place of an id: all of them."""

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def application_name(application: int | None) -> str:
    return f"applications/{ALL if application is None else application}"


def window_name(application: int | None, window: int) -> str:
    return f"{application_name(application)}/windows/{window}"


def application_of(name: str | None) -> str | None:
    """The application that a name mentions: an id or another name; None for all or none."""
    given = (name or "").strip()
    if given.startswith("applications/"):
        given = given.split("/", 2)[1]
    return None if given in ("", ALL) else given


def split_name(name: str, collection: str) -> tuple[str | None, str]:
    """The application and the id of `applications/A/COLLECTION/ID`, `COLLECTION/ID` or a plain id."""
    given = name.strip()
    application: str | None = None
    if given.startswith("applications/"):
        parts = given.split("/", 2)
        application, given = application_of(given), parts[2] if len(parts) > 2 else ""
        if not given.startswith(f"{collection}/"):
            raise InvalidResourceName(
                f"{name!r} does not name one of the {collection}.",
                f"Give an id, or applications/APPLICATION/{collection}/ID.",
            )
    return application, given.removeprefix(f"{collection}/")


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


def timestamp(moment: float) -> str:
    """Seconds since 1970 in the format of RFC 3339."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
