"""Keeps every tool, native, inline or MCP, under one public name; readers see immutable snapshots. Has the
error messages for an unknown, disabled or changed tool and for one held for review.

Uses no process, socket or disk: sources put their tools in, the history is an argument. Not thread-safe.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Container, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, TypedDict, Unpack

from toolcrib.errors import ConfigError, ServerNotReady, ToolChanged, ToolcribError, UnknownTool, UsageError
from toolcrib.events import Bus
from toolcrib.schema.events import Event, ToolsChanged
from toolcrib.schema.tools import DefinitionHistory, Origin, Tool
from toolcrib.suggestions import did_you_mean
from toolcrib.tools.definitions import (
    Problem,
    ReadDefinition,
    digest,
    estimate_tokens,
    finish,
    portions,
    read_in_steps,
)
from toolcrib.tools.names import (
    BORDER,
    DIGEST_LENGTH,
    MAX_DIGEST_LENGTH,
    PREFIX,
    is_native_name,
    other_spelling,
    public_name,
)
from toolcrib.tools.ports import DefinitionScreen, HistoryStore, PinStore

_MAX_COMPARED = 2000
"""Names that a misspelt one is compared with, at some ten microseconds each."""


@dataclass(frozen=True)
class Snapshot:
    """All tools by public name: native ones first, then by server and name."""

    version: int = 0
    tools: Mapping[str, Tool] = field(default_factory=partial(MappingProxyType, {}))
    by_server: Mapping[str | None, tuple[Tool, ...]] = field(default_factory=partial(MappingProxyType, {}))
    aliases: Mapping[str, str] = field(default_factory=partial(MappingProxyType, {}))
    """Names without prefix, if the prefixed name had to be cut differently."""

    @cached_property
    def enabled(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in self.tools.values() if tool.enabled)

    @cached_property
    def unchecked(self) -> str:
        """Which servers have tools that cannot be found yet, because they are still being checked."""
        sentences = []
        for server, tools in self.by_server.items():
            if checking := sum(tool.checking for tool in tools):
                sentences.append(f"{checking:,} of {len(tools):,} tools of {server} are still being checked.")
        return " ".join(sentences)

    def get(self, name: str) -> Tool | None:
        """The tool of this public name, with or without the `mcp__` prefix, even if disabled."""
        tool = self.tools.get(name)
        if tool is not None:
            return tool
        return self.tools.get(other_spelling(name)) or self.tools.get(self.aliases.get(name, ""))

    def names_of(self, server: str) -> frozenset[str]:
        """The names of a server's tools, both original and public."""
        tools = self.by_server.get(server, ())
        return frozenset(name for tool in tools for name in (tool.name, tool.definition.name))

    def names_beside(self, server: str) -> frozenset[str]:
        """The names of all other servers and their tools, both original and public."""
        others = (tool for tool in self.tools.values() if tool.server != server)
        return frozenset(
            name for tool in others for name in (tool.name, tool.definition.name, tool.server or "") if name
        )

    def find(self, server: str | None, original_name: str) -> Tool | None:
        """The tool with this original name on a server."""
        for tool in self.by_server.get(server, ()):
            if tool.definition.name == original_name:
                return tool
        return None


def explain_unknown(name: str, snapshot: Snapshot, absent: Mapping[str, Collection[str]]) -> ToolcribError:
    """Why a name leads to no callable tool; `absent` has the servers without tools and their last tool
    names."""
    tool = snapshot.get(name)
    if tool is not None and tool.held:
        return explain_held(tool)
    if tool is not None:
        return UnknownTool(f"The tool {tool.name} is disabled.", hint=_how_to_enable(tool))
    server = _absent_owner(name, absent)
    if server is not None:
        return ServerNotReady(
            f"The tool {name} belongs to the server {server}, which has no tools at the moment.",
            hint=f"Check its state with: toolcrib servers; its log with: toolcrib logs {server}",
        )
    shown = name if len(name) <= 200 else f"{name[:200]}…"
    return UnknownTool(f"There is no tool called {shown}.", hint=_nearest(name, snapshot))


def changed_meanwhile(tool: Tool) -> ToolChanged:
    review = f"Review it with: toolcrib trust {tool.server}" if tool.pinned else "Review it."
    return ToolChanged(
        f"The definition of {tool.name} changed while the call waited, so the call was not made.",
        hint=f"{review} Then call it again.",
    )


def explain_held(tool: Tool) -> ToolChanged:
    if tool.checking:
        return ToolChanged(f"The tool {tool.name} is held: {tool.held_reason}.", hint="Try again shortly.")
    reason = tool.held_reason or "its definition changed since it was approved"
    return ToolChanged(
        f"The tool {tool.name} is held for review: {reason}.",
        hint=f"Show and release it with: toolcrib trust {tool.server}",
    )


def _how_to_enable(tool: Tool) -> str:
    if tool.server is None:
        return "Enable it in the settings."
    return f"Change `tools` (include, exclude) in the entry of {tool.server} to enable it."


def _absent_owner(name: str, absent: Mapping[str, Collection[str]]) -> str | None:
    for server, names in absent.items():
        if name in names or other_spelling(name) in names:
            return server
        if not names and name.removeprefix(PREFIX).startswith(server + BORDER):
            return server
    return None


def _nearest(name: str, snapshot: Snapshot) -> str:
    same = [tool.name for tool in snapshot.enabled if tool.definition.name == name]
    if same:
        return f"Did you mean {' or '.join(same[:3])}?"
    if not snapshot.enabled:
        return "No tools are available at the moment; see: toolcrib servers"
    names = [tool.name for tool in snapshot.enabled[:_MAX_COMPARED]]
    return did_you_mean(name.removeprefix(PREFIX)[:100], names, otherwise="See all with: toolcrib tools")


class ListOptions(TypedDict, total=False):
    """How a server's tools are registered."""

    stale: bool
    include: Sequence[str]
    """Globs over original names."""
    exclude: Sequence[str]
    """Globs too; excluded tools are known but disabled."""
    pinned: bool
    """Hold tools that are not as approved."""
    launch: str
    """Identifies what the server runs."""


@dataclass(frozen=True, kw_only=True)
class _Group:
    """The tools of one server."""

    origin: Origin
    tools: dict[str, Tool]
    aliases: dict[str, str] = field(default_factory=dict)


class Registry:
    """All tools; changed by sources, read through `snapshot`."""

    def __init__(
        self,
        bus: Bus[Event] | None = None,
        history: HistoryStore | None = None,
        pins: PinStore | None = None,
        *,
        prefix: str = "",
        screen: DefinitionScreen | None = None,
    ) -> None:
        if prefix not in ("", PREFIX):
            raise UsageError(f"The prefix of tool names must be {PREFIX!r} or empty, not {prefix!r}.")
        self._bus = bus
        self._history = history
        self._pins = pins
        self._prefix = prefix
        self.screen = screen
        """Holds new tools that need a review."""
        self._groups: dict[str | None, _Group] = {}
        self._absent: dict[str, frozenset[str]] = {}
        self._latest: dict[str | None, object] = {}
        """Identifies each server's last change, so that an unfinished one does not undo it."""
        self.snapshot = Snapshot()
        """The current tools; immutable."""

    def apart(self) -> Registry:
        """An empty registry with the same naming, without events and history."""
        return Registry(prefix=self._prefix)

    def resolve(self, name: str) -> Tool:
        """The callable tool of this public name; raises an error that says why there is none."""
        tool = self.snapshot.tools.get(name) or self.snapshot.get(name)
        if tool is not None and tool.enabled:
            return tool
        raise explain_unknown(name, self.snapshot, self._absent)

    def check_unchanged(self, tool: Tool) -> None:
        """Raise an error if the tool is no longer the one that a call was decided on."""
        now = self.resolve(tool.name)
        if _identity(now) != _identity(tool):
            raise changed_meanwhile(tool)

    def check_listed(self, tool: Tool, listed: Any) -> None:
        """The same, after the call had to wait for its server, which lists the tool as `listed`.

        A connection for a single session has its own list, which is not in the registry.
        """
        self.check_unchanged(tool)
        if digest(listed) != tool.hash:
            raise changed_meanwhile(tool)

    def put(
        self,
        server: str | None,
        origin: Origin,
        definitions: Iterable[Any],
        **options: Unpack[ListOptions],
    ) -> list[Problem]:
        """Replace a server's tools; returns the problems of unusable ones."""
        return finish(self.put_in_steps(server, origin, definitions, **options))

    def put_in_steps(
        self,
        server: str | None,
        origin: Origin,
        definitions: Iterable[Any],
        *,
        stale: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        pinned: bool = False,
        launch: str = "",
    ) -> Generator[None, None, list[Problem]]:
        """Like `put`; yields after each portion, and replaces the tools at the end.

        Does not replace them if the server's tools were changed in another way meanwhile.
        """
        self._refuse_other_origin(server, origin)
        latest = self._latest[server] = object()
        read, problems = yield from read_in_steps(definitions)
        group = _Group(origin=origin, tools={})
        # A cached list may be older than the history: it must not look like a change back.
        recalled = self._history.recall(server) if stale and self._history is not None else {}
        for number, portion in enumerate(portions(read)):
            if number:
                yield
            histories = recalled if stale else self._histories(server, portion)
            held = self._held(server, portion, stale) if pinned else {}
            for tool in portion:
                name = self._name(server, tool.definition.name, group.tools)
                if name is None:
                    problems.append(Problem(tool=tool.definition.name, reason="it has no valid public name"))
                    continue
                group.tools[name] = Tool(
                    name=name,
                    server=server,
                    origin=origin,
                    definition=tool.definition,
                    hash=tool.hash,
                    tokens=estimate_tokens(name, tool.definition.description, tool.schema_json),
                    enabled=tool.definition.name not in held
                    and _is_included(tool.definition.name, include, exclude),
                    stale=stale,
                    held=tool.definition.name in held,
                    held_reason=held.get(tool.definition.name, ""),
                    pinned=pinned,
                    launch=launch,
                    history=histories.get(tool.definition.name),
                )
                self._note_alias(server, tool.definition.name, name, group.aliases)
        if self._latest.get(server) is latest:
            self._replace(server, group)
        return problems

    def recheck(
        self, server: str, hashes: Container[str], *, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> None:
        """Enable those of a server's held tools that no longer need to be held."""
        group = self._groups.get(server)
        held = {} if group is None else {n: t for n, t in group.tools.items() if t.held and t.hash in hashes}
        if group is None or not held or self._pins is None:
            return
        stale = any(tool.stale for tool in held.values())
        seen = [(tool.definition, tool.hash) for tool in held.values()]
        reasons = self._pins.held(server, seen, approve_new=not stale, screen=self.screen)
        tools = dict(group.tools)
        for name, tool in held.items():
            own = tool.definition.name
            enabled = own not in reasons and _is_included(own, include, exclude)
            reason = reasons.get(own, "")
            tools[name] = dataclasses.replace(tool, enabled=enabled, held=own in reasons, held_reason=reason)
        self._replace(server, dataclasses.replace(group, tools=tools))

    def withdraw(self, server: str | None) -> None:
        """Remove a server's tools until it puts them again; the server stays known."""
        group = self._groups.get(server)
        if group is not None:
            self._replace(server, _Group(origin=group.origin, tools={}))

    def mark_stale(self, server: str | None) -> None:
        """Keep a server's tools, marked as cached."""
        group = self._groups.get(server)
        if group is None:
            return
        tools = {name: dataclasses.replace(tool, stale=True) for name, tool in group.tools.items()}
        self._replace(server, dataclasses.replace(group, tools=tools))

    def mark_silent(self, server: str | None, silent: bool) -> None:
        """Mark whether a server misses its health checks."""
        group = self._groups.get(server)
        if group is None or all(tool.silent is silent for tool in group.tools.values()):
            return
        tools = {name: dataclasses.replace(tool, silent=silent) for name, tool in group.tools.items()}
        self._replace(server, dataclasses.replace(group, tools=tools))

    def expect(self, server: str) -> None:
        """Announce a server before it has tools, so that calls get a better error."""
        if server not in self._groups:
            self._absent.setdefault(server, frozenset())

    def forget(self, server: str) -> None:
        """Remove a server and its tools."""
        self.withdraw(server)
        self._groups.pop(server, None)
        self._absent.pop(server, None)
        self._latest.pop(server, None)

    def _refuse_other_origin(self, server: str | None, origin: Origin) -> None:
        group = self._groups.get(server)
        if group is not None and group.tools and group.origin != origin:
            raise ConfigError(
                f"The name {server!r} already belongs to {group.origin} tools.",
                hint="Give the server another name.",
            )

    def _histories(
        self, server: str | None, read: Sequence[ReadDefinition]
    ) -> Mapping[str, DefinitionHistory]:
        if self._history is None:
            return {}
        return self._history.observe(server, ((tool.definition, tool.hash) for tool in read))

    def _held(self, server: str | None, read: Sequence[ReadDefinition], stale: bool) -> Mapping[str, str]:
        if self._pins is None or server is None:
            return {}
        seen = ((tool.definition, tool.hash) for tool in read)
        return self._pins.held(server, seen, approve_new=not stale, screen=self.screen)

    def _name(self, server: str | None, tool: str, own: Mapping[str, Tool]) -> str | None:
        if server is None:
            return tool if is_native_name(tool) else None
        for length in range(DIGEST_LENGTH, MAX_DIGEST_LENGTH + 1, 2):
            name = public_name(server, tool, prefix=self._prefix, digest_length=length)
            holder = self.snapshot.tools.get(name)
            if name not in own and (holder is None or holder.server == server):
                return name
        return None

    def _note_alias(self, server: str | None, tool: str, name: str, aliases: dict[str, str]) -> None:
        if not self._prefix or server is None:
            return
        plain = public_name(server, tool)
        if self._prefix + plain != name:
            aliases[plain] = name

    def _replace(self, server: str | None, group: _Group) -> None:
        self._latest.pop(server, None)
        before = self._groups.get(server)
        old = before.tools if before is not None else {}
        self._groups[server] = group
        self._note_absence(server, old, group.tools)
        added = tuple(name for name in group.tools if name not in old)
        removed = tuple(name for name in old if name not in group.tools)
        changed = tuple(
            name
            for name, tool in group.tools.items()
            if name in old and tool is not old[name] and _marks(tool) != _marks(old[name])
        )
        if not (added or removed or changed):
            return
        self.snapshot = self._take_snapshot()
        if self._bus is not None:
            version = self.snapshot.version
            self._bus.publish(ToolsChanged(version, server, added=added, removed=removed, changed=changed))

    def _note_absence(self, server: str | None, old: Mapping[str, Tool], new: Mapping[str, Tool]) -> None:
        if server is None:
            return
        if new:
            self._absent.pop(server, None)
        elif old or server not in self._absent:
            self._absent[server] = frozenset(old)

    def _take_snapshot(self) -> Snapshot:
        tools: dict[str, Tool] = {}
        aliases: dict[str, str] = {}
        by_server: dict[str | None, tuple[Tool, ...]] = {}
        for server in sorted(self._groups, key=lambda server: server or ""):
            group = self._groups[server]
            if not group.tools:
                continue
            tools.update(group.tools)
            aliases.update(group.aliases)
            by_server[server] = tuple(group.tools.values())
        return Snapshot(
            version=self.snapshot.version + 1,
            tools=MappingProxyType(tools),
            by_server=MappingProxyType(by_server),
            aliases=MappingProxyType(aliases),
        )


def _is_included(name: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    if include and not any(fnmatchcase(name, pattern) for pattern in include):
        return False
    return not any(fnmatchcase(name, pattern) for pattern in exclude)


def _marks(tool: Tool) -> tuple[object, ...]:
    marks = (tool.enabled, tool.stale, tool.silent, tool.held_reason, tool.pinned)
    return (tool.hash, tool.origin, tool.launch, *marks)


def _identity(tool: Tool) -> tuple[object, ...]:
    """What a decision about a call depends on."""
    return tool.hash, tool.origin, tool.server, tool.launch
