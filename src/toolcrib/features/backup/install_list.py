"""The installed servers of a home, as a list from which they can be installed again: what is present, what
can be installed, and the advice if a local source is missing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolcrib.config.paths import Paths
from toolcrib.features.backup.manifest import InstallToRepeat
from toolcrib.servers.installers.engine.installations import Installations

BUNDLE = "bundle"
"""The installer whose integrity is the hash of a file; that of others is compared with the plan."""
Need = Literal["present", "install", "impossible"]


@dataclass(frozen=True, kw_only=True)
class InstallNeed:
    """An installation of the backup, and what is needed to have it here."""

    install: InstallToRepeat
    need: Need
    advice: str = ""
    """What to do if it cannot be repeated."""


def installs_of(paths: Paths) -> list[InstallToRepeat]:
    """The active versions."""
    installations = installations_in(paths)
    records = [installations.record(name) for name in installations.names()]
    return [
        InstallToRepeat(
            name=record.name,
            installer=record.installer,
            reference=record.reference,
            package=record.package,
            version=record.version,
            integrity=record.integrity,
            source=record.source,
            options=record.options,
        )
        for record in records
    ]


def installations_in(paths: Paths) -> Installations:
    return Installations(installs=paths.data / "servers", cache=paths.cache)


def needs_of(paths: Paths, installs: list[InstallToRepeat]) -> list[InstallNeed]:
    """What is installed already, what can be installed, and what cannot."""
    installations = installations_in(paths)
    return [_need(installations, install) for install in installs]


def _need(installations: Installations, install: InstallToRepeat) -> InstallNeed:
    current = installations.place(install.name).current
    if current and (current.version, current.integrity) == (install.version, install.integrity):
        return InstallNeed(install=install, need="present")
    if problem := _problem(install):
        return InstallNeed(install=install, need="impossible", advice=problem)
    return InstallNeed(install=install, need="install")


def _problem(install: InstallToRepeat) -> str:
    """Why a local source cannot be used; empty for packages of a registry."""
    if not install.source:
        return ""
    source, again = Path(install.source), f"toolcrib install {install.name}"
    if not source.exists():
        return f"Copy {source} to this machine, to the same place, then: {again}"
    if install.installer == BUNDLE and f"sha256:{_digest(source)}" != install.integrity:
        return f"{source} is another file than the one in the backup. If that is intended: {again}"
    return ""


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
