"""Our entries as programs that any host can start: what Toolcrib runs by itself becomes a plain command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcrib.config.aliases import COMMAND_TYPE, canonical
from toolcrib.config.reading import Unfit
from toolcrib.errors import ConfigError
from toolcrib.servers.link import LinkContext
from toolcrib.servers.transport import find_transport, traits_of

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
    if kind is None or not traits_of(kind).exportable:
        return values
    return _resolved(name, kind, values, installs) | rest


def _resolved(name: str, kind: str, values: dict[str, Any], installs: Path) -> dict[str, Any]:
    transport: Any = find_transport(kind)
    try:
        spec = transport.resolve(transport.Spec.read(values), LinkContext(server=name, installs=installs))
    except (ConfigError, Unfit):
        return values
    found = {"command": spec.command, "args": list(spec.args), "env": dict(spec.env), "cwd": spec.cwd}
    return {"type": COMMAND_TYPE, **{key: value for key, value in found.items() if value}}
