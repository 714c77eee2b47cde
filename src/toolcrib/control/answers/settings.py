"""Settings as they are read and written."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class SettingsShown(TypedDict):
    """All settings as they hold now, under the names of the file."""

    settings: dict[str, Any]
    given: list[str]
    """Dotted names of those that the file says something about; the others are defaults."""
    known: list[str]
    """Dotted names of all; `*` stands for a free name."""
    file: str


class SettingSaved(TypedDict):
    """A setting as it holds from now on."""

    key: str
    value: Any
    before: Any
    """What held until now, to go back to."""
    command: str
    """The same as a command."""
