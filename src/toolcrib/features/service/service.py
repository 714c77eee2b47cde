"""What runs as a service, and its environment (PATH, home, folders); what each service manager offers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from toolcrib.config.own_program import is_passing, own_command
from toolcrib.config.paths import HOME_VARIABLE, Paths
from toolcrib.errors import SystemFailure, UsageError

DEADLINE = 60.0
"""Seconds for a command of the service manager; it waits until the host has stopped."""
_CARRIED = (
    "LANG",
    "TOOLCRIB_KEYRING",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
)
"""Variables that the service gets too. No keys: they belong into the secret store."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """The command of the service; a service manager has none of the shell's variables."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    errors: Path
    """The file for stderr, where the manager keeps no log."""


@dataclass(frozen=True, kw_only=True)
class ServiceState:
    """What the service manager says about the service."""

    enabled: bool = False
    """It starts when the user logs in."""
    running: bool = False
    pid: int | None = None


class Manager(Protocol):
    """One service manager: a module of `managers`."""

    TITLE: str

    def place(self) -> Path:
        """The file that describes the service."""

    def describe(self, service: Service) -> str:
        """The text of that file."""

    def obstacle(self) -> str:
        """Why it cannot be used here; empty if it can."""

    def start(self, file: Path) -> None:
        """Start the service as its file says, now and at each login. Raises `SystemFailure`."""

    def stop(self, file: Path) -> None:
        """Stop the service and forget it; the file is deleted afterwards."""

    def state(self) -> ServiceState:
        """Nothing is enabled and nothing runs if the manager cannot be asked."""

    def logs(self, service: Service) -> str:
        """The command that shows what the host wrote to stderr."""

    def notes(self) -> list[str]:
        """What the user should know about the running service."""


def plan_service(paths: Paths, port: int | None) -> Service:
    """The service of this installation and this home; raises `UsageError` if the program will not stay."""
    command = own_command()
    if is_passing(command[0]):
        raise UsageError(
            "uvx runs this program from a folder that does not stay.",
            hint="Install it first: uv tool install toolcrib",
        )
    carried = {name: os.environ[name] for name in _CARRIED if os.environ.get(name)}
    folders = [folder for folder in os.get_exec_path() if Path(folder).is_absolute()]
    environment = {"PATH": os.pathsep.join(dict.fromkeys(folders)), **carried}
    if paths.home is not None:
        environment[HOME_VARIABLE] = str(paths.home.absolute())
    chosen = () if port is None else ("--port", str(port))
    return Service(
        command=(*command, "up", "--no-browser", *chosen),
        environment=environment,
        errors=paths.state / "service.log",
    )


def ask(command: Sequence[str]) -> str | None:
    """The output of a program of the service manager; None if it is missing or fails."""
    try:
        return tell(command)
    except SystemFailure:
        return None


def tell(command: Sequence[str]) -> str:
    """The output of a program of the service manager; raises `SystemFailure` with what it wrote to stderr."""
    shown = " ".join(command)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE)
    except OSError as error:
        raise SystemFailure(f"{command[0]} cannot be run: {error.strerror}.") from error
    except subprocess.TimeoutExpired:
        raise SystemFailure(f"{shown} took longer than {DEADLINE:.0f} s.") from None
    if done.returncode:
        raise SystemFailure(f"{shown} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
