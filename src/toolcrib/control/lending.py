"""Our entries as programs that any host can start: what Toolcrib runs by itself becomes a plain command."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcrib import plugins
from toolcrib.config.aliases import canonical
from toolcrib.config.reading import Unfit
from toolcrib.errors import ConfigError
from toolcrib.servers.connecting import TRANSPORTS
from toolcrib.servers.link import LinkContext

_REACH = (
    "type",
    "module",
    "package",
    "version",
    "tarballPath",
    "sourcePath",
    "command",
    "args",
    "env",
    "cwd",
    "reference",
)


def as_command(name: str, raw: Mapping[str, Any], installs: Path) -> dict[str, Any]:
    """The entry with a command or an address; one that cannot be had so is given back as it is."""
    values = canonical(raw)
    kind = values.get("type")
    rest = {key: value for key, value in values.items() if key not in _REACH}
    if kind == "inprocess":
        module = str(values.get("module"))
        if ":" in module:
            return values
        args = ["-m", module, *(values.get("args") or ())]
        return {"type": "stdio", "command": sys.executable, "args": args, **rest}
    if kind in ("npm", "python", "custom"):
        return _installed(name, kind, values, installs) | rest
    return values


def _installed(name: str, kind: str, values: dict[str, Any], installs: Path) -> dict[str, Any]:
    transport = plugins.find(TRANSPORTS, kind)
    try:
        spec = transport.resolve(transport.Spec.read(values), LinkContext(server=name, installs=installs))
    except (ConfigError, Unfit):
        return values
    found = {"command": spec.command, "args": list(spec.args), "env": dict(spec.env), "cwd": spec.cwd}
    return {"type": "stdio", **{key: value for key, value in found.items() if value}}
