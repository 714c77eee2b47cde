"""Installing servers, and searching the catalog: the plan that the user approves, refused names, the entry
that is written, ways to set up included servers, trust and restart after a new version, warnings about tool
texts."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import urlsplit

from pydantic import Field

from toolcrib.catalog.listing import CatalogEntry, Choice, by_module, by_name, search
from toolcrib.config.review import review_entry
from toolcrib.errors import RemoteUnreachable, UnknownServer, UsageError
from toolcrib.host import Host
from toolcrib.operations.checks.bundled import missing_parts
from toolcrib.operations.event_relay import relay
from toolcrib.operations.operation import Invocation, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.results.installs import (
    CatalogSearch,
    CatalogServer,
    IncludedChoice,
    InstalledVersion,
    InstallPlan,
    NewlyInstalled,
    ServerAdded,
    ServerInstalled,
)
from toolcrib.operations.servers import status_within
from toolcrib.schema.json_values import moment
from toolcrib.schema.tools import Tool
from toolcrib.servers.installers.engine.contract import CommandRunner, InstallProgress
from toolcrib.servers.installers.engine.installations import Installations, Installed
from toolcrib.servers.installers.engine.package_names import propose_name
from toolcrib.servers.installers.engine.plan import FilledEntry, Options, Plan, Record, fill, merged
from toolcrib.servers.transport import traits_of


class InstallParams(OperationParams):
    """What to install and how; without a reference, the entry of `name` is installed again."""

    name: str = ""
    reference: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    """Values of the secrets that `env` refers to."""
    answers: dict[str, Any] = Field(default_factory=dict, repr=False)
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further keys of the entry, such as timeouts and filters."""
    allow_scripts: tuple[str, ...] = ()
    allow_build: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    program: str | None = None
    python: str | None = None
    offline: bool = False
    replace: bool = False
    dry_run: bool = False
    """Only plan; only package metadata is downloaded."""
    fetch_runtime: bool = False
    """Allow a plan to download the Node runtime it needs to resolve packages; else the plan is incomplete."""
    agreed: str | None = None
    """The digest of the plan that was shown; only this plan is applied."""
    wait: float = Field(default=0.0, ge=0, le=3600)


@operation(page=True)
async def install(
    host: Host, invocation: Invocation[InstallProgress], params: InstallParams
) -> ServerInstalled:
    """Plan an installation, or install as planned and add the server to the config file.

    Emits each step.
    """
    name = params.name or propose_name(params.reference)
    again = not params.reference
    _check_name(host, name, params, again=again)
    installations = installations_of(host)
    async with relay(invocation.emit) as on_step:
        plan = await _plan(host, installations, name, params, on_step)
        if params.dry_run:
            entry = _again(host, name, plan).entry if again else plan.entry
            return {**_shape(name, entry), "plan": plan_json(plan), "installed": None}
        filled = _again(host, name, plan) if again else _entry(name, plan, params)
        done = await installations.apply(plan, on_step, offline=params.offline)
    await asyncio.to_thread(installations.forget, plan)
    # A command has shown the plan with the command and its arguments; the page asks for trust separately.
    trusted = is_trusted(host, name) if again else not invocation.from_page
    await _write(host, name, filled, params, replace=params.replace or again)
    if trusted:
        await trust_again(host, name)
    await restart_changed(host, name)
    shape = _shape(name, filled.entry, secrets=[*filled.secrets, *params.secrets])
    server = await status_within(host, name, params.wait)
    return {
        **shape,
        "findings": found_in_server(host, name),
        "server": server,
        "plan": plan_json(plan),
        "installed": installed_json(done),
    }


def _check_name(host: Host, name: str, params: InstallParams, *, again: bool) -> None:
    """Refuse a used or an unknown name before anything is downloaded."""
    configured = name in host.config.names
    if again and name not in host.config.servers:
        raise UnknownServer(
            f"There is no server called {name!r}.", hint=f"Install one with: toolcrib add {name} npm:PACKAGE"
        )
    if configured and not again and not params.replace:
        raise UsageError(
            f"There is already a server called {name!r}.",
            hint="Choose another name, or replace it with --replace.",
        )


async def _plan(
    host: Host, installations: Installations, name: str, params: InstallParams, on_step: Any
) -> Plan:
    if params.agreed is not None:
        return await agreed_plan(installations, name, params.agreed)
    options = Options(
        allow_scripts=params.allow_scripts,
        allow_build=params.allow_build,
        also=params.also,
        program=params.program,
        python=params.python,
    )
    reference = params.reference
    if not reference:
        record = installations.place(name).current
        reference = record.reference if record else reference_of(name, host.config.servers[name].raw)
        options = merged(record.options, options) if record else options
    return await installations.plan(
        reference,
        name,
        options,
        args=params.args,
        env=params.env,
        offline=params.offline,
        fetch_runtimes=params.fetch_runtime or not params.dry_run,
        progress=on_step,
    )


def _entry(name: str, plan: Plan, params: InstallParams) -> FilledEntry:
    filled = fill(name, plan.entry, plan.questions, params.answers)
    extra = {key: value for key, value in params.extra.items() if key not in (*INSTALLER_KEYS, "args", "env")}
    return FilledEntry({**filled.entry, **extra}, filled.secrets)


def _again(host: Host, name: str, plan: Plan) -> FilledEntry:
    """The existing entry, with the keys that the installer sets."""
    entry = dict(host.config.servers[name].raw)
    decided = {key: value for key, value in plan.entry.items() if key in INSTALLER_KEYS and key not in entry}
    version = {"version": plan.entry["version"]} if "version" in plan.entry else {}
    return FilledEntry({**entry, **decided, **version})


async def _write(host: Host, name: str, filled: FilledEntry, params: InstallParams, *, replace: bool) -> None:
    for secret, value in {**filled.secrets, **params.secrets}.items():
        await asyncio.to_thread(host.core.secrets.set, secret, value)
    await asyncio.to_thread(host.core.config_store.add_server, name, filled.entry, replace=replace)


def _shape(name: str, entry: dict[str, Any], secrets: list[str] | None = None) -> ServerAdded:
    return {
        "name": name,
        "type": str(entry.get("type")),
        "enabled": entry.get("enabled", True),
        "entry": entry,
        "remarks": list(review_entry(entry)),
        "findings": [],
        "secrets": sorted(secrets or ()),
        "server": None,
    }


@operation(page=True)
async def included_choices(host: Host, name: str) -> list[IncludedChoice]:
    """Show the ways to set up a bundled server, and why one cannot work on this machine.

    `name` is that of a configured server, or one of the catalog; empty if there is only one way.
    """
    known = host.config.servers.get(name)
    listed = by_name(name) if known is None else by_module(str(known.raw.get("module", "")))
    if listed is None:
        return []
    raw = listed.entry if known is None else dict(known.raw)
    return [await _choice(listed, choice, raw) for choice in listed.choices]


async def _choice(listed: CatalogEntry, choice: Choice, raw: dict[str, Any]) -> IncludedChoice:
    kept = [str(word) for word in raw.get("args") or ()]
    for other in listed.choices:
        if other.args and other.args[0] in kept:
            at = kept.index(other.args[0])
            del kept[at : at + len(other.args)]
    args = [*kept, *choice.args]
    others = {key: value for key, value in raw.items() if key != "args"}
    missing = [part for part in await missing_parts(listed.module, args) or () if part.fatal]
    return {
        "title": choice.title,
        "about": choice.about,
        "entry": {**others, "args": args} if args else others,
        "problem": missing[0].message if missing else "",
        "hint": missing[0].hint if missing else "",
    }


@operation(page=True)
async def search_servers(
    host: Host,
    *,
    query: Annotated[str, Field(max_length=200)] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 30,
    registry: bool = True,
) -> CatalogSearch:
    """Search servers to add, in the built-in catalog and in the registry if one is set."""
    listed = search(query)
    found = listed[:limit]
    note = ""
    base = host.settings.registry_url
    if registry and base and query:
        from toolcrib.catalog.registry import search_registry

        try:
            known = {_package(server) for server in found}
            further = await search_registry(base, query, limit)
            found += [server for server in further if not server.reference or _package(server) not in known]
        except RemoteUnreachable as error:
            note = error.message
    return {
        "query": query,
        "total": len(listed) + len(found) - len(listed[:limit]),
        "servers": [cast("CatalogServer", server.as_json()) for server in found],
        "registry": urlsplit(base).netloc.rpartition("@")[2],
        "note": note,
    }


def _package(server: CatalogEntry) -> str:
    """The reference without its version."""
    return re.sub(r"(?<=[^:/])(?:@|==)[^@/]*$", "", server.reference)


INSTALLER_KEYS = ("type", "package", "module", "version", "command", "sourcePath", "tarballPath")
"""The keys of an entry that an installer sets; the user may set all others."""


def installations_of(host: Host) -> Installations:
    """The installed servers of this host; installer processes end with the host, however it ends."""
    guard = host.core.connector.guard
    runner = CommandRunner(
        environ=host.core.connector.environ,
        marker=guard.new_marker,
        spawned=guard.spawned,
        exited=guard.exited,
    )
    return Installations(installs=host.core.connector.installs, cache=host.paths.cache, runner=runner)


def plan_json(plan: Plan) -> InstallPlan:
    """The plan for the user to approve; `digest` identifies exactly this plan."""
    return {
        "digest": plan.digest,
        "reference": plan.reference,
        "package": plan.package,
        "version": plan.version,
        "integrity": plan.integrity,
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
        "questions": list(plan.questions),
        "free_bytes": _free(Path(plan.place)),
    }


def installed_json(installed: Installed) -> NewlyInstalled:
    return {**version_json(installed.record), "path": str(installed.folder), "replaced": installed.replaced}


async def agreed_plan(installations: Installations, name: str, digest: str) -> Plan:
    """The plan that the user approved; raises `UsageError` if it is for another server."""
    plan = await asyncio.to_thread(installations.agreed, digest)
    if plan.name != name:
        raise UsageError("The approved plan is for another server.", hint="Start again.")
    return plan


def version_json(record: Record) -> InstalledVersion:
    return {
        "package": record.package,
        "version": record.version,
        "published": record.published,
        "installed_at": moment(record.installed_at),
        "reference": record.reference,
        "integrity": record.integrity,
        "packages": record.packages,
        "command": [record.launch.command, *record.launch.args],
        "remarks": list(record.remarks),
    }


def reference_of(name: str, entry: Mapping[str, Any]) -> str:
    """The reference to install for an entry of the config file; raises `UsageError`."""
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
        f"The entry of {name} has nothing to install.",
        hint=f"Use: toolcrib add {name} npm:PACKAGE --replace, or pypi:PACKAGE.",
    )


async def set_version(host: Host, record: Record) -> None:
    """Write the active version into the entry, if there is one, and restart the server."""
    trusted = is_trusted(host, record.name)
    await asyncio.to_thread(_write_version, host, record)
    if trusted:
        await trust_again(host, record.name)
    await restart_changed(host, record.name)


def is_trusted(host: Host, name: str) -> bool:
    """Whether the user had approved the entry before it changes."""
    entry = host.config.servers.get(name)
    return entry is not None and host.core.trust.holds(entry)


async def trust_again(host: Host, name: str) -> None:
    """Approve the new version of an approved entry: the user who changes it agrees to it."""
    config = await asyncio.to_thread(host.core.config_store.read)
    if name in config.servers:
        host.core.trust.accept(config.servers[name])


def _write_version(host: Host, record: Record) -> None:
    with host.core.config_store.edit() as document:
        entry = document.get("mcpServers", {}).get(record.name)
        if isinstance(entry, dict) and entry.get("type") == record.entry.get("type"):
            entry["version"] = record.version


async def restart_changed(host: Host, name: str) -> None:
    """Restart a server after its files changed; a disabled one stays off."""
    changed = await host.reload()
    if name in changed or name not in host.servers or host.servers.status(name).state == "disabled":
        return
    await host.servers[name].restart()


def _free(place: Path) -> int | None:
    for folder in place.parents:
        if folder.exists():
            return shutil.disk_usage(folder).free
    return None


def found_in_server(host: Host, server: str) -> list[str]:
    """The suspicious parts of all tool definitions of a server, each with the tool's name."""
    tools = [tool for tool in host.toolset.registry.snapshot.by_server.get(server, ()) if tool.in_review]
    found = found_in(host, server, tools)
    return [f"{tool.name}: warning: {finding}" for tool in tools for finding in found[tool.name]]


def found_in(host: Host, server: str, tools: Iterable[Tool]) -> dict[str, list[str]]:
    """The suspicious parts of tool definitions of one server, one sentence each, by name of the tool."""
    from toolcrib.tools.scanner import scan

    snapshot = host.toolset.registry.snapshot
    own, others = snapshot.names_of(server), snapshot.names_beside(server)
    return {tool.name: scan(tool.definition.raw, own=own, others=others) for tool in tools}
