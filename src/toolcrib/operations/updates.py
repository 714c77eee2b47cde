"""Versions of installed servers: compare with the newest, update, roll back, uninstall. How many are checked
at once, when a version counts as current, and messages of these commands."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.config.store import unknown_server
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations.command import SERVER, Column, Command, CommandParameter
from toolcrib.operations.event_relay import relay
from toolcrib.operations.installs import (
    installations_of,
    installed_json,
    plan_json,
    set_version,
    version_json,
)
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import Invocation, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.results.installs import (
    KeptVersion,
    RolledBack,
    ServerUpdated,
    Uninstalled,
    VersionLook,
)
from toolcrib.operations.server_notes import note_newest
from toolcrib.operations.servers import status_json
from toolcrib.operations.settings import secrets_of, used_by
from toolcrib.schema import failures
from toolcrib.servers.installers.engine.contract import InstallProgress
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.installers.engine.plan import Plan, Record
from toolcrib.servers.installers.engine.versions import InstalledVersions

CONCURRENT_CHECKS = 3


@operation(
    page=True,
    command=Command(
        section="Servers",
        help=(
            "Compare installed servers with their newest versions.\n\n"
            "Nothing is updated automatically. To update: toolcrib update NAME"
        ),
        columns=(
            Column("NAME", "{name}"),
            Column("PACKAGE", "{package}"),
            Column("VERSION", "{version}"),
            Column("INSTALLED", "{installed_at:date}"),
            Column(
                "NEWEST",
                "{outdated:=}{newest}|{newest:=same}|-",
                colours=(("same", ""), ("-", ""), ("", "yellow")),
            ),
            Column("KEPT", "{kept:versions}|-"),
        ),
        empty="No servers are installed. Install one with: toolcrib add npm:PACKAGE",
        row_note="{name}: {error[message]}",
        parameters=(CommandParameter("name", argument=True, completes="servers"),),
    ),
)
async def outdated(host: Host, *, name: str | None = None) -> list[VersionLook]:
    """List installed servers and their newest versions; nothing is changed."""
    installations = installations_of(host)
    names = [name] if name else await asyncio.to_thread(installations.names)
    slots = asyncio.Semaphore(CONCURRENT_CHECKS)

    async def check(name: str) -> VersionLook:
        async with slots:
            return await _check(installations, name)

    found = list(await asyncio.gather(*(check(name) for name in names)))
    known = {server["name"]: server["newest"] for server in found if server["newest"]}
    if known:
        await asyncio.to_thread(note_newest, host, known)
    return found


async def _check(installations: Installations, name: str) -> VersionLook:
    found = await installations.newest(name)
    versions = await asyncio.to_thread(installations.place(name).versions)
    return {
        "name": name,
        **version_json(found.record),
        "newest": found.newest,
        "outdated": found.outdated,
        "error": failures.to_json(found.error) if found.error else None,
        "kept": [version_json(version) for version in versions if version.id != found.record.id],
    }


@operation(page=True)
async def versions(host: Host, name: str) -> list[KeptVersion]:
    """List the installed versions of a server, newest first; makes no request."""
    check_server(host, name)
    return await asyncio.to_thread(_kept, InstalledVersions(host.core.connector.installs, name))


def _kept(place: InstalledVersions) -> list[KeptVersion]:
    current = place.current
    return [
        {
            "version": record.version,
            "installed_at": record.installed_at.isoformat(),
            "active": record == current,
            "package": record.package,
        }
        for record in reversed(place.versions())
    ]


class UpdateParams(OperationParams):
    """The server, and the new version: the newest, a given version, or another file."""

    name: str
    to: str | None = None
    reference: str | None = None
    allow_scripts: tuple[str, ...] = ()
    allow_build: tuple[str, ...] = ()
    offline: bool = False
    dry_run: bool = False
    fetch_runtime: bool = False
    """As for `install`."""
    agreed: str | None = None


@operation(page=True)
async def update(host: Host, invocation: Invocation[InstallProgress], params: UpdateParams) -> ServerUpdated:
    """Plan or install another version of a server; the earlier one is kept for `rollback`.

    Emits each step.
    """
    installations = installations_of(host)
    before = installations.record(params.name)
    shape: ServerUpdated = {
        "name": params.name,
        "updated": False,
        "before": version_json(before),
        "plan": None,
        "installed": None,
        "server": None,
    }
    async with relay(invocation.emit) as on_step:
        plan = await _plan(installations, before, params, on_step)
        current = _is_current(plan, before)
        if params.dry_run or current:
            shown = None if current else plan_json(plan)
            return {**shape, "plan": shown, "installed": None, "server": status_json(host, params.name)}
        done = await installations.apply(plan, on_step, offline=params.offline)
    await asyncio.to_thread(installations.forget, plan)
    await set_version(host, done.record)
    return {
        **shape,
        "updated": True,
        "plan": plan_json(plan),
        "installed": installed_json(done),
        "server": status_json(host, params.name),
    }


async def _plan(installations: Installations, before: Record, params: UpdateParams, on_step: Any) -> Plan:
    if params.agreed is not None:
        return await asyncio.to_thread(installations.agreed, params.agreed)
    options = before.options.model_copy(
        update={
            "allow_scripts": (*before.options.allow_scripts, *params.allow_scripts),
            "allow_build": (*before.options.allow_build, *params.allow_build),
        }
    )
    return await installations.plan(
        _reference(before, params),
        params.name,
        options,
        offline=params.offline,
        fetch_runtimes=params.fetch_runtime or not params.dry_run,
        progress=on_step,
    )


def _reference(before: Record, params: UpdateParams) -> str:
    if params.reference is not None:
        return params.reference
    separators = {"npm:": "@", "pypi:": "=="}
    for prefix, sign in separators.items():
        if before.reference.startswith(prefix):
            return f"{prefix}{before.package}{f'{sign}{params.to}' if params.to else ''}"
    if params.to is not None:
        raise UsageError(
            f"{params.name} was installed from a file, which has no other versions.",
            hint=f"Name another file: toolcrib update {params.name} FILE",
        )
    return before.reference


def _is_current(plan: Plan, before: Record) -> bool:
    """A file or folder may have changed without a new version, so its hash is compared too."""
    same = plan.version == before.version
    return same and (not plan.source or before.integrity == f"sha256:{plan.digest_of_source}")


@operation(
    page=True,
    command=Command(
        section="Servers",
        help="Go back to the previously installed version of NAME.\n\n"
        "Nothing is downloaded: previous versions are kept.",
        done="{name} is back at {active[version]}, instead of {before[version]}.",
        done_without=("before", "{name} is back at {active[version]}."),
        parameters=(
            SERVER,
            CommandParameter(
                "to", metavar="VERSION", help="Go back to this version instead of the previous one."
            ),
        ),
    ),
)
async def rollback(host: Host, name: str, *, to: str | None = None) -> RolledBack:
    """Activate an earlier version of an installed server; nothing is downloaded."""
    installations = installations_of(host)
    active, before = await asyncio.to_thread(installations.rollback, name, to)
    await set_version(host, active)
    return {
        "name": name,
        "active": version_json(active),
        "before": version_json(before) if before else None,
        "server": status_json(host, name),
    }


@operation(page=True)
async def uninstall(host: Host, name: str, *, dry_run: bool = False) -> Uninstalled:
    """Stop an installed server, remove it from the config file, and delete its files.

    `dry_run`: only show what would be removed.
    """
    installations = installations_of(host)
    place = installations.place(name)
    configured = host.config.names
    if not place.folder.is_dir():
        if name not in configured:
            raise unknown_server(name, (*configured, *installations.names()))
        raise UsageError(
            f"{name} is configured, but nothing is installed for it.",
            hint=f"Remove it from the configuration with: toolcrib remove {name}",
        )
    versions = [record.version for record in place.versions()]
    if dry_run:
        return _outcome(name, versions)
    entry: Any = None
    if name in configured:
        # First the entry: the server must have ended before its files are deleted.
        entry = await asyncio.to_thread(host.core.config_store.remove_server, name)
        await host.reload()
    await asyncio.to_thread(installations.uninstall, name)
    backup = host.core.config_store.path.with_name(f"{host.core.config_store.path.name}.bak")
    stored = await asyncio.to_thread(host.core.secrets.names)
    used = {name for other in host.config.servers.values() for name in used_by(other.raw)}
    return {
        **_outcome(name, versions),
        "removed": entry is not None,
        "backup": str(backup) if entry is not None else None,
        "unused_secrets": [name for name in secrets_of(entry) if name in stored and name not in used],
    }


def _outcome(name: str, versions: list[str]) -> Uninstalled:
    return {"name": name, "removed": False, "versions": versions, "backup": None, "unused_secrets": []}
