"""The user's systemd: the unit file, quoted as systemd reads it, and the hint about lingering."""

from __future__ import annotations

import getpass
import os
import re
from pathlib import Path

from toolcrib.features.service.service import Service, ServiceState, ask, tell

TITLE = "systemd"
UNIT = "toolcrib.service"
_CTL = ("systemctl", "--user")
_PLAIN = re.compile(r"[\w./:@=+,-]+", re.ASCII)
_TEXT = """\
[Unit]
Description=Toolcrib: runs MCP servers and lends their tools

[Service]
Type=exec
ExecStart={command}
{environment}
# Stdout begins with an address that signs a browser in once.
StandardOutput=null
# The host stops its servers in order; a signal to all of them would look like crashes.
KillMode=mixed
TimeoutStopSec=30
Restart=on-failure
RestartSec=5
# A wrong option or config file: starting again would not help.
RestartPreventExitStatus=2
UMask=0077

[Install]
WantedBy=default.target
"""


def place() -> Path:
    config = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (config if config.is_absolute() else Path.home() / ".config") / "systemd" / "user" / UNIT


def describe(service: Service) -> str:
    program, *words = service.command
    # Variables are expanded in words, but not in the program.
    command = " ".join([_quoted(program), *(_quoted(word.replace("$", "$$")) for word in words)])
    pairs = (_quoted(f"{name}={value}") for name, value in service.environment.items())
    return _TEXT.format(command=command, environment="\n".join(f"Environment={pair}" for pair in pairs))


def _quoted(text: str) -> str:
    """The text, in double quotes if it needs them. `%` would be a specifier, a line break a new setting."""
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    shown = (letter if letter.isprintable() else _escaped(letter) for letter in escaped)
    return f'"{"".join(shown)}"'


def _escaped(letter: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogateescape"))


def obstacle() -> str:
    return "" if ask([*_CTL, "show", "--property=Version"]) else "systemd does not run for this user."


def start(file: Path) -> None:
    tell([*_CTL, "daemon-reload"])
    tell([*_CTL, "enable", UNIT])
    tell([*_CTL, "restart", UNIT])


def stop(file: Path) -> None:
    ask([*_CTL, "disable", "--now", UNIT])
    (file.parent / "default.target.wants" / UNIT).unlink(missing_ok=True)
    file.unlink(missing_ok=True)
    ask([*_CTL, "daemon-reload"])
    ask([*_CTL, "reset-failed", UNIT])


def state() -> ServiceState:
    asked = "--property=ActiveState,UnitFileState,MainPID"
    lines = (ask([*_CTL, "show", UNIT, asked]) or "").splitlines()
    found = {name: value for name, _, value in (line.partition("=") for line in lines)}
    pid = int(found.get("MainPID") or 0)
    running = found.get("ActiveState") in ("active", "activating", "reloading") and pid > 0
    return ServiceState(
        enabled=found.get("UnitFileState") == "enabled", running=running, pid=pid if running else None
    )


def logs(service: Service) -> str:
    return f"journalctl --user -u {UNIT.removesuffix('.service')}"


def notes() -> list[str]:
    lingering = ask(["loginctl", "show-user", getpass.getuser(), "--property=Linger", "--value"])
    if (lingering or "").strip() != "no":
        return []
    return ["It stops when you log out. To keep it running, and start it at boot: loginctl enable-linger"]
