"""Paths, the config file, settings, secrets, and the environment of servers.

Public names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.loading import lazy_names

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

_MODULES = {
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

__getattr__ = lazy_names(__name__, _MODULES)
