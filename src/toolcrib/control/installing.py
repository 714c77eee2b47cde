"""Installed servers for operations: where they lie in this host, and how plans and versions are shown."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from toolcrib.control.answers.installing import InstalledVersion, InstallPlan, NewlyInstalled, PlanQuestion
from toolcrib.control.shapes import moment
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.servers.installing.installations import Installations, Installed
from toolcrib.servers.installing.plan import Plan, Record
from toolcrib.servers.installing.running import Runner
from toolcrib.servers.transport import traits_of

OURS = ("type", "package", "module", "version", "command", "sourcePath", "tarballPath")
"""The keys of an entry that an installer decides; a person may set all others."""


def installations_of(host: Host) -> Installations:
    """The installed servers of this host; what is started to install ends with the host, however it ends."""
    guard = host.connector.guard
    runner = Runner(
        environ=host.connector.environ,
        marker=guard.new_marker,
        spawned=guard.spawned,
        exited=guard.exited,
    )
    return Installations(installs=host.connector.installs, cache=host.paths.cache, runner=runner)


def plan_json(plan: Plan) -> InstallPlan:
    """What would happen, for a person to agree to; `digest` names exactly this plan."""
    return {
        "digest": plan.digest,
        "reference": plan.reference,
        "package": plan.package,
        "version": plan.version,
        "published": plan.published,
        "place": plan.place,
        "command": [plan.launch.command, *plan.launch.args],
        "fetches": list(plan.fetches),
        "runtimes": list(plan.runtimes),
        "incomplete": plan.incomplete,
        "copies": plan.copies,
        "scripts_refused": list(plan.scripts_refused),
        "scripts_allowed": list(plan.scripts_allowed),
        "builds": list(plan.builds),
        "remarks": list(plan.remarks),
        "questions": [cast("PlanQuestion", question.model_dump(mode="json")) for question in plan.questions],
        "free_bytes": _free(Path(plan.place)),
    }


def installed_json(installed: Installed) -> NewlyInstalled:
    """What is in place now."""
    return {**version_json(installed.record), "path": str(installed.folder), "replaced": installed.replaced}


async def agreed_plan(installations: Installations, name: str, digest: str) -> Plan:
    """The plan that a person agreed to; raises `UsageError` when it is for another server."""
    plan = await asyncio.to_thread(installations.agreed, digest)
    if plan.name != name:
        raise UsageError("The plan that was agreed to is for another server.", hint="Start again.")
    return plan


def version_json(record: Record) -> InstalledVersion:
    """One version that is in place."""
    return {
        "package": record.package,
        "version": record.version,
        "published": record.published,
        "installed_at": moment(record.installed_at),
        "reference": record.reference,
        "integrity": record.integrity,
        "packages": record.packages,
        "command": [record.launch.command, *record.launch.args],
    }


def reference_of(name: str, entry: Mapping[str, Any]) -> str:
    """What an entry of the config file asks to be installed; raises `UsageError`."""
    kind, package, version = entry.get("type"), entry.get("package"), entry.get("version")
    if entry.get("tarballPath"):
        return str(entry["tarballPath"])
    if package and traits_of(kind).index != "pypi":
        return f"npm:{package}@{version}" if version else f"npm:{package}"
    if package:
        return f"pypi:{package}=={version}" if version else f"pypi:{package}"
    if entry.get("sourcePath"):
        return str(entry["sourcePath"])
    raise UsageError(
        f"The entry of {name} names nothing to install.",
        hint=f"Say what: toolcrib add {name} npm:PACKAGE --replace, or pypi:PACKAGE.",
    )


async def set_version(host: Host, record: Record) -> None:
    """Write the active version into the entry, where there is one, and let a running server change over."""
    trusted = is_trusted(host, record.name)
    await asyncio.to_thread(_write_version, host, record)
    if trusted:
        await trust_again(host, record.name)
    await change_over(host, record.name)


def is_trusted(host: Host, name: str) -> bool:
    """Whether a person had agreed to what the entry ran before it is changed here."""
    entry = host.config.servers.get(name)
    return entry is not None and host.trust.holds(entry)


async def trust_again(host: Host, name: str) -> None:
    """The person who changes the version agrees to it; to what nobody has agreed yet, this is no word."""
    config = await asyncio.to_thread(host.config_store.read)
    if name in config.servers:
        host.trust.accept(config.servers[name])


def _write_version(host: Host, record: Record) -> None:
    with host.config_store.edit() as document:
        entry = document.get("mcpServers", {}).get(record.name)
        if isinstance(entry, dict) and entry.get("type") == record.entry.get("type"):
            entry["version"] = record.version


async def change_over(host: Host, name: str) -> None:
    """Start a server again after its files changed; one that is off stays off."""
    changed = await host.reload()
    if name in changed or name not in host.servers or host.servers.status(name).state == "disabled":
        return
    await host.servers[name].restart()


def _free(place: Path) -> int | None:
    for folder in place.parents:
        if folder.exists():
            return shutil.disk_usage(folder).free
    return None
