"""Secrets, by name; a value is never shown."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

SecretPlace = Literal["keyring", "file"]


class SecretInfo(TypedDict):
    """A secret and who uses it; `place` is None for one that is not stored."""

    name: str
    place: SecretPlace | None
    servers: list[str]


class SecretStored(TypedDict):
    """A secret that was stored; the servers that use it were started again."""

    name: str
    place: SecretPlace
    restarted: list[str]


class SecretRemoved(TypedDict):
    """A secret that is gone, and the servers that still refer to it."""

    name: str
    removed: bool
    servers: list[str]
