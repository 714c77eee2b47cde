"""Browsers that are signed in."""

from __future__ import annotations

from typing_extensions import TypedDict


class PageAddress(TypedDict):
    """A sign-in address for a browser; it works once, and expires soon."""

    url: str


class SignedInPage(TypedDict):
    """A signed-in browser: a `PageKey` without the hash of its key."""

    id: str
    name: str
    """From the browser's User-Agent."""
    made_at: str
    used_at: str


class Revoked(TypedDict):
    id: str
    revoked: bool
