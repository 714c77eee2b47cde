"""The entry that a client gets for the gateway: the program that it starts (found by absolute path), or an
address with its token. Also the user's config folders on Linux, macOS and Windows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from toolcrib.config.own_program import is_passing, own_command
from toolcrib.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class UserFolders:
    """The config folders of one user on one platform (`linux`, `darwin`, `win32`)."""

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


def find_user_folders(environ: Mapping[str, str] = os.environ) -> UserFolders:
    """The folders of the current user."""
    return UserFolders(home=Path.home(), environ=environ)


ENDPOINT = "/mcp"
HIDDEN_TOKEN = "<token>"  # noqa: S105 - shown instead


@dataclass(frozen=True, kw_only=True)
class Program:
    """The gateway over stdio: started by the client, needs no running host."""

    command: str
    args: tuple[str, ...] = ()

    def entry(self) -> dict[str, Any]:
        """Its entry, as our own config file would have it."""
        return {"command": self.command, "args": list(self.args)}

    @property
    def passing(self) -> bool:
        """True when the program will not stay where it is."""
        return is_passing(self.command)


@dataclass(frozen=True, kw_only=True)
class Address:
    """The gateway over streamable HTTP; its token is given, or in the client's environment."""

    url: str
    token: str = field(default="", repr=False)
    token_variable: str = ""

    def entry(self) -> dict[str, Any]:
        """Its entry, as our own config file would have it."""
        return {"type": "http", "url": self.url, **self.headers()}

    def headers(self) -> dict[str, dict[str, str]]:
        """The `headers` of an entry, or nothing if there is no token."""
        token = f"${{{self.token_variable}}}" if self.token_variable else self.token
        return {"headers": {"Authorization": f"Bearer {token}"}} if token else {}

    def hidden(self) -> Address:
        """The same, fit to be shown."""
        return replace(self, token=HIDDEN_TOKEN) if self.token else self


def find_program(profile: str = "", home: Path | None = None) -> Program:
    """How a client starts this very installation, by absolute path: it may know no PATH of ours."""
    command, *before = own_command()
    args = [*before, "serve", "--stdio"]
    if profile:
        args += ["--profile", profile]
    if home is not None:
        args += ["--home", str(home)]
    return Program(command=command, args=tuple(args))


def make_address(url: str, profile: str = "", *, token: str = "", token_variable: str = "") -> Address:
    """An address of the gateway; its endpoint and the profile are added where they are missing."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is not an address.", hint="Such as http://127.0.0.1:8765/mcp.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "The address may only have a host, a port and a path.",
            hint="Give a token with --token or --token-env.",
        )
    path = parts.path.rstrip("/") or ENDPOINT
    if profile and not path.endswith(f"{ENDPOINT}/{profile}"):
        path = f"{path}/{profile}"
    return Address(url=urlunsplit(parts._replace(path=path)), token=token, token_variable=token_variable)
