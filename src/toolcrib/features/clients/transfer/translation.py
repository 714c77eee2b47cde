"""Translates one entry from another host's form into ours, and back: which keys are dropped, and the notes
about what a host does not support.

Keys that grant trust are dropped with a note; keys that we do not use are kept under `x-import`. In exported
entries, secrets become variables, never values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from toolcrib.config.aliases import COMMAND_TYPE, canonical, type_of
from toolcrib.config.drafts import ServerDraft, map_texts
from toolcrib.config.entries import parse_entry
from toolcrib.errors import ConfigError
from toolcrib.features.clients.transfer.dialect import (
    EXPRESSIBLE,
    KEPT,
    Dialect,
    Entry,
    ImportContext,
    Inexpressible,
    NotAServer,
    ReferenceWriter,
    Timer,
    only_reference,
    to_ours,
)


def read_entry(host: str, dialect: Dialect, name: str, raw: object, around: ImportContext) -> ServerDraft:
    """The entry in our form; raises `NotAServer` with the reason."""
    if not isinstance(raw, Mapping):
        raise NotAServer("its entry cannot be read")
    # `ours` comes from the dialect, never from a file.
    rest = dialect.read({key: value for key, value in raw.items() if key != "ours"})
    ours = rest.pop("ours", {})
    granted = sorted(key for key in dialect.grants if rest.pop(key, None) not in (None, False, [], {}))
    entry = {**_read_connection(dialect, rest), **_read_options(dialect, rest), **ours}
    entry = map_texts(entry, lambda text: to_ours(text, dialect, around))
    if around.workspace is not None and isinstance(entry.get("cwd"), str):
        entry["cwd"] = str(around.workspace / entry["cwd"]) if "${" not in entry["cwd"] else entry["cwd"]
    if rest:
        entry[KEPT] = {host: rest}
    notes = ["envFile is not read: put the variables that it needs into env."] if "envFile" in rest else []
    return checked_draft(name, entry, granted, notes)


def checked_draft(name: str, entry: Entry, granted: list[str], notes: Sequence[str] = ()) -> ServerDraft:
    """The draft of an entry without the keys that grant trust; raises `NotAServer`."""
    try:
        parse_entry(name or "server", entry)
    except ConfigError as error:
        raise NotAServer(error.message.partition(": ")[2].rstrip(".") or error.message) from None
    dropped = [f"{', '.join(granted)} grants trust there and is not imported."] if granted else []
    return ServerDraft(name=name, entry=entry, notes=(*dropped, *notes))


def _read_connection(dialect: Dialect, rest: Entry) -> Entry:
    """How to reach it; what is understood is taken out of `rest`."""
    stated = type_of({key: rest.pop(key, None) for key in ("type", "transport")})
    address = next((key for key in dialect.addresses if rest.get(key)), None)
    kind = stated or (
        dialect.addresses[address] if address and not rest.get(dialect.command) else COMMAND_TYPE
    )
    if kind not in EXPRESSIBLE:
        raise NotAServer(f"servers of type {kind} only run in Toolcrib")
    if kind == COMMAND_TYPE:
        if not rest.get(dialect.command):
            raise NotAServer("it has neither a command nor an address")
        keys = {"command": dialect.command, "args": "args", "env": dialect.env, "cwd": "cwd"}
    else:
        if address is None:
            raise NotAServer("it has no address")
        own = next(
            (key for key, means in dialect.addresses.items() if means == kind and rest.get(key)), address
        )
        keys = {"url": own, "headers": "headers", "env": dialect.env}
    found = {ours: rest.pop(theirs) for ours, theirs in keys.items() if theirs in rest}
    found = {key: value for key, value in found.items() if value not in (None, {}, [])}
    return found if kind == COMMAND_TYPE else {"type": kind, **found}


def _read_options(dialect: Dialect, rest: Entry) -> Entry:
    """How it is treated: switched off, deadlines, tools."""
    result: Entry = {}
    if dialect.off and dialect.off in rest and bool(rest.pop(dialect.off)) == (dialect.off == "disabled"):
        result["enabled"] = False
    times = {"start": _time(dialect.start, rest), "call": _time(dialect.call, rest)}
    tools = {"include": rest.pop(dialect.include, None), "exclude": rest.pop(dialect.exclude, None)}
    for key, values in (("timeouts", times), ("tools", tools)):
        if any(values.values()):
            result[key] = {name: value for name, value in values.items() if value}
    return result


def _time(timers: tuple[Timer, ...], rest: Entry) -> float | None:
    found = None
    for timer in timers:
        value = rest.get(timer.key)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            seconds = round(rest.pop(timer.key) * timer.unit, 3)
            found = found or (int(seconds) if seconds == int(seconds) else seconds)
    return found


_SAID = {"type", "command", "args", "env", "cwd", "url", "headers", "enabled", "disabled", KEPT}


@dataclass(frozen=True, kw_only=True)
class ExportVariable:
    """A variable that must be set for the other host."""

    name: str
    secret: str
    """The name of our secret with its value; empty for a plain variable."""


@dataclass(frozen=True, kw_only=True)
class ExportedServer:
    """A server in another host's format."""

    name: str
    entry: Entry
    variables: tuple[ExportVariable, ...] = ()
    notes: tuple[str, ...] = ()


def write_entry(host: str, title: str, dialect: Dialect, name: str, raw: Mapping[str, Any]) -> ExportedServer:
    """The entry in the host's form; raises `Inexpressible`."""
    values = canonical(raw)
    left = {key: deepcopy(value) for key, value in values.items() if key not in _SAID}
    outgoing = ReferenceWriter(dialect)
    said = map_texts(_forwarded(dialect, values, left, outgoing), outgoing.write)
    entry = _write_connection(dialect, title, said)
    entry.update(_switch(dialect, title, raw))
    entry.update(_write_options(dialect, left))
    kept = (raw.get(KEPT) or {}).get(host) if isinstance(raw.get(KEPT), Mapping) else None
    entry = dialect.write(name, {**(deepcopy(kept) if isinstance(kept, dict) else {}), **entry, "ours": left})
    left = entry.pop("ours", {})
    return ExportedServer(
        name=name,
        entry=entry,
        variables=tuple(
            ExportVariable(name=name, secret=secret)
            for name, secret in outgoing.variables.items()
            if _is_set(dialect, entry, name)
        ),
        notes=_write_notes(dialect, title, outgoing, left, entry),
    )


def _forwarded(dialect: Dialect, values: Entry, left: Entry, outgoing: ReferenceWriter) -> Entry:
    """Variables that the server sees under their own names, where the host can only hand them on so."""
    env = dict(values.get("env") or {})
    if not dialect.forwards:
        if dialect.fills:
            env.update({name: f"${{{name}}}" for name in left.pop("envAllow", ()) if name not in env})
        return {**values, "env": env}
    for name, value in env.items():
        secret = only_reference(value)
        if secret is not None:
            outgoing.variables[name] = secret
            env[name] = f"${{{name}}}"
    return {**values, "env": env}


def _write_connection(dialect: Dialect, title: str, said: Mapping[str, Any]) -> Entry:
    kind = said.get("type")
    if kind not in EXPRESSIBLE:
        raise Inexpressible(f"servers of type {kind} only run in Toolcrib")
    word = dialect.types.get(kind)
    entry: Entry = {"type": word} if word else {}
    env = said.get("env") or {}
    if not dialect.nulls:
        env = {key: value for key, value in env.items() if value is not None}
    if kind == COMMAND_TYPE:
        found = {dialect.command: said.get("command"), "args": said.get("args"), dialect.env: env}
        found["cwd"] = said.get("cwd")
    else:
        found = {_address(dialect, title, kind): said.get("url"), "headers": said.get("headers")}
        found[dialect.env] = env
    return {**entry, **{key: value for key, value in found.items() if value not in (None, {}, [])}}


def _address(dialect: Dialect, title: str, kind: str) -> str:
    if not dialect.remote:
        raise Inexpressible(f"{title} does not support servers with an address")
    exact = next((key for key, means in dialect.addresses.items() if means == kind), None)
    if exact is None and kind not in dialect.types:
        raise Inexpressible(f"{title} does not support servers of type {kind}")
    return exact or next(iter(dialect.addresses))


def _switch(dialect: Dialect, title: str, raw: Mapping[str, Any]) -> Entry:
    off = raw.get("enabled") is False or raw.get("disabled") is True
    if not off:
        return {}
    if not dialect.off:
        raise Inexpressible(f"it is disabled, which {title} does not support")
    return {dialect.off: dialect.off == "disabled"}


def _write_options(dialect: Dialect, left: Entry) -> Entry:
    """Timeouts and tools; keys that the host supports are removed from `left`."""
    result: Entry = {}
    times, tools = left.get("timeouts") or {}, left.get("tools") or {}
    tools = {"include": tools} if isinstance(tools, list) else tools
    for key, timers in (("start", dialect.start), ("call", dialect.call)):
        if timers and times.get(key):
            result[timers[0].key] = _scaled(times.pop(key), timers[0])
    for key, word in (("include", dialect.include), ("exclude", dialect.exclude)):
        if word and tools.get(key):
            result[word] = tools.pop(key)
    for key, values in (("timeouts", times), ("tools", tools)):
        if not values:
            left.pop(key, None)
    return result


def _scaled(seconds: float, timer: Timer) -> float:
    value = round(seconds / timer.unit, 3)
    return int(value) if value == int(value) else value


def _write_notes(
    dialect: Dialect, title: str, outgoing: ReferenceWriter, left: Entry, entry: Entry
) -> tuple[str, ...]:
    notes = []
    if left:
        notes.append(f"{title} does not support {', '.join(sorted(left))}.")
    if outgoing.lost_defaults:
        notes.append(f"{title} does not support a default for {', '.join(outgoing.lost_defaults)}.")
    literal = [name for name in outgoing.variables if _holds(entry, f"${{{name}}}")]
    if literal and not dialect.fills:
        named = [
            f"{name} (the secret {outgoing.variables[name]})" if outgoing.variables[name] else name
            for name in literal
        ]
        notes.append(
            f"{title} does not expand variables: enter the value of {', '.join(named)} there yourself."
        )
    if "cwd" in entry and not dialect.folder:
        notes.append(f"{title} may ignore cwd.")
    return tuple(notes)


def _is_set(dialect: Dialect, entry: Entry, name: str) -> bool:
    """Whether the host takes the variable from its environment; otherwise its name is only a place for it."""
    return dialect.fills or (dialect.forwards and not _holds(entry, f"${{{name}}}"))


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, str):
        return text in value
    if isinstance(value, Mapping):
        return any(_holds(inner, text) for inner in value.values())
    return isinstance(value, list) and any(_holds(inner, text) for inner in value)
