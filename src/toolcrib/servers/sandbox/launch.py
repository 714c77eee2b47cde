"""A server's start command and what its sandbox is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.schema.servers import SandboxPolicy


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A command to run in a sandbox."""

    server: str
    program: str
    """Its absolute path."""
    args: tuple[str, ...]
    cwd: str | None
    environment: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Those of the entry itself."""
    policy: SandboxPolicy
    own: Path
    """The server's folder for its private home and temporary files."""
    installed: Path | None = None
    """Where the server is installed, if Toolcrib installed it."""

    @property
    def home(self) -> Path:
        return self.own / "home"

    @property
    def temporary(self) -> Path:
        return self.own / "tmp"

    @property
    def folder(self) -> Path:
        """The working folder; the private home by default."""
        return Path(self.cwd).expanduser().resolve() if self.cwd else self.home
