"""Settings and secrets."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict


class SettingsShown(TypedDict):
    """All settings in effect, under their names in the config file."""

    settings: dict[str, Any]
    given: list[str]
    """Dotted names of the settings in the file; the others have their defaults."""
    known: list[str]
    """Dotted names of all settings; `*` stands for any name."""
    file: str


class SettingSaved(TypedDict):
    key: str
    value: Any
    before: Any
    """The previous value."""
    text: str
    """The value in words."""
    before_text: str
    command: str
    """The command that makes the same change."""
    untrusted: list[str]
    """After a change of `database`: servers whose trust is only in the earlier one."""


SecretPlace = Literal["keyring", "file"]


class SecretInfo(TypedDict):
    """A secret and the servers that use it; `place` is None if it is not stored."""

    name: str
    place: SecretPlace | None
    servers: list[str]


class NextPlace(TypedDict):
    place: SecretPlace


class SecretStored(TypedDict):
    """A stored secret; the servers that use it were restarted."""

    name: str
    place: SecretPlace
    restarted: list[str]


class SecretRemoved(TypedDict):
    """A removed secret, and the servers that still refer to it."""

    name: str
    removed: bool
    servers: list[str]
