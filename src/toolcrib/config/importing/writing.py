"""One of our entries in the words of another host: secrets become variables, never values."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from toolcrib.config.aliases import COMMAND_TYPE, canonical
from toolcrib.config.importing.dialect import EXPRESSIBLE, KEPT, Dialect, Entry, Inexpressible, Timer
from toolcrib.config.importing.references import Outgoing, map_texts, only_reference

_SAID = {"type", "command", "args", "env", "cwd", "url", "headers", "enabled", "disabled", KEPT}


@dataclass(frozen=True, kw_only=True)
class Written:
    """An entry as the host has it."""

    name: str
    entry: Entry
    variables: Mapping[str, str] = field(default_factory=dict)
    """What must be set for it, each with the secret that it stands for, or ''."""
    notes: tuple[str, ...] = ()


def write_entry(host: str, title: str, dialect: Dialect, name: str, raw: Mapping[str, Any]) -> Written:
    """The entry in the host's words; raises `Inexpressible`."""
    values = canonical(raw)
    left = {key: deepcopy(value) for key, value in values.items() if key not in _SAID}
    outgoing = Outgoing(dialect)
    said = map_texts(_forwarded(dialect, values, left, outgoing), outgoing.write)
    entry = _reach(dialect, title, said)
    entry.update(_switch(dialect, title, raw))
    entry.update(_treatment(dialect, left))
    kept = (raw.get(KEPT) or {}).get(host) if isinstance(raw.get(KEPT), Mapping) else None
    entry = dialect.write(name, {**(deepcopy(kept) if isinstance(kept, dict) else {}), **entry, "ours": left})
    left = entry.pop("ours", {})
    return Written(
        name=name,
        entry=entry,
        variables={key: value for key, value in outgoing.variables.items() if _is_set(dialect, entry, key)},
        notes=_notes(dialect, title, outgoing, left, entry),
    )


def _forwarded(dialect: Dialect, values: Entry, left: Entry, outgoing: Outgoing) -> Entry:
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


def _reach(dialect: Dialect, title: str, said: Mapping[str, Any]) -> Entry:
    kind = said.get("type")
    if kind not in EXPRESSIBLE:
        raise Inexpressible(f"servers of type {kind} are run by Toolcrib alone")
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
        raise Inexpressible(f"{title} has no form for servers with an address")
    exact = next((key for key, means in dialect.addresses.items() if means == kind), None)
    if exact is None and kind not in dialect.types:
        raise Inexpressible(f"{title} has no form for servers of type {kind}")
    return exact or next(iter(dialect.addresses))


def _switch(dialect: Dialect, title: str, raw: Mapping[str, Any]) -> Entry:
    off = raw.get("enabled") is False or raw.get("disabled") is True
    if not off:
        return {}
    if not dialect.off:
        raise Inexpressible(f"it is off, and {title} has no word for that")
    return {dialect.off: dialect.off == "disabled"}


def _treatment(dialect: Dialect, left: Entry) -> Entry:
    """Deadlines and tools; what the host has a word for is taken out of `left`."""
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


def _notes(dialect: Dialect, title: str, outgoing: Outgoing, left: Entry, entry: Entry) -> tuple[str, ...]:
    notes = []
    if left:
        notes.append(f"{title} has no word for {', '.join(sorted(left))}.")
    if outgoing.lost_defaults:
        notes.append(f"{title} knows no default for {', '.join(outgoing.lost_defaults)}.")
    literal = [name for name in outgoing.variables if _holds(entry, f"${{{name}}}")]
    if literal and not dialect.fills:
        named = [
            f"{name} (the secret {outgoing.variables[name]})" if outgoing.variables[name] else name
            for name in literal
        ]
        notes.append(f"{title} fills in no variables: put the value of {', '.join(named)} there yourself.")
    if "cwd" in entry and not dialect.folder:
        notes.append(f"{title} may not heed cwd.")
    return tuple(notes)


def _is_set(dialect: Dialect, entry: Entry, name: str) -> bool:
    """Whether the host takes the variable from its environment; otherwise its name is only a place for it."""
    return dialect.fills or (dialect.forwards and not _holds(entry, f"${{{name}}}"))


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, str):
        return text in value
    if isinstance(value, Mapping):
        return any(_holds(one, text) for one in value.values())
    return isinstance(value, list) and any(_holds(one, text) for one in value)
