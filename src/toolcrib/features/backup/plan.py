"""Computes what a restore would do: servers to install, settings that allow calls, secrets kept, new or
missing. `view.py` prints it before anything changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.config.contents import SERVERS
from toolcrib.config.document import parse_document
from toolcrib.config.review import is_bundled, launch_of
from toolcrib.config.secret_detection import without_secrets
from toolcrib.config.settings_file import OWN
from toolcrib.features.backup.install_list import InstallNeed
from toolcrib.features.backup.manifest import Manifest

GRANTING = ("approvals", "terminal")
"""Settings that let calls run without asking."""


@dataclass(frozen=True, kw_only=True)
class RestorePlan:
    manifest: Manifest
    own: bool
    """Made by this home, and not changed since."""
    launches: Mapping[str, Mapping[str, Any]]
    """What the servers of the backup run, besides those that are part of Toolcrib."""
    settings: Mapping[str, Any]
    """Settings of the backup that let calls run without asking."""
    installs: list[InstallNeed]
    secrets_kept: list[str] = field(default_factory=list)
    """Secrets that this home already has; these stay."""
    secrets_new: list[str] = field(default_factory=list)
    secrets_missing: list[str] = field(default_factory=list)
    """Secrets that servers refer to and that are neither here nor in the backup."""

    def as_json(self) -> dict[str, Any]:
        manifest = self.manifest
        return {
            "created": manifest.created,
            "machine": manifest.machine,
            "home": manifest.home,
            "version": manifest.version,
            "own": self.own,
            "size": manifest.size,
            "rows": manifest.rows,
            "parts": {
                part: sum(1 for file in manifest.files if _is_of(file.name, part)) for part in manifest.parts
            },
            "launches": {name: dict(launch) for name, launch in self.launches.items()},
            "settings": dict(self.settings),
            "shared_database": manifest.database_url,
            "installs": [_install_json(need) for need in self.installs],
            "secrets": {
                "in_backup": manifest.secrets,
                "new": self.secrets_new,
                "kept": self.secrets_kept,
                "missing": self.secrets_missing,
            },
            "left_out": manifest.left_out,
        }


def launches_of(config: bytes) -> dict[str, dict[str, Any]]:
    """The launches of a config file by server, without secrets; raises `ConfigError`."""
    servers = parse_document(config).data.get(SERVERS)
    entries = servers.items() if isinstance(servers, dict) else ()
    return {
        name: launch_of(entry) for name, entry in entries if isinstance(entry, dict) and not is_bundled(entry)
    }


def granting_settings(config: bytes) -> dict[str, Any]:
    own = parse_document(config).data.get(OWN)
    return {key: own[key] for key in GRANTING if own.get(key)} if isinstance(own, dict) else {}


def command_text(launch: Mapping[str, Any]) -> str:
    """One line that says what runs."""
    if launch.get("url"):
        return without_secrets(str(launch["url"]))
    first = next(
        (
            launch[key]
            for key in ("command", "package", "module", "sourcePath", "tarballPath")
            if launch.get(key)
        ),
        "",
    )
    version = f"@{launch['version']}" if launch.get("package") and launch.get("version") else ""
    return " ".join([f"{first}{version}", *map(str, launch.get("args") or ())])


def _is_of(name: str, part: str) -> bool:
    return name == part or name.startswith(f"{part}/")


def _install_json(need: InstallNeed) -> dict[str, Any]:
    return {
        "name": need.install.name,
        "reference": need.install.reference,
        "package": need.install.package,
        "version": need.install.version,
        "integrity": need.install.integrity,
        "need": need.need,
        "advice": need.advice,
    }
