"""Trust: what a server would run, and the approval of it. Describes the sandbox, arguments that reach outside
its own folders, variables, install scripts, and what changed since the last approval."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolcrib.config.aliases import canonical
from toolcrib.config.environment import entry_environment
from toolcrib.config.hidden import shown
from toolcrib.config.review import (
    Difference,
    differences,
    launch_hash,
    launch_of,
    makes_code_run,
    review_entry,
)
from toolcrib.config.secret_detection import without_secrets
from toolcrib.config.sections import InvalidValue
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations.installs import found_in, installations_of
from toolcrib.operations.lookup import check_server, settled
from toolcrib.operations.operation import (
    LAZY,
    Configured,
    Names,
    Needs,
    Strings,
    named_server,
    operation,
)
from toolcrib.operations.results.additions import LaunchArgument, LaunchChange, LaunchScripts, LaunchShown
from toolcrib.operations.results.servers import HeldTool, TrustAnswer, TrustShown, server_shown
from toolcrib.schema.json_values import moment
from toolcrib.schema.servers import OTHER_MACHINES, SandboxPolicy, ServerEntry
from toolcrib.schema.tools import Tool
from toolcrib.servers.installed import joined
from toolcrib.servers.installers.engine.plan import LaunchCommand, Plan, Record
from toolcrib.servers.transport import find_transport, traits_of
from toolcrib.servers.transports import stdio
from toolcrib.tools.definitions import digest

LIST_WAIT = 30.0
"""Seconds to wait for the tools of a server that is named."""


def sandbox_text(policy: SandboxPolicy | None) -> list[str]:
    """Empty if there is no sandbox."""
    if policy is None:
        return []
    folders = ["its own files", *(["what its arguments name"] if policy.arguments else []), *policy.writable]
    limits = [
        *([f"{policy.memory} MB a process"] if policy.memory else []),
        f"{policy.processes} processes",
        *([f"{policy.cpu} % of a processor"] if policy.cpu else []),
        *([f"{policy.disk} MB on disk"] if policy.disk else []),
    ]
    return [
        f"changes {', '.join(folders)}",
        *([f"reads {', '.join(policy.readable)}"] if policy.readable else []),
        _network(policy),
        f"at most {', '.join(limits)}",
        *(["may open Unix sockets"] if policy.unix_sockets else []),
    ]


def _network(policy: SandboxPolicy) -> str:
    if policy.shares_network:
        return "uses the network of this machine, with every service on it (databases, other programs)"
    if not policy.network:
        return "has no network"
    if not policy.reaches_others:
        return f"reaches only {', '.join(policy.hosts)}"
    named = [host for host in policy.hosts if host != OTHER_MACHINES]
    return "reaches other machines, and of this one " + (", ".join(named) or "nothing")


def _trust_needs(params: Any, configured: Configured) -> Needs:
    # A trusted server that is named is started, because its tools may never have been listed.
    return Needs(servers=params.names) if params.names else LAZY


@operation(page=True, needs=_trust_needs)
async def trust(host: Host, *, names: Names, agree: Strings) -> TrustAnswer:
    """Show the servers and tools that need trust, and trust those whose marks are given."""
    for name in names:
        check_server(host, name)
    if names:
        await settled(host, LIST_WAIT)
    entries = host.config.servers
    shown = [_shown(host, entries[name]) for name in names or entries if name in entries]
    if not names:
        shown = [server for server in shown if not server["trusted"] or server["tools"]]
    for server in shown:
        if server["name"] in agree:
            await _agree(host, server, agree[server["name"]])
    return {"servers": shown}


async def _agree(host: Host, shown: TrustShown, mark: str) -> None:
    entry = host.config.servers.get(shown["name"])
    # Compared again: approving the servers before it may have taken a while.
    if entry is None or mark != _shown(host, entry)["mark"]:
        raise UsageError(
            f"{shown['name']} has changed since it was shown.", hint="Check it again: toolcrib trust"
        )
    await host.agree(shown["name"])
    status = server_shown(host.servers.status(shown["name"]), host)
    shown.update({"trusted": True, "server": status})


def _shown(host: Host, entry: ServerEntry) -> TrustShown:
    launch, before = launch_of(entry.raw), host.core.trust.agreed(entry.name)
    held = [tool for tool in host.toolset.registry.snapshot.by_server.get(entry.name, ()) if tool.in_review]
    findings = found_in(host, entry.name, held)
    tools = [_tool_json(host, tool, findings[tool.name]) for tool in held]
    return {
        "name": entry.name,
        "trusted": host.core.trust.holds(entry),
        "launch": launch,
        "changed": differences(before, launch) if before is not None else {},
        "remarks": [*(record.remarks if (record := _record(host, entry)) else ()), *review_entry(entry.raw)],
        "tools": tools,
        "mark": mark_of(launch, [tool["hash"] for tool in tools]),
        "server": None,
    }


def _tool_json(host: Host, tool: Tool, findings: list[str]) -> HeldTool:
    pin = host.core.pins.pin(tool.server or "", tool.definition.name)
    return {
        "tool": tool.name,
        "reason": tool.held_reason,
        "hash": tool.hash,
        "approved_hash": pin.hash if pin else None,
        "approved_at": moment(pin.at) if pin else None,
        "changed": differences(pin.definition if pin else {}, tool.definition.raw),
        "findings": findings,
    }


@operation(page=True, needs=named_server)
async def launch(host: Host, name: str) -> LaunchShown:
    """Show what a configured server would run or connect to.

    `trust` takes its `mark`.
    """
    check_server(host, name)
    if name in host.config.broken:
        raise host.config.broken[name]
    return await launch_shown(host, host.config.servers[name])


_SCRIPT = re.compile(r"\.(?:py|[cm]?js|ts|jar|rb|sh)$", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def mark_of(launch: Mapping[str, Any], held: Sequence[str] = ()) -> str:
    """Identifies exactly this launch and these tool definitions."""
    return digest([launch_hash(launch), list(held)])[:32]


async def launch_shown(host: Host, entry: ServerEntry, plan: Plan | None = None) -> LaunchShown:
    """All details of a launch; `plan` is the installation that comes first."""
    launch, before = launch_of(entry.raw), host.core.trust.agreed(entry.name)
    agreed = await host.core.trust.agreed_at(entry.name)
    tools = host.toolset.registry.snapshot.by_server.get(entry.name, ())
    held = [tool.hash for tool in tools if tool.in_review]
    raw = canonical(entry.raw)
    record = _record(host, entry) if plan is None else None
    installed = plan.launch if plan else record.launch if record else None
    command = _command(entry.type, raw, installed)
    own = _own_folders(command, raw, installed, plan) if command else []
    arguments = [_argument(text, own) for text in command[1:]]
    changed = differences(before, launch) if before is not None and not host.core.trust.holds(entry) else {}
    return {
        "name": entry.name,
        "type": entry.type,
        "program": shown(command[0]) if command else "",
        "arguments": arguments,
        "folder": shown(str(raw.get("cwd") or (installed.cwd if installed else None) or "")),
        "url": shown(without_secrets(str(raw.get("url") or ""))),
        "headers": sorted(raw.get("headers") or {}),
        "sandbox": sandbox_text(entry.sandbox),
        "touches": [argument["text"] for argument in arguments if argument["outside"]],
        "inherits": sorted(entry_environment(entry, host.core.connector.environ)) if command else [],
        "sets": _variables(raw, installed),
        "scripts": _scripts(plan),
        "fetches": [*plan.fetches, *plan.runtimes] if plan else [],
        "copies": plan.copies if plan else "",
        "installed": not traits_of(entry.type).installable or (installed is not None and plan is None),
        "remarks": [*(plan.remarks if plan else record.remarks if record else ()), *review_entry(entry.raw)],
        "changed": [_change(part, change) for part, change in changed.items()],
        "agreed": moment(agreed) if agreed else None,
        "trusted": host.core.trust.holds(entry),
        "mark": mark_of(launch, held),
    }


def _record(host: Host, entry: ServerEntry) -> Record | None:
    """The installed version that would start."""
    return installations_of(host).place(entry.name).current if traits_of(entry.type).installable else None


def _command(kind: str, raw: Mapping[str, Any], installed: LaunchCommand | None) -> list[str]:
    """The command as the transport of this type starts it, so that the user sees what runs."""
    if traits_of(kind).installable and (found := _started(kind, raw, installed)):
        return found
    own = [str(argument) for argument in raw.get("args") or ()]
    if installed is not None:
        return [installed.command, *installed.args, *own]
    for key in ("command", "package", "module", "sourcePath", "tarballPath"):
        if raw.get(key):
            return [str(raw[key]), *own]
    return []


def _started(kind: str, raw: Mapping[str, Any], installed: LaunchCommand | None) -> list[str]:
    """The command that the transport builds from the entry; empty if the entry is incomplete."""
    transport: Any = find_transport(kind)
    try:
        spec = transport.Spec.read(raw)
    except InvalidValue:
        return []
    noted = (
        None if installed is None else stdio.StdioSpec(command=installed.command, args=tuple(installed.args))
    )
    found = transport.start(spec, None if noted is None else joined(spec, noted))
    return [] if found is None else [found.command, *found.args]


def _own_folders(
    command: Sequence[str], raw: Mapping[str, Any], installed: LaunchCommand | None, plan: Plan | None
) -> list[Path]:
    """The folders of the program itself; an argument inside them does not reach outside."""
    folders = [Path(plan.place)] if plan else []
    if installed is not None and installed.args:
        folders += [Path(argument).parent for argument in installed.args if Path(argument).is_absolute()]
    if Path(command[0]).is_absolute():
        folders.append(Path(command[0]).parent)
    script = next((argument for argument in command[1:] if _SCRIPT.search(argument)), None)
    if script is not None and Path(script).is_absolute():
        folders.append(Path(script).parent)
    if raw.get("cwd"):
        folders.append(Path(str(raw["cwd"])))
    return folders


def _argument(text: str, own: Sequence[Path]) -> LaunchArgument:
    return {"text": shown(text), "outside": _reaches_outside(text, own)}


def _reaches_outside(text: str, own: Sequence[Path]) -> bool:
    value = text.partition("=")[2] if text.startswith("-") else text
    if not value:
        return False
    if _ADDRESS.match(value):
        return True
    if value.startswith("~") or ".." in Path(value).parts:
        return True
    path = Path(value)
    return path.is_absolute() and not any(path.is_relative_to(folder) for folder in own)


def _variables(raw: Mapping[str, Any], installed: LaunchCommand | None) -> list[LaunchArgument]:
    own = {**(installed.env if installed else {}), **(raw.get("env") or {})}
    return [
        {"text": shown(f"{name}={value}" if makes_code_run(name) else name), "outside": makes_code_run(name)}
        for name, value in sorted(own.items())
        if value is not None
    ]


def _scripts(plan: Plan | None) -> LaunchScripts:
    if plan is None:
        return {"allowed": [], "refused": [], "built": []}
    return {
        "allowed": list(plan.scripts_allowed),
        "refused": list(plan.scripts_refused),
        "built": list(plan.builds),
    }


def _change(part: str, change: Difference) -> LaunchChange:
    return {"part": part, "before": _text(change["before"]), "now": _text(change["now"])}


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, list):
        return "\n".join(shown(str(item)) for item in value)
    if isinstance(value, Mapping):
        return "\n".join(
            shown(f"{name}={item}" if item is not None else str(name)) for name, item in value.items()
        )
    return shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
