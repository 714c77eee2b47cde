"""One entry of `mcpServers` into a `ServerEntry`: our keys and those of other hosts, checked.

Unknown keys are never an error and stay in `raw`; a wrong type is, and names the server and the key. What
only one transport needs (a stdio server's `command`) is checked for its type here and for its presence there.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
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

_TEXTS = ("type", "transport", "command", "cwd", "package", "tarballPath", "module", "sourcePath", *URL_KEYS)

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
    start, call = _timeouts(fields)
    include, exclude = _tool_filters(fields)
    return ServerEntry(
        name=name,
        type=_type(name, raw),
        raw=deepcopy(dict(raw)),
        enabled=fields.flag(True, "enabled") and not fields.flag(False, "disabled"),
        start_timeout=start,
        call_timeout=call,
        tool_timeouts=_tool_timeouts(fields),
        env_allow=fields.texts("envAllow", "env_allow"),
        isolation=_isolation(fields),
        include_tools=include,
        exclude_tools=exclude,
        era=_era(fields),
        lazy=fields.flag(False, "lazy"),
        watch=_watch(fields),
        restart=_restart(fields),
        **_memory(fields),
    )


def check_name(name: str) -> None:
    """Refuse a name that could not be shown or typed."""
    if name and len(name) <= MAX_NAME and name.isprintable() and name == name.strip():
        return
    raise EntryError(
        f"{name[:MAX_NAME]!r} cannot be the name of a server.",
        hint=f"Use 1 to {MAX_NAME} printable characters, without spaces at the ends.",
    )


def _check_standard_keys(fields: Fields) -> None:
    for key in _TEXTS:
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


def _timeouts(fields: Fields) -> tuple[float, float]:
    call = fields.number(ServerEntry.call_timeout, "timeout", least=SHORTEST_TIMEOUT)
    if call >= MILLISECONDS_FROM:
        call /= 1000
    if call > LONGEST_TIMEOUT:
        fields.fail("timeout", "a number of at most a day")
    own = fields.section("timeouts")
    if own is None:
        return ServerEntry.start_timeout, call
    bounds = {"least": SHORTEST_TIMEOUT, "most": LONGEST_TIMEOUT}
    return own.number(ServerEntry.start_timeout, "start", **bounds), own.number(call, "call", **bounds)


def _tool_timeouts(fields: Fields) -> dict[str, float]:
    key = fields.first("toolTimeouts", "tool_timeouts")
    own = None if key is None else fields.section(key)
    if own is None:
        return {}
    bounds = {"least": SHORTEST_TIMEOUT, "most": LONGEST_TIMEOUT}
    return {tool: own.number(ServerEntry.call_timeout, tool, **bounds) for tool in own.names()}


def _tool_filters(fields: Fields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    include = fields.texts("includeTools", "include_tools")
    exclude = fields.texts("excludeTools", "exclude_tools", "disabledTools", "disabled_tools")
    if fields.kind("tools") == "a list":
        return _merged(fields.texts("tools"), include), exclude
    own = fields.section("tools")
    if own is None:
        return include, exclude
    return _merged(own.texts("include"), include), _merged(own.texts("exclude"), exclude)


def _merged(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _isolation(fields: Fields) -> Isolation:
    value = fields.text("isolation") or ServerEntry.isolation
    if value not in ("shared", "session"):
        fields.fail("isolation", 'text: "shared" or "session"')
    return cast("Isolation", value)


def _era(fields: Fields) -> Era | None:
    value = fields.text("era")
    if value not in (None, "legacy", "modern"):
        fields.fail("era", 'text: "legacy" or "modern"')
    return cast("Era | None", value)


def _watch(fields: Fields) -> tuple[str, ...]:
    """Patterns; `true` means every file of its folder."""
    if fields.kind("watch") == "true or false":
        return ("*",) if fields.flag(False, "watch") else ()
    return fields.texts("watch")


def _memory(fields: Fields) -> dict[str, int]:
    own = fields.section("memory")
    if own is None:
        return {}
    return {
        "memory_warning": int(own.number(ServerEntry.memory_warning, "warning")),
        "memory_limit": int(own.number(ServerEntry.memory_limit, "limit")),
    }


def _restart(fields: Fields) -> RestartPolicy:
    if fields.kind("restart") == "true or false":
        return RestartPolicy(enabled=fields.flag(True, "restart"))
    own = fields.section("restart")
    if own is None:
        return RestartPolicy()
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
