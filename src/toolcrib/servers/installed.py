"""Where an installed server lies and how it is launched.

An installer puts a server into `<installs>/<server>/current/` and writes `launch.json` there: the command and
arguments, by absolute path. Starting reads that file and nothing else; it never fetches.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from toolcrib.config.kinds import named_texts, text, texts
from toolcrib.config.reading import Section
from toolcrib.errors import ConfigError
from toolcrib.servers.link import LinkContext
from toolcrib.servers.transports import stdio

LAUNCH_FILE = "launch.json"
CURRENT = "current"


@dataclass(frozen=True, kw_only=True)
class InstalledSpec(Section):
    """The keys that every installed type has."""

    command: str | None = text(None)
    args: tuple[str, ...] = texts()
    env: dict[str, str] = named_texts()
    cwd: str | None = text(None)


def find_launch(spec: InstalledSpec, context: LinkContext) -> stdio.Spec | None:
    """The command the installer noted, with the entry's arguments behind; None when nothing is installed."""
    if context.installs is None:
        return None
    noted = _read(server_folder(context.installs, context.server) / CURRENT / LAUNCH_FILE, context.server)
    return None if noted is None else joined(spec, noted)


def joined(spec: InstalledSpec, noted: stdio.Spec) -> stdio.Spec:
    """What the installer noted, with the entry's own arguments, variables and folder."""
    return stdio.Spec(
        command=noted.command,
        args=noted.args + spec.args,
        env={**noted.env, **spec.env},
        cwd=spec.cwd or noted.cwd,
    )


def server_folder(installs: Path, name: str) -> Path:
    """Where a server's versions lie; any name gives one plain folder of its own."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60]
    if plain != name:
        plain = f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    return installs / plain


def not_installed(server: str, what: str) -> ConfigError:
    """The error for a server whose package is not in place."""
    return ConfigError(
        f"{what} is not installed for {server}.",
        hint=f"Install it with: toolcrib install {server}; or give the entry a `command` that starts it.",
    )


def _read(file: Path, server: str) -> stdio.Spec | None:
    try:
        return stdio.Spec.read(json.loads(file.read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The installation of {server} is damaged: {error}", hint=f"Install {server} again."
        ) from None
