"""One entry of another host's file in our words: nothing is granted, nothing is lost.

What grants trust there is left out and told; what we have no word for is kept under `x-import`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolcrib.config.aliases import COMMAND_TYPE, type_of
from toolcrib.config.entries import parse_entry
from toolcrib.config.importing.dialect import EXPRESSIBLE, KEPT, Dialect, Entry, NotAServer, Timer
from toolcrib.config.importing.references import Surroundings, map_texts, to_ours
from toolcrib.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A server as it would be taken in, before its secrets are put away and its questions answered."""

    name: str
    entry: Entry
    notes: tuple[str, ...] = field(default=())


def read_entry(host: str, dialect: Dialect, name: str, raw: object, around: Surroundings) -> Draft:
    """The entry in our words; raises `NotAServer` with the reason."""
    if not isinstance(raw, Mapping):
        raise NotAServer("its entry cannot be read")
    # `ours` is what a dialect found out, never what somebody wrote into a file.
    rest = dialect.read({key: value for key, value in raw.items() if key != "ours"})
    ours = rest.pop("ours", {})
    granted = sorted(key for key in dialect.grants if rest.pop(key, None) not in (None, False, [], {}))
    entry = {**_reach(dialect, rest), **_treatment(dialect, rest), **ours}
    entry = map_texts(entry, lambda text: to_ours(text, dialect, around))
    if around.workspace is not None and isinstance(entry.get("cwd"), str):
        entry["cwd"] = str(around.workspace / entry["cwd"]) if "${" not in entry["cwd"] else entry["cwd"]
    if rest:
        entry[KEPT] = {host: rest}
    try:
        parse_entry(name, entry)
    except ConfigError as error:
        raise NotAServer(error.message.partition(": ")[2].rstrip(".") or error.message) from None
    return Draft(name=name, entry=entry, notes=_notes(granted, rest))


def _notes(granted: list[str], rest: Entry) -> tuple[str, ...]:
    notes = []
    if granted:
        notes.append(f"{', '.join(granted)} grants trust there, and is not taken over.")
    if "envFile" in rest:
        notes.append("envFile is not read: put the variables that it needs into env.")
    return tuple(notes)


def _reach(dialect: Dialect, rest: Entry) -> Entry:
    """How to reach it; what is understood is taken out of `rest`."""
    stated = type_of({key: rest.pop(key, None) for key in ("type", "transport")})
    address = next((key for key in dialect.addresses if rest.get(key)), None)
    kind = stated or (
        dialect.addresses[address] if address and not rest.get(dialect.command) else COMMAND_TYPE
    )
    if kind not in EXPRESSIBLE:
        raise NotAServer(f"servers of type {kind} are not for other programs")
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


def _treatment(dialect: Dialect, rest: Entry) -> Entry:
    """How it is treated: switched off, deadlines, tools."""
    result: Entry = {}
    if dialect.off and dialect.off in rest and bool(rest.pop(dialect.off)) == (dialect.off == "disabled"):
        result["enabled"] = False
    times = {"start": _time(dialect.start, rest), "call": _time(dialect.call, rest)}
    tools = {"include": rest.pop(dialect.include, None), "exclude": rest.pop(dialect.exclude, None)}
    for key, values in (("timeouts", times), ("tools", tools)):
        if any(values.values()):
            result[key] = {one: value for one, value in values.items() if value}
    return result


def _time(timers: tuple[Timer, ...], rest: Entry) -> float | None:
    found = None
    for timer in timers:
        value = rest.get(timer.key)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            seconds = round(rest.pop(timer.key) * timer.unit, 3)
            found = found or (int(seconds) if seconds == int(seconds) else seconds)
    return found
