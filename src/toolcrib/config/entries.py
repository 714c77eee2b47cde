"""One entry of `mcpServers` into a `ServerEntry`: our keys and those of other hosts, checked.

Unknown keys are never an error and stay in `raw`; a wrong type is, and names the server and the key. What
only one transport needs (a stdio server's `command`) is checked for its type here and for its presence there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from toolcrib.config.aliases import URL_KEYS, type_of
from toolcrib.config.fields import EntryError, Fields, describe
from toolcrib.schema.servers import Era, Isolation, RestartPolicy, ServerEntry

MAX_NAME = 100
LONGEST_TIMEOUT = 86_400.0
"""A day; whoever means "for ever" is told so rather than served a timer that overflows."""
SHORTEST_TIMEOUT = 0.001
MILLISECONDS_FROM = 1000
"""`timeout` is read as milliseconds from here on: Claude Code, Gemini and LibreChat write those."""

_TEXTS = frozenset(
    ("type", "transport", "command", "cwd", "package", "tarballPath", "module", "sourcePath", *URL_KEYS)
)
FILTERS = (
    *("tools", "includeTools", "include_tools", "excludeTools", "exclude_tools"),
    *("disabledTools", "disabled_tools", "toolTimeouts", "tool_timeouts"),
)
"""Keys that say which tools are off, and how long one may take; the server itself need not be told."""


def parse_entry(name: str, raw: object) -> ServerEntry:
    """The entry called `name`; raises `ConfigError` that names server and key."""
    check_name(name)
    if not isinstance(raw, Mapping):
        raise EntryError(
            f"Server {name!r}: expected an object, not {describe(raw)}.", hint='Such as {"command": "…"}.'
        )
    fields = Fields(name, raw)
    _check_standard_keys(fields)
    given: dict[str, Any] = {}
    for keys, read in _READERS:
        if not keys.isdisjoint(raw):  # few entries say more than what to run
            given |= read(fields)
    return ServerEntry(name=name, type=_type(name, raw), raw=_copied(raw), **given)


def check_name(name: str) -> None:
    """Refuse a name that could not be shown or typed."""
    if name and len(name) <= MAX_NAME and name.isprintable() and name == name.strip():
        return
    raise EntryError(
        f"{name[:MAX_NAME]!r} cannot be the name of a server.",
        hint=f"Use 1 to {MAX_NAME} printable characters, without spaces at the ends.",
    )


def _check_standard_keys(fields: Fields) -> None:
    for key in fields.names():
        if key in _TEXTS:
            fields.text(key)
    fields.texts("args")
    fields.mapping("env", numbers=True)
    fields.mapping("headers")


def _type(name: str, raw: Mapping[str, Any]) -> str:
    stated = raw.get("type") or raw.get("transport")
    address = next((key for key in URL_KEYS if raw.get(key) is not None), None)
    if not stated and address is not None and raw.get("command") is not None:
        raise EntryError(
            f"Server {name!r}: both command and {address} are given, and no type.",
            path=(address,),
            hint='Say which one is meant with "type": "stdio" or "type": "http".',
        )
    found = type_of(raw)
    if found:
        return found
    raise EntryError(
        f"Server {name!r}: nothing says how to reach it.",
        hint="Give a command, a url, a package or a module.",
    )


def _copied(value: Any) -> Any:
    """As deep as JSON goes; several times as fast as a copy of anything."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    return value


def _enabled(fields: Fields) -> dict[str, Any]:
    return {"enabled": fields.flag(True, "enabled") and not fields.flag(False, "disabled")}


def _timeouts(fields: Fields) -> dict[str, Any]:
    call = fields.number(ServerEntry.call_timeout, "timeout", least=SHORTEST_TIMEOUT)
    if call >= MILLISECONDS_FROM:
        call /= 1000
    if call > LONGEST_TIMEOUT:
        fields.fail("timeout", "a number of at most a day")
    own = fields.section("timeouts")
    if own is None:
        return {"call_timeout": call}
    bounds = {"least": SHORTEST_TIMEOUT, "most": LONGEST_TIMEOUT}
    return {
        "start_timeout": own.number(ServerEntry.start_timeout, "start", **bounds),
        "call_timeout": own.number(call, "call", **bounds),
    }


def _tool_timeouts(fields: Fields) -> dict[str, Any]:
    key = fields.first("toolTimeouts", "tool_timeouts")
    own = None if key is None else fields.section(key)
    if own is None:
        return {}
    bounds = {"least": SHORTEST_TIMEOUT, "most": LONGEST_TIMEOUT}
    timeouts = {tool: own.number(ServerEntry.call_timeout, tool, **bounds) for tool in own.names()}
    return {"tool_timeouts": timeouts}


def _environment(fields: Fields) -> dict[str, Any]:
    return {"env_allow": fields.texts("envAllow", "env_allow")}


def _tool_filters(fields: Fields) -> dict[str, Any]:
    include = fields.texts("includeTools", "include_tools")
    exclude = fields.texts("excludeTools", "exclude_tools", "disabledTools", "disabled_tools")
    if fields.kind("tools") == "a list":
        return {"include_tools": _merged(fields.texts("tools"), include), "exclude_tools": exclude}
    own = fields.section("tools")
    if own is None:
        return {"include_tools": include, "exclude_tools": exclude}
    return {
        "include_tools": _merged(own.texts("include"), include),
        "exclude_tools": _merged(own.texts("exclude"), exclude),
    }


def _merged(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _isolation(fields: Fields) -> dict[str, Any]:
    value = fields.text("isolation") or ServerEntry.isolation
    if value not in ("shared", "session"):
        fields.fail("isolation", 'text: "shared" or "session"')
    return {"isolation": cast("Isolation", value)}


def _era(fields: Fields) -> dict[str, Any]:
    value = fields.text("era")
    if value not in (None, "legacy", "modern"):
        fields.fail("era", 'text: "legacy" or "modern"')
    return {"era": cast("Era | None", value)}


def _lazy(fields: Fields) -> dict[str, Any]:
    return {"lazy": fields.flag(False, "lazy")}


def _watch(fields: Fields) -> dict[str, Any]:
    """Patterns; `true` means every file of its folder."""
    if fields.kind("watch") == "true or false":
        return {"watch": ("*",) if fields.flag(False, "watch") else ()}
    return {"watch": fields.texts("watch")}


def _memory(fields: Fields) -> dict[str, Any]:
    own = fields.section("memory")
    if own is None:
        return {}
    return {
        "memory_warning": int(own.number(ServerEntry.memory_warning, "warning")),
        "memory_limit": int(own.number(ServerEntry.memory_limit, "limit")),
    }


def _restart(fields: Fields) -> dict[str, Any]:
    if fields.kind("restart") == "true or false":
        return {"restart": RestartPolicy(enabled=fields.flag(True, "restart"))}
    own = fields.section("restart")
    return {} if own is None else {"restart": _policy(own)}


def _policy(own: Fields) -> RestartPolicy:
    first = own.number(RestartPolicy.first_delay, "firstDelay", "first_delay", most=LONGEST_TIMEOUT)
    return RestartPolicy(
        first_delay=first,
        longest_delay=max(
            first,
            own.number(RestartPolicy.longest_delay, "longestDelay", "longest_delay", most=LONGEST_TIMEOUT),
        ),
        jitter=own.number(RestartPolicy.jitter, "jitter", most=1.0),
        give_up_after=int(own.number(RestartPolicy.give_up_after, "giveUpAfter", "give_up_after", least=1)),
        window=own.number(RestartPolicy.window, "window"),
        good_after=own.number(RestartPolicy.good_after, "goodAfter", "good_after"),
        enabled=own.flag(True, "enabled"),
    )


_READERS: tuple[tuple[frozenset[str], Callable[[Fields], dict[str, Any]]], ...] = (
    (frozenset({"timeout", "timeouts"}), _timeouts),
    (frozenset(FILTERS), _tool_filters),
    (frozenset({"enabled", "disabled"}), _enabled),
    (frozenset({"toolTimeouts", "tool_timeouts"}), _tool_timeouts),
    (frozenset({"envAllow", "env_allow"}), _environment),
    (frozenset({"isolation"}), _isolation),
    (frozenset({"era"}), _era),
    (frozenset({"lazy"}), _lazy),
    (frozenset({"watch"}), _watch),
    (frozenset({"restart"}), _restart),
    (frozenset({"memory"}), _memory),
)
"""What an entry may say besides how to reach its server: some keys, and who reads them into fields of it."""
