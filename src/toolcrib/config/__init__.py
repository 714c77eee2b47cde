"""Where things live, the file of record, secrets, and the environment that servers are given.

Names are resolved on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.config.contents import Config
    from toolcrib.config.entries import parse_entry
    from toolcrib.config.environment import child_environment, entry_environment
    from toolcrib.config.expansion import Expanded, expand
    from toolcrib.config.paths import Paths, find_paths
    from toolcrib.config.secrets import SecretStore
    from toolcrib.config.settings import Settings
    from toolcrib.config.store import ConfigStore
    from toolcrib.config.watch import changes

__all__ = [
    "Config",
    "ConfigStore",
    "Expanded",
    "Paths",
    "SecretStore",
    "Settings",
    "changes",
    "child_environment",
    "entry_environment",
    "expand",
    "find_paths",
    "parse_entry",
]

_HOMES = {
    "Config": "contents",
    "ConfigStore": "store",
    "Expanded": "expansion",
    "Paths": "paths",
    "SecretStore": "secrets",
    "Settings": "settings",
    "changes": "watch",
    "child_environment": "environment",
    "entry_environment": "environment",
    "expand": "expansion",
    "find_paths": "paths",
    "parse_entry": "entries",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
