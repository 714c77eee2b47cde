"""Finds an installed server and its start command, adds the entry's arguments and variables, and has the
error for a server that is not installed.

An installer puts a server into `<installs>/<server>/current/` and writes `launch.json` there: the command and
arguments, with absolute paths. Starting a server only reads that file; it never downloads.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from toolcrib.config.paths import server_folder
from toolcrib.config.sections import text
from toolcrib.errors import ConfigError
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import stdio

LAUNCH_FILE = "launch.json"
CURRENT = "current"


@dataclass(frozen=True, kw_only=True)
class InstalledSpec(stdio.ProcessSpec):
    """The keys of every installable type."""

    command: str | None = text(None)


def find_launch(spec: InstalledSpec, context: LinkContext) -> stdio.StdioSpec | None:
    """The installed start command with the entry's arguments; None if nothing is installed."""
    if context.installs is None:
        return None
    installed = _read(server_folder(context.installs, context.server) / CURRENT / LAUNCH_FILE, context.server)
    return None if installed is None else joined(spec, installed)


def joined(spec: InstalledSpec, installed: stdio.StdioSpec) -> stdio.StdioSpec:
    """The installed start command with the entry's arguments, variables and folder."""
    return stdio.StdioSpec(
        command=installed.command,
        args=installed.args + spec.args,
        env={**installed.env, **spec.env},
        cwd=spec.cwd or installed.cwd,
    )


def not_installed(server: str, what: str) -> ConfigError:
    return ConfigError(
        f"{what} is not installed for {server}.",
        hint=f"Run `toolcrib install {server}`, or set `command` in its entry.",
    )


def _read(file: Path, server: str) -> stdio.StdioSpec | None:
    try:
        return stdio.StdioSpec.read(json.loads(file.read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The installation of {server} is damaged: {error}", hint=f"Reinstall {server}."
        ) from None
