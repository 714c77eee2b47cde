"""The user's launchd on macOS: the launch agent as a property list."""

from __future__ import annotations

import os
import plistlib
import re
import shlex
import time
from pathlib import Path

from toolcrib.errors import SystemFailure
from toolcrib.features.service.service import DEADLINE, Service, ServiceState, ask, tell

TITLE = "launchd"
LABEL = "toolcrib"
PAUSE = 0.1


def place() -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def describe(service: Service) -> str:
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(service.command),
        "EnvironmentVariables": dict(service.environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ExitTimeOut": 30,
        "Umask": 0o077,
        # Stdout begins with an address that signs a browser in once.
        "StandardOutPath": os.devnull,
        "StandardErrorPath": str(service.errors),
    }
    return plistlib.dumps(agent, sort_keys=False).decode()


def obstacle() -> str:
    return "" if ask(["launchctl", "print", _domain()]) else "launchd cannot be asked: you are not logged in."


def start(file: Path) -> None:
    _unload()
    tell(["launchctl", "enable", _target()])
    tell(["launchctl", "bootstrap", _domain(), str(file)])


def stop(file: Path) -> None:
    _unload()
    errors = plistlib.loads(file.read_bytes()).get("StandardErrorPath") if file.exists() else None
    if errors:
        Path(errors).unlink(missing_ok=True)
    file.unlink(missing_ok=True)


def _unload() -> None:
    """Wait for the end of the service: a new one cannot be loaded before."""
    if _loaded() is None:
        return
    ask(["launchctl", "bootout", _target()])
    until = time.monotonic() + DEADLINE
    while _loaded() is not None:
        if time.monotonic() > until:
            raise SystemFailure(f"launchd did not stop {LABEL} within {DEADLINE:.0f} s.")
        time.sleep(PAUSE)


def state() -> ServiceState:
    loaded = _loaded()
    pid = re.search(r"^\s*pid = (\d+)$", loaded or "", re.MULTILINE)
    return ServiceState(
        enabled=loaded is not None, running=pid is not None, pid=int(pid[1]) if pid is not None else None
    )


def _loaded() -> str | None:
    return ask(["launchctl", "print", _target()])


def logs(service: Service) -> str:
    return f"tail -f {shlex.quote(str(service.errors))}"


def notes() -> list[str]:
    return []


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _target() -> str:
    return f"{_domain()}/{LABEL}"
