"""Pages that were let in."""

from __future__ import annotations

from typing_extensions import TypedDict


class PageAddress(TypedDict):
    """Where to send a browser; the address works once, and soon."""

    url: str


class LetInPage(TypedDict):
    """A page that has a key."""

    id: str
    name: str
    """What its browser says of itself."""
    made_at: str
    used_at: str


class Revoked(TypedDict):
    """A page that has one no more."""

    id: str
    revoked: bool
