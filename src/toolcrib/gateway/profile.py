"""A named view of the crib: which tools a client sees, and how many of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from toolcrib.config.settings import Settings
from toolcrib.gateway.search_definitions import DEFAULT_LIMIT
from toolcrib.schema.tools import Tool


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a client of this profile may see and call. The empty one shows everything."""

    name: str = ""
    servers: tuple[str, ...] = ()
    """Names of servers; empty for all. Native tools belong to the server ``."""
    tools: tuple[str, ...] = ()
    """Glob patterns of public tool names; empty for all."""
    read_only: bool = False
    """Only tools that declare to change nothing."""
    search: bool = False
    """Show three tools to search with instead of all of them."""
    k: int = DEFAULT_LIMIT
    """How many tools a search returns unless it says otherwise."""
    always_on: tuple[str, ...] = ()
    """Glob patterns of public tool names that are listed beside those to search with."""
    plain_names: bool = False
    """Tools and prompts keep their servers' own names where these are clear."""

    def shows(self, tool: Tool) -> bool:
        """True when a client of this profile may see the tool."""
        if not tool.enabled:
            return False
        if self.servers and (tool.server or "") not in self.servers:
            return False
        if self.read_only and not tool.definition.read_only:
            return False
        return not self.tools or any(fnmatchcase(tool.name, pattern) for pattern in self.tools)

    def shows_server(self, server: str) -> bool:
        """True when a client of this profile may see what a server offers besides tools."""
        return not self.servers or server in self.servers

    def view(self, tools: Iterable[Tool]) -> list[Tool]:
        """The tools of a snapshot that the profile shows, in their order."""
        return [tool for tool in tools if self.shows(tool)]


def read_profile(settings: Settings, name: str = "") -> Profile:
    """The profile of this name, or that of the view without a name; raises `KeyError`."""
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
