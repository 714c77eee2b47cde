"""What an entry points at: the gateway as a program that the client starts, or as an address."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from toolcrib.errors import UsageError

NAME = "toolcrib"
ENDPOINT = "/mcp"
HIDDEN_TOKEN = "<token>"  # noqa: S105 - what stands in its place
_PASSING = frozenset({"archive-v0", "environments-v2", "builds-v0"})
"""Folders of uv's cache in which `uvx` runs programs; they go away."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """The gateway over stdio: started by the client, needs no running host."""

    command: str
    args: tuple[str, ...] = ()

    @property
    def passing(self) -> bool:
        """True when the program will not stay where it is."""
        return not _PASSING.isdisjoint(Path(self.command).parts)


@dataclass(frozen=True, kw_only=True)
class Address:
    """The gateway over streamable HTTP; its token is given, or stands in the client's environment."""

    url: str
    token: str = field(default="", repr=False)
    token_variable: str = ""

    def headers(self, reference: str = "") -> dict[str, dict[str, str]]:
        """The `headers` of an entry, or nothing; `reference` is how the client writes the variable NAME."""
        token = reference.replace("NAME", self.token_variable) if self.token_variable else self.token
        return {"headers": {"Authorization": f"Bearer {token}"}} if token else {}

    def hidden(self) -> Address:
        """The same, fit to be shown."""
        return replace(self, token=HIDDEN_TOKEN) if self.token else self


def find_program(profile: str = "", home: Path | None = None) -> Program:
    """How a client starts this very installation, by absolute path: it may know no PATH of ours."""
    command, before = _executable()
    args = [*before, "serve", "--stdio"]
    if profile:
        args += ["--profile", profile]
    if home is not None:
        args += ["--home", str(home)]
    return Program(command=command, args=tuple(args))


def _executable() -> tuple[str, list[str]]:
    """Links are kept: that of an installer stays when the version behind it goes."""
    started = Path(sys.argv[0])
    if started.name == NAME and started.is_file():
        return str(started.absolute()), []
    beside = Path(sys.executable).with_name(NAME)
    found = str(beside) if beside.is_file() else shutil.which(NAME)
    if found:
        return str(Path(found).absolute()), []
    return sys.executable, ["-m", NAME]


def make_address(url: str, profile: str = "", *, token: str = "", token_variable: str = "") -> Address:
    """An address of the gateway; its endpoint and the profile are added where they are missing."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is no address.", hint="Such as http://127.0.0.1:8765/mcp.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "The address holds more than host, port and path.",
            hint="Give a token with --token or --token-env.",
        )
    path = parts.path.rstrip("/") or ENDPOINT
    if profile and not path.endswith(f"{ENDPOINT}/{profile}"):
        path = f"{path}/{profile}"
    return Address(url=urlunsplit(parts._replace(path=path)), token=token, token_variable=token_variable)
