"""Where a server comes from, told by its entry alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from toolcrib.config.address_secrets import without_secrets
from toolcrib.config.aliases import canonical
from toolcrib.control.answers.overview import ServerSource, SourceKind
from toolcrib.servers.transport import traits_of

_PROGRAM = re.compile(r"\.(?:py|[cm]?js|ts|jar|rb|sh)$", re.IGNORECASE)


def source_of(raw: Mapping[str, Any], imported_from: str = "") -> ServerSource:
    """Its kind, and what it is called there; `imported_from` is remembered elsewhere."""
    entry = canonical(raw)
    kind, text = _kind_and_text(entry)
    version = entry.get("version")
    return {
        "kind": kind,
        "text": text,
        "version": str(version) if version else None,
        "imported_from": imported_from,
    }


def touched(raw: Mapping[str, Any]) -> list[str]:
    """The folders and files that its arguments name."""
    arguments = canonical(raw).get("args")
    words = [str(word) for word in arguments] if isinstance(arguments, list) else []
    values = [word.partition("=")[2] if word.startswith("-") else word for word in words]
    return [value for value in values if value.startswith(("/", "~/")) and not _PROGRAM.search(value)]


def _kind_and_text(entry: Mapping[str, Any]) -> tuple[SourceKind, str]:
    if entry.get("url"):
        return "address", without_secrets(str(entry["url"]))
    if traits_of(entry.get("type")).in_process:
        return "in process", str(entry.get("module", ""))
    if entry.get("tarballPath"):
        return "bundle", str(entry["tarballPath"])
    if entry.get("sourcePath"):
        return "folder", str(entry["sourcePath"])
    if entry.get("package"):
        return ("pypi" if traits_of(entry.get("type")).index == "pypi" else "npm"), str(entry["package"])
    if entry.get("module"):
        return "pypi", str(entry["module"])
    arguments = entry.get("args")
    rest = arguments if isinstance(arguments, list) else []
    program = PurePath(str(entry.get("command", ""))).name
    return "command", " ".join([program, *(str(word) for word in rest)])
