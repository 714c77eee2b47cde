"""The folders in which programs of this person keep their settings, on each platform."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where things are for one person on one platform (`linux`, `darwin`, `win32`)."""

    home: Path
    platform: str = sys.platform
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def config(self) -> Path:
        """XDG's folder: what terminal programs use on macOS too."""
        return self.named("XDG_CONFIG_HOME") or self.home / ".config"

    @property
    def roaming(self) -> Path:
        """Windows' folder of settings."""
        return self.named("APPDATA") or self.home / "AppData" / "Roaming"

    @property
    def applications(self) -> Path:
        """Where desktop applications keep theirs."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.roaming if self.platform == "win32" else self.config

    def named(self, variable: str) -> Path | None:
        """The folder that a variable names; a relative one counts for nothing, as XDG has it."""
        value = Path(self.environ.get(variable, ""))
        return value if value.is_absolute() else None


def find_places(environ: Mapping[str, str] = os.environ) -> Places:
    """The places of whoever runs this."""
    return Places(home=Path.home(), environ=environ)
