"""Reads one entry of `mcpServers` into a `ServerEntry`: our keys and those of other programs, the bounds of
timeouts and limits, timeouts in milliseconds, names of servers, and error messages. Defaults are in
`schema/servers.py`.

Unknown keys are never an error and stay in `raw`; a wrong type is an error that names the server and the key.
Whether a transport's own keys are present (a stdio server's `command`) is checked by that transport.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.config.aliases import URL_KEYS, type_of
from toolcrib.config.json_parser import KeyPath
from toolcrib.config.sections import (
    FieldKind,
    InvalidValue,
    Section,
    checked,
    choice,
    either,
    flag,
    full_text,
    json_type,
    keys_of,
    kind_of,
    named,
    named_texts,
    number,
    part,
    texts,
)
from toolcrib.errors import ConfigError
from toolcrib.schema.servers import Era, Isolation, RestartPolicy, SandboxPolicy, ServerEntry

MAX_NAME = 100
LONGEST_TIMEOUT = 86_400.0
"""A day; a timer for longer could overflow."""
SHORTEST_TIMEOUT = 0.001
MILLISECONDS_FROM = 1000
"""From this value on, `timeout` is in milliseconds, as Claude Code, Gemini and LibreChat write it."""

FILTERS = (
    *("tools", "includeTools", "include_tools", "excludeTools", "exclude_tools"),
    *("disabledTools", "disabled_tools", "toolTimeouts", "tool_timeouts"),
)
"""Keys that switch tools off or limit their time; changing them does not restart the server."""


class EntryError(ConfigError):
    """One entry is wrong; `path` is the key inside it."""

    def __init__(self, message: str, *, path: KeyPath = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.data = {"path": list(path)} if path else None


def _timeout(default: float | None) -> Any:
    return number(default, least=SHORTEST_TIMEOUT, most=LONGEST_TIMEOUT)


class _Timeouts(Section):
    start: float = _timeout(ServerEntry.start_timeout)
    call: float | None = _timeout(None)


class _ToolLists(Section):
    include: tuple[str, ...] = texts()
    exclude: tuple[str, ...] = texts()


class _Memory(Section):
    warning: float = number(ServerEntry.memory_warning)
    limit: float = number(ServerEntry.memory_limit)


OPEN_NETWORK = "open"


class _Sandbox(Section):
    """`sandbox` of an entry; see docs/sandbox.md."""

    readable: tuple[str, ...] = texts()
    writable: tuple[str, ...] = texts()
    arguments: bool = flag(True)
    network: bool | str | tuple[str, ...] | None = either(
        bool, flag(True), either(str, choice(OPEN_NETWORK), texts())
    )
    unix_sockets: bool = flag(False)
    memory: float = number(SandboxPolicy.memory)
    processes: float = number(SandboxPolicy.processes, least=1)
    cpu: float = number(SandboxPolicy.cpu, most=6400)
    disk: float = number(SandboxPolicy.disk)

    def policy(self) -> SandboxPolicy:
        hosts = self.network if isinstance(self.network, tuple) else ()
        return SandboxPolicy(
            readable=_once(self.readable),
            writable=_once(self.writable),
            arguments=self.arguments,
            network=self.network is not False and self.network != (),
            hosts=_once(hosts),
            shares_network=self.network == OPEN_NETWORK,
            unix_sockets=self.unix_sockets,
            memory=int(self.memory),
            processes=int(self.processes),
            cpu=int(self.cpu),
            disk=int(self.disk),
        )


class _Restart(Section):
    first_delay: float = number(RestartPolicy.first_delay, most=LONGEST_TIMEOUT)
    longest_delay: float = number(RestartPolicy.longest_delay, most=LONGEST_TIMEOUT)
    jitter: float = number(RestartPolicy.jitter, most=1.0)
    give_up_after: float = number(RestartPolicy.give_up_after, least=1)
    window: float = number(RestartPolicy.window)
    good_after: float = number(RestartPolicy.good_after)
    enabled: bool = flag(True)

    def policy(self) -> RestartPolicy:
        longest = max(self.first_delay, self.longest_delay)
        limits = {"longest_delay": longest, "give_up_after": int(self.give_up_after)}
        return RestartPolicy(**{**vars(self), **limits})


def _is_variable(value: Any) -> bool:
    """`env` may hold numbers, and null to remove a variable."""
    return isinstance(value, str | int | float | None) and not isinstance(value, bool)


class _Options(Section):
    """The keys of an entry that do not depend on its transport."""

    enabled: bool = flag(True)
    disabled: bool = flag(False)
    timeout: float | None = number(None, least=SHORTEST_TIMEOUT)
    timeouts: _Timeouts = part(_Timeouts)
    tool_timeouts: dict[str, float] = named(_timeout(None))
    env_allow: tuple[str, ...] = texts()
    tools: tuple[str, ...] | _ToolLists | None = either(list, texts(), part(_ToolLists))
    include_tools: tuple[str, ...] = texts()
    exclude_tools: tuple[str, ...] = texts()
    disabled_tools: tuple[str, ...] = texts()
    isolation: Isolation = choice("shared", "session")
    era: Era | None = choice("legacy", "modern", default=None)
    lazy: bool = flag(False)
    watch: bool | tuple[str, ...] | None = either(bool, flag(False), texts())
    restart: bool | _Restart | None = either(bool, flag(True), part(_Restart))
    memory: _Memory = part(_Memory)
    sandbox: bool | _Sandbox | None = either(bool, flag(False), part(_Sandbox))

    def entry_fields(self) -> dict[str, Any]:
        """The fields of a `ServerEntry`."""
        include, exclude = self._tool_lists()
        restart = self.restart
        return {
            "enabled": self.enabled and not self.disabled,
            "start_timeout": self.timeouts.start,
            "call_timeout": self.timeouts.call or self._call_timeout(),
            "tool_timeouts": self.tool_timeouts,
            "env_allow": _once(self.env_allow),
            "include_tools": include,
            "exclude_tools": exclude,
            "isolation": self.isolation,
            "era": self.era,
            "lazy": self.lazy,
            "watch": self._watched(),
            "restart": restart.policy() if isinstance(restart, _Restart) else _restart(restart),
            "memory_warning": int(self.memory.warning),
            "memory_limit": int(self.memory.limit),
            "sandbox": self._sandbox(),
        }

    def _sandbox(self) -> SandboxPolicy | None:
        if isinstance(self.sandbox, _Sandbox):
            return self.sandbox.policy()
        return SandboxPolicy() if self.sandbox else None

    def _call_timeout(self) -> float:
        if self.timeout is None:
            return ServerEntry.call_timeout
        seconds = self.timeout / 1000 if self.timeout >= MILLISECONDS_FROM else self.timeout
        if seconds > LONGEST_TIMEOUT:
            raise InvalidValue(("timeout",), "must be a number of at most a day")
        return seconds

    def _tool_lists(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        lists = self.tools or _ToolLists()
        if isinstance(lists, tuple):
            lists = _ToolLists(include=lists)
        include = _once((*lists.include, *self.include_tools))
        return include, _once((*lists.exclude, *self.exclude_tools, *self.disabled_tools))

    def _watched(self) -> tuple[str, ...]:
        """File patterns; `true` means every file of the server's folder."""
        if isinstance(self.watch, tuple):
            return _once(self.watch)
        return ("*",) if self.watch else ()


def _restart(enabled: bool | None) -> RestartPolicy:
    return RestartPolicy(enabled=enabled is not False)


def _once(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


OPTION_KEYS = keys_of(_Options)
"""The keys of an entry that do not depend on its transport."""
_TEXTS = ("type", "transport", "command", "cwd", "package", "tarballPath", "module", "sourcePath", *URL_KEYS)
_TRANSPORT_KEYS: dict[str, FieldKind] = {
    **dict.fromkeys(_TEXTS, kind_of(full_text())),
    "args": kind_of(texts()),
    "env": kind_of(named(checked("text", _is_variable))),
    "headers": kind_of(named_texts()),
}


def parse_entry(name: str, raw: object) -> ServerEntry:
    """The entry called `name`; raises `ConfigError` that names server and key."""
    check_name(name)
    if not isinstance(raw, Mapping):
        raise EntryError(
            f"Server {name!r}: expected an object, not {json_type(raw)}.", hint='Such as {"command": "…"}.'
        )
    try:
        for key, value in raw.items():
            if value is not None and key in _TRANSPORT_KEYS:
                _TRANSPORT_KEYS[key].read(value, (key,))
        # Most entries have no options.
        fields = {} if OPTION_KEYS.isdisjoint(raw) else _Options.read(raw).entry_fields()
    except InvalidValue as error:
        raise EntryError(
            f"Server {name!r}: {error}.", path=error.path, hint=f"Fix the entry of {name!r}."
        ) from None
    return ServerEntry(name=name, type=_type(name, raw), raw=_copied(raw), **fields)


def check_name(name: str) -> None:
    """Refuse a name that cannot be shown or typed."""
    if name and len(name) <= MAX_NAME and name.isprintable() and name == name.strip():
        return
    raise EntryError(
        f"{name[:MAX_NAME]!r} cannot be the name of a server.",
        hint=f"Use 1 to {MAX_NAME} printable characters, without spaces at the ends.",
    )


def _type(name: str, raw: Mapping[str, Any]) -> str:
    stated = raw.get("type") or raw.get("transport")
    address = next((key for key in URL_KEYS if raw.get(key) is not None), None)
    if not stated and address is not None and raw.get("command") is not None:
        raise EntryError(
            f"Server {name!r}: both command and {address} are given, and no type.",
            path=(address,),
            hint='Choose one with "type": "stdio" or "type": "http".',
        )
    found = type_of(raw)
    if found:
        return found
    raise EntryError(
        f"Server {name!r}: no way to reach it is given.",
        hint="Give a command, a url, a package or a module.",
    )


def _copied(value: Any) -> Any:
    """A deep copy of JSON data, several times as fast as `deepcopy`."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    return value
