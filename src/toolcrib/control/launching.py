"""What an entry would run or reach, in the form that a person reads before agreeing to it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolcrib.config.address_secrets import without_secrets
from toolcrib.config.aliases import canonical
from toolcrib.config.environment import entry_environment
from toolcrib.config.hidden import shown
from toolcrib.config.launch import differences, launch_hash, launch_of
from toolcrib.config.reading import Unfit
from toolcrib.config.review import makes_code_run, review_entry
from toolcrib.control.answers.adding import LaunchArgument, LaunchChange, LaunchScripts, LaunchShown
from toolcrib.control.installing import installations_of
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.installed import joined
from toolcrib.servers.installing.plan import Launch, Plan
from toolcrib.servers.transport import find_transport, traits_of
from toolcrib.servers.transports import stdio
from toolcrib.tools.definitions import digest

_SCRIPT = re.compile(r"\.(?:py|[cm]?js|ts|jar|rb|sh)$", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def mark_of(launch: Mapping[str, Any], held: Sequence[str] = ()) -> str:
    """Names exactly this launch, and these definitions of tools."""
    return digest([launch_hash(launch), list(held)])[:32]


async def launch_shown(host: Host, entry: ServerEntry, plan: Plan | None = None) -> LaunchShown:
    """The whole of it; `plan` is what would be installed first."""
    launch, before = launch_of(entry.raw), host.trust.agreed(entry.name)
    agreed = await host.trust.agreed_at(entry.name)
    held = [tool.hash for tool in host.registry.snapshot.by_server.get(entry.name, ()) if tool.held]
    raw = canonical(entry.raw)
    installed = _installed(host, entry, plan)
    words = _words(entry.type, raw, installed)
    arguments = [_argument(word, _own_folders(words, raw, installed, plan)) for word in words[1:]]
    changed = differences(before, launch) if before is not None and not host.trust.holds(entry) else {}
    return {
        "name": entry.name,
        "type": entry.type,
        "program": shown(words[0]) if words else "",
        "arguments": arguments,
        "folder": shown(str(raw.get("cwd") or (installed.cwd if installed else None) or "")),
        "url": shown(without_secrets(str(raw.get("url") or ""))),
        "headers": sorted(raw.get("headers") or {}),
        "touches": [one["text"] for one in arguments if one["outside"]],
        "inherits": sorted(entry_environment(entry, host.connector.environ)) if words else [],
        "sets": _variables(raw, installed),
        "scripts": _scripts(plan),
        "fetches": [*plan.fetches, *plan.runtimes] if plan else [],
        "copies": plan.copies if plan else "",
        "installed": not traits_of(entry.type).installable or (installed is not None and plan is None),
        "remarks": [*(plan.remarks if plan else ()), *review_entry(entry.raw)],
        "changed": [_change(part, one) for part, one in changed.items()],
        "agreed": moment(agreed) if agreed else None,
        "trusted": host.trust.holds(entry),
        "mark": mark_of(launch, held),
    }


def _installed(host: Host, entry: ServerEntry, plan: Plan | None) -> Launch | None:
    if plan is not None:
        return plan.launch
    if not traits_of(entry.type).installable:
        return None
    record = installations_of(host).place(entry.name).current
    return record.launch if record else None


def _words(kind: str, raw: Mapping[str, Any], installed: Launch | None) -> list[str]:
    """As the transport of this type would start it: what is shown is what runs."""
    if traits_of(kind).installable and (found := _started(kind, raw, installed)):
        return found
    own = [str(word) for word in raw.get("args") or ()]
    if installed is not None:
        return [installed.command, *installed.args, *own]
    for key in ("command", "package", "module", "sourcePath", "tarballPath"):
        if raw.get(key):
            return [str(raw[key]), *own]
    return []


def _started(kind: str, raw: Mapping[str, Any], installed: Launch | None) -> list[str]:
    """The command that the transport makes of the entry; nothing while the entry is incomplete."""
    transport: Any = find_transport(kind)
    try:
        spec = transport.Spec.read(raw)
    except Unfit:
        return []
    noted = None if installed is None else stdio.Spec(command=installed.command, args=tuple(installed.args))
    found = transport.start(spec, None if noted is None else joined(spec, noted))
    return [] if found is None else [found.command, *found.args]


def _own_folders(
    words: Sequence[str], raw: Mapping[str, Any], installed: Launch | None, plan: Plan | None
) -> list[Path]:
    """Where the program itself lies; an argument that names something there reaches nowhere else."""
    folders = [Path(plan.place)] if plan else []
    if installed is not None and installed.args:
        folders += [Path(word).parent for word in installed.args if Path(word).is_absolute()]
    if Path(words[0]).is_absolute():
        folders.append(Path(words[0]).parent)
    script = next((word for word in words[1:] if _SCRIPT.search(word)), None)
    if script is not None and Path(script).is_absolute():
        folders.append(Path(script).parent)
    if raw.get("cwd"):
        folders.append(Path(str(raw["cwd"])))
    return folders


def _argument(word: str, own: Sequence[Path]) -> LaunchArgument:
    return {"text": shown(word), "outside": _reaches_outside(word, own)}


def _reaches_outside(word: str, own: Sequence[Path]) -> bool:
    value = word.partition("=")[2] if word.startswith("-") else word
    if not value:
        return False
    if _ADDRESS.match(value):
        return True
    if value.startswith("~") or ".." in Path(value).parts:
        return True
    path = Path(value)
    return path.is_absolute() and not any(path.is_relative_to(folder) for folder in own)


def _variables(raw: Mapping[str, Any], installed: Launch | None) -> list[LaunchArgument]:
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


def _change(part: str, one: Mapping[str, Any]) -> LaunchChange:
    return {"part": part, "before": _text(one["before"]), "now": _text(one["now"])}


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
