"""Resource names such as `applications/42/windows/7`, and the plain ids accepted instead."""

from __future__ import annotations

from toolcrib.bundled.desktop.failures import InvalidResourceName

ALL = "-"
"""In the place of an id: all of them."""


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
