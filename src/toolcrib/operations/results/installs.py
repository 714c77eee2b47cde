"""Installed servers, their versions and plans."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from toolcrib.catalog.listing import Variable
from toolcrib.operations.results.servers import Server
from toolcrib.schema.failures import Failure
from toolcrib.servers.installers.engine.plan import InstallQuestion


class InstallPlan(TypedDict):
    """The effect of an installation; `digest` identifies exactly this plan."""

    digest: str
    reference: str
    package: str
    version: str
    integrity: str
    """A hash of all packages with their hashes, or of the local files."""
    published: str | None
    place: str
    command: list[str]
    fetches: list[str]
    runtimes: list[str]
    incomplete: bool
    copies: str
    scripts_refused: list[str]
    scripts_allowed: list[str]
    builds: list[str]
    remarks: list[str]
    questions: list[InstallQuestion]
    free_bytes: int | None


class InstalledVersion(TypedDict):
    package: str
    version: str
    published: str | None
    installed_at: str
    reference: str
    integrity: str
    packages: int
    command: list[str]
    remarks: list[str]
    """Warnings about the installed files."""


class KeptVersion(TypedDict):
    """An installed version; one of them is active."""

    version: str
    installed_at: str
    active: bool
    package: str


class NewlyInstalled(InstalledVersion):
    path: str
    replaced: str | None


class ServerAdded(TypedDict):
    """A server that was added to the config file."""

    name: str
    type: str
    enabled: bool
    entry: dict[str, Any]
    remarks: list[str]
    findings: list[str]
    """Suspicious parts of its tool definitions, if it has listed its tools."""
    secrets: list[str]
    server: Server | None


class ServerInstalled(ServerAdded):
    """A server that was installed, or the plan for it."""

    plan: InstallPlan
    installed: NewlyInstalled | None


class VersionLook(InstalledVersion):
    """The active version of a server, and whether a newer one exists."""

    name: str
    newest: str | None
    outdated: bool
    error: Failure | None
    kept: list[InstalledVersion]


class ServerUpdated(TypedDict):
    """An update of a server, or the plan for it."""

    name: str
    updated: bool
    before: InstalledVersion
    plan: InstallPlan | None
    installed: NewlyInstalled | None
    server: Server | None


class RolledBack(TypedDict):
    name: str
    active: InstalledVersion
    before: InstalledVersion | None
    server: Server | None


class Uninstalled(TypedDict):
    """A server whose files were deleted; `removed` says whether its entry was removed too."""

    name: str
    removed: bool
    versions: list[str]
    backup: str | None
    unused_secrets: list[str]


class CatalogServer(TypedDict):
    name: str
    title: str
    about: str
    origin: Literal["bundled", "official", "well-known", "registry"]
    reference: str
    url: str
    args: list[str]
    env: list[Variable]
    version: str
    add: str
    """The command that adds it."""
    bundled: bool
    """Whether it is part of Toolcrib."""
    setting: str
    """The setting that turns it on, if it has no entry."""
    needs_account: list[str]
    """The kinds of account of which it needs one."""
    needs_choice: bool
    """Whether there are several ways to set it up; see `included_choices`."""


class IncludedChoice(TypedDict):
    """A way to set up a bundled server; `problem` says why it cannot work on this machine."""

    title: str
    about: str
    entry: dict[str, Any]
    """The entry of the server, set up this way."""
    problem: str
    hint: str


class CatalogSearch(TypedDict):
    """Matching servers; `note` says why a registry could not be searched."""

    query: str
    total: int
    """The number of matches; `servers` has at most `limit` of them."""
    servers: list[CatalogServer]
    registry: str
    """The registry of the settings, searched or not; empty if there is none."""
    note: str
