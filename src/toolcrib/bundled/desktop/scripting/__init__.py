"""Scripts: shell commands through the terminal's policy and sandbox, AppleScript and JXA on macOS.

They are off unless the server was started with `--allow-scripts`, or `MCP_SHELL_COMMANDS_ENABLED` is set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from toolcrib.errors import UsageError

VARIABLE = "MCP_SHELL_COMMANDS_ENABLED"


def scripts_folder(given: str | None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder in which scripts run; None if they are not allowed. Raises `UsageError`."""
    if given is None and environ.get(VARIABLE, "").strip().casefold() not in ("1", "true", "yes"):
        return None
    folder = Path(given or ".").expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"desktop: {str(folder)!r} is not a folder.", hint="Give --allow-scripts a folder.")
    return folder
