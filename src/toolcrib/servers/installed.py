"""Where an installed server lies and how it is launched.

An installer puts a server into `<installs>/<server>/current/` and writes `launch.json` there: the command and
arguments, by absolute path. Starting reads that file and nothing else; it never fetches.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from toolcrib.errors import ConfigError

LAUNCH_FILE = "launch.json"


class Launch(BaseModel):
    """How to start what was installed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}


def find_launch(installs: Path | None, server: str) -> Launch | None:
    """The launch of an installed server; None when it is not installed."""
    if installs is None:
        return None
    file = installs / server / "current" / LAUNCH_FILE
    try:
        content: Any = json.loads(file.read_text())
        return Launch.model_validate(content)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError) as error:
        raise ConfigError(
            f"The installation of {server} is damaged: {error}", hint=f"Install {server} again."
        ) from None


def not_installed(server: str, what: str) -> ConfigError:
    """The error for a server whose package is not in place."""
    return ConfigError(
        f"{what} is not installed for {server}.",
        hint="Install it, or give the entry a `command` that starts it.",
    )
