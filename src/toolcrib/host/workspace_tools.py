"""The terminal and the tools for a project's folder, as a host lends them: for the folder of whoever calls.

They are found as any bundled server is, and have no process of their own. Until they are asked for they are
not among the host's tools, so that nobody lends out a terminal without having said so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from toolcrib import plugins
from toolcrib.config.settings import TerminalSettings
from toolcrib.errors import ConfigError, UsageError
from toolcrib.schema.tools import Tool
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.serverkit.server import ToolServer
from toolcrib.tools.registry import Registry
from toolcrib.tools.sources.inline import InlineServer, InlineTools
from toolcrib.tools.sources.native import NativeTools

logger = logging.getLogger(__name__)

BUNDLED = "toolcrib.bundled"
SERVER = "terminal"
TIMEOUT = 180.0
"""Seconds for one call; the tools themselves have a lower ceiling, and say more about it."""


class WorkspaceTools:
    """Made by the host; `open` puts the tools among the others."""

    def __init__(
        self,
        settings: TerminalSettings,
        project_of: Callable[[str | None], str],
        hidden: Sequence[Path] = (),
    ) -> None:
        self._hidden = tuple(str(path) for path in hidden)
        self._project_of = project_of
        self._open = False
        self.adopt(settings)

    def adopt(self, settings: TerminalSettings) -> None:
        """Take over other settings; commands that are running stay as they were started."""
        self._settings = settings
        self._default = Path(settings.folder).expanduser() if settings.folder else None
        if "_made" in self.__dict__:
            made = self._made
            made.workplace.sandbox = self._sandbox(made.bundled, made.workplace.sandbox.scratch)
            made.workplace.variables = tuple(settings.variables)

    def folder(self) -> Path:
        """Where the caller works: its session's project, that of the settings, or the current folder."""
        project = self._project_of(caller_context.session.get())
        return Path(project) if project else self._default or Path.cwd()

    def open(self, registry: Registry, native: NativeTools, inline: InlineTools) -> None:
        """Offer the tools, once; a name that somebody else has taken stays theirs."""
        if self._open:
            return
        self._open = True
        made = self._made
        try:
            registry.put(SERVER, "inline", [tool.definition for tool in made.terminal.tools.values()])
            server = InlineServer(SERVER, timeout=TIMEOUT)
            for tool in _functions(made.terminal):
                server.add(tool)
            inline.add(server)
        except (ConfigError, UsageError) as error:
            logger.warning("the terminal is not offered", extra={"reason": error.message})
        for tool in _functions(made.project):
            try:
                native.add(tool, timeout=TIMEOUT)
            except UsageError as error:
                logger.warning("a tool is not offered", extra={"tool": tool.name, "reason": error.message})
        registry.put(None, "native", native.tools()[None])

    def owns(self, tool: Tool) -> bool:
        """Whether a tool is one of these, and not somebody else's of the same name."""
        if tool.origin == "mcp" or "_made" not in self.__dict__:
            return False
        known = self._made.shown.snapshot.tools.get(tool.name)
        return known is not None and known.hash == tool.hash and known.origin == tool.origin

    def holds(self) -> str:
        """What holds the commands that run here, in a few words."""
        if "_made" not in self.__dict__:
            return ""
        sandbox = self._made.workplace.sandbox
        if sandbox.kind == "none":
            return "no sandbox"
        return f"sandbox {sandbox.kind}, network {'on' if sandbox.network else 'off'}"

    def is_own_command(self, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
        """Whether a connection between these addresses comes from a command that runs here."""
        keepers = self._made.bundled.live_keepers if "_made" in self.__dict__ else ()
        if not keepers:
            return False
        from toolcrib.servers.processes.loopback import comes_from

        return comes_from(frozenset(keepers), ours, theirs)

    def find(self, name: str) -> Tool | None:
        """One of these tools by its public name, offered or not."""
        return self._made.shown.snapshot.tools.get(name)

    async def stop(self, session: str | None) -> None:
        """End all that a session left in the background."""
        if "_made" in self.__dict__:
            await self._made.sessions.end_owner(session)

    async def close(self) -> None:
        """End everything."""
        if "_made" in self.__dict__:
            await self._made.sessions.end_all()
            self._made.terminal.close()
            self._made.project.close()

    @cached_property
    def _made(self) -> _Made:
        # Not before somebody wants them: most hosts never do.
        bundled: Any = plugins.find(BUNDLED, SERVER)
        sessions = bundled.Sessions()
        workplace = bundled.Workplace(
            folder=self.folder,
            sandbox=self._sandbox(bundled, bundled.Scratch()),
            variables=tuple(self._settings.variables),
        )
        terminal: ToolServer = bundled.serve_in(workplace, sessions, gated=True)
        project: ToolServer = plugins.find(BUNDLED, "project").serve_in(workplace)
        shown = Registry()
        shown.put(SERVER, "inline", [tool.definition for tool in terminal.tools.values()])
        shown.put(None, "native", [tool.definition for tool in project.tools.values()])
        return _Made(terminal, project, sessions, shown, workplace, bundled)

    def _sandbox(self, bundled: Any, scratch: Any) -> Any:
        settings = self._settings
        return bundled.Sandbox(
            wanted=settings.sandbox,
            folders=tuple(settings.folders),
            hidden=(*bundled.HIDDEN, *settings.hidden, *self._hidden),
            network=settings.network,
            unix_sockets=settings.unix_sockets,
            scratch=scratch,
        )


def _functions(server: ToolServer) -> list[FunctionTool]:
    return [tool for tool in server.tools.values() if isinstance(tool, FunctionTool)]


@dataclass(frozen=True)
class _Made:
    terminal: ToolServer
    project: ToolServer
    sessions: Any
    shown: Registry
    """The tools as they are offered, to know them by."""
    workplace: Any
    bundled: Any
