"""Profiles: which tools a client sees (by server, by name, only read-only ones); and which profiles an
address offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from toolcrib.config.settings import ClientApprovals, Settings
from toolcrib.gateway.search_definitions import DEFAULT_LIMIT
from toolcrib.schema.tools import Tool


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The tools that a client may see and call. The empty profile shows everything."""

    name: str = ""
    servers: tuple[str, ...] = ()
    """Names of servers; empty for all. Native tools belong to the server ``."""
    tools: tuple[str, ...] = ()
    """Glob patterns of public tool names; empty for all."""
    read_only: bool = False
    """Only tools that declare themselves read-only."""
    search: bool = False
    """Show three search tools instead of all tools."""
    k: int = DEFAULT_LIMIT
    """Tools that a search returns by default."""
    always_on: tuple[str, ...] = ()
    """Glob patterns of public tool names that are listed besides the search tools."""
    plain_names: bool = False
    """Tools and prompts keep their servers' own names if these are unambiguous."""
    within: Profile | None = None
    """Shows only what this one shows too."""

    def shows(self, tool: Tool) -> bool:
        if not tool.enabled:
            return False
        if self.read_only and not tool.definition.read_only:
            return False
        if (self.servers or self.tools) and not self._names(tool.server or "", tool.name):
            return False
        return self.within is None or self.within.shows(tool)

    @property
    def limits_tools(self) -> bool:
        """True if a server may be shown in part."""
        return bool(self.tools or self.read_only) or (self.within is not None and self.within.limits_tools)

    def may_show_server(self, server: str) -> bool:
        """True if it may show something of a server."""
        shown = not self.servers or server in self.servers
        return shown and (self.within is None or self.within.may_show_server(server))

    def may_show(self, server: str, name: str) -> bool:
        """True if it would show a tool of this public name that is not known yet. A view of read-only tools
        shows none of them before."""
        if self.read_only or not self._names(server, name):
            return False
        return self.within is None or self.within.may_show(server, name)

    def _names(self, server: str, tool: str) -> bool:
        if self.servers and server not in self.servers:
            return False
        return not self.tools or any(fnmatchcase(tool, pattern) for pattern in self.tools)

    def leaves_nothing(self, known: Sequence[Tool]) -> bool:
        """True if it shows none of the known tools because of `within`."""
        if self.within is None or self.view(known):
            return False
        servers, others = self.servers, self.within.servers
        return bool(known) or bool(servers and others and set(servers).isdisjoint(others))

    def view(self, tools: Iterable[Tool]) -> list[Tool]:
        """The tools that the profile shows, in their order."""
        return [tool for tool in tools if self.shows(tool)]


def empty_profile(name: str) -> Profile:
    """Shows nothing."""
    return Profile(name=name, tools=("",))


def read_profile(settings: Settings, name: str = "") -> Profile:
    """The profile of this name, or of the view without a name; raises `KeyError`."""
    retrieval = settings.retrieval
    if not name:
        return Profile(k=retrieval.k, always_on=tuple(retrieval.always_on))
    stated = settings.profiles[name]
    return Profile(
        name=name,
        servers=tuple(stated.servers),
        tools=tuple(stated.tools),
        read_only=stated.read_only,
        search=stated.search,
        plain_names=stated.plain_names,
        k=stated.k or retrieval.k,
        always_on=tuple(retrieval.always_on if stated.always_on is None else stated.always_on),
    )


def approvals_of(settings: Settings, name: str) -> ClientApprovals:
    """How the clients of a view are asked."""
    if not name:
        return settings.gateway.approvals
    known = settings.profiles.get(name)
    return "page" if known is None else known.approvals


@dataclass(frozen=True, kw_only=True)
class OfferedProfile:
    """A profile and the token that its clients need."""

    profile: Profile
    token_hash: str = ""
    """Empty if no token is needed."""


Offer = Callable[[Settings], Mapping[str, OfferedProfile]]
"""The profiles by name, from the current settings; the one without a name shows all tools."""


def offer_all(*, search: bool = False, plain_names: bool = False) -> Offer:
    """All tools, shown in the way asked for, and every profile."""

    def offered(settings: Settings) -> dict[str, OfferedProfile]:
        whole = replace(read_profile(settings), search=search, plain_names=plain_names)
        return {
            "": OfferedProfile(profile=whole, token_hash=settings.gateway.token_hash),
            **{name: _named(settings, name) for name in settings.profiles},
        }

    return offered


def offer_one(asked: Profile) -> Offer:
    """One endpoint alone: the profile of this name, or all tools, and of these only what the given one shows.

    No endpoint while there is no such profile.
    """

    def offered(settings: Settings) -> dict[str, OfferedProfile]:
        if asked.name and asked.name not in settings.profiles:
            return {}
        known = (
            _named(settings, asked.name)
            if asked.name
            else OfferedProfile(profile=read_profile(settings), token_hash=settings.gateway.token_hash)
        )
        return {asked.name: replace(known, profile=_narrowed(known.profile, asked))}

    return offered


def _named(settings: Settings, name: str) -> OfferedProfile:
    return OfferedProfile(profile=read_profile(settings, name), token_hash=settings.profiles[name].token_hash)


def _narrowed(known: Profile, asked: Profile) -> Profile:
    return replace(
        known,
        within=asked,
        search=asked.search or known.search,
        plain_names=asked.plain_names or known.plain_names,
    )
