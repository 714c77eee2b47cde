"""Resource names such as `applications/17/windows/4`, made and read."""

from __future__ import annotations

import re

from toolcrib.bundled.desktop.grpc.failures import RpcFailure, invalid

ANY = "-"
"""In the place of an id: all of them, or whichever it is."""
_APPLICATION = re.compile(r"applications/(\d{1,10}|-)")
_WINDOW = re.compile(r"applications/(\d{1,10}|-)/windows/(\d{1,10})")


def application_of(name: str, field: str = "name") -> int:
    """The process id; raises `RpcFailure` for `applications/-`, too."""
    found = parent_of(_given(name, field))
    if found is None:
        raise _malformed(name, "applications/{pid}", field)
    return found


def parent_of(name: str, field: str = "parent") -> int | None:
    """The process id of a parent; None for all applications."""
    if not name:
        return None
    found = _APPLICATION.fullmatch(name)
    if found is None:
        raise _malformed(name, "applications/{pid}", field)
    return None if found[1] == ANY else int(found[1])


def window_of(name: str, field: str = "name") -> int:
    """The window's id, which is unique on the display."""
    found = _WINDOW.fullmatch(_given(name, field).removesuffix("/state"))
    if found is None:
        raise _malformed(name, "applications/{pid}/windows/{window}", field)
    return int(found[2])


def last_part(name: str, collection: str) -> str:
    """`17` of `macros/17`, if the collection is `macros`."""
    folder, _, identifier = _given(name, "name").rpartition("/")
    if folder.rpartition("/")[2] != collection or not re.fullmatch(r"[\w.-]{1,128}", identifier):
        raise _malformed(name, f"{collection}/{{id}}", "name")
    return identifier


def _given(name: str, field: str) -> str:
    if not name:
        raise invalid("MISSING_RESOURCE_NAME_FIELD", f"{field} is empty.", field)
    return name


def _malformed(name: str, pattern: str, field: str) -> RpcFailure:
    return invalid("INVALID_RESOURCE_NAME", f"{name[:200]!r} is not a name like {pattern}.", field)
