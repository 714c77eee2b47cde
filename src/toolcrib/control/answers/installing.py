"""Servers that are installed: what would happen, what was done, and which versions there are."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from toolcrib.control.answers.failures import Failure
from toolcrib.control.answers.servers import Server


class PlanQuestion(TypedDict):
    """Something that only the person knows, and that the server needs."""

    key: str
    title: str
    description: str
    kind: Literal["string", "number", "boolean", "directory", "file"]
    required: bool
    default: Any
    multiple: bool
    secret: bool
    choices: list[str]
    minimum: float | None
    maximum: float | None


class InstallPlan(TypedDict):
    """What would happen; `digest` names exactly this plan."""

    digest: str
    reference: str
    package: str
    version: str
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
    questions: list[PlanQuestion]
    free_bytes: int | None


class InstalledVersion(TypedDict):
    """One version that is in place."""

    package: str
    version: str
    published: str | None
    installed_at: str
    reference: str
    integrity: str
    packages: int
    command: list[str]


class KeptVersion(TypedDict):
    """A version that lies here; one of them is active."""

    version: str
    installed_at: str
    active: bool
    package: str


class NewlyInstalled(InstalledVersion):
    """A version that was just put in place."""

    path: str
    replaced: str | None


class ServerAdded(TypedDict):
    """An entry that was written."""

    name: str
    type: str
    enabled: bool
    entry: dict[str, Any]
    remarks: list[str]
    findings: list[str]
    """What is suspicious in the definitions of its tools, where it has listed them."""
    secrets: list[str]
    server: Server | None


class ServerInstalled(ServerAdded):
    """A server that was installed, or would be."""

    plan: InstallPlan
    installed: NewlyInstalled | None


class VersionLook(InstalledVersion):
    """The active version of a server, and whether there is a newer one."""

    name: str
    newest: str | None
    outdated: bool
    error: Failure | None
    kept: list[InstalledVersion]


class ServerUpdated(TypedDict):
    """Another version of a server, or the plan for it."""

    name: str
    updated: bool
    before: InstalledVersion
    plan: InstallPlan | None
    installed: NewlyInstalled | None
    server: Server | None


class RolledBack(TypedDict):
    """The version that was made active again."""

    name: str
    active: InstalledVersion
    before: InstalledVersion | None
    server: Server | None


class Uninstalled(TypedDict):
    """A server whose files are gone; `removed` tells of its entry."""

    name: str
    removed: bool
    versions: list[str]
    backup: str | None
    unused_secrets: list[str]


class CatalogVariable(TypedDict):
    """A variable that a server of the catalog wants."""

    name: str
    about: str
    secret: bool
    required: bool


class CatalogServer(TypedDict):
    """A server worth knowing."""

    name: str
    title: str
    about: str
    origin: Literal["official", "well-known", "registry"]
    reference: str
    url: str
    args: list[str]
    env: list[CatalogVariable]
    version: str
    add: str
    """What to type to add it."""


class CatalogSearch(TypedDict):
    """Servers that fit some words; `note` says why a registry was not heard."""

    query: str
    total: int
    """How many fit; not more than the limit are listed."""
    servers: list[CatalogServer]
    note: str
