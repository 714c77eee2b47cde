"""The terminal and the project tools of a host, which work in the folder of their caller: when they are
offered, and the time limit of their calls.

They are loaded like any bundled server, and have no process of their own. They are only registered on
request, so that a terminal is never offered by accident.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib import plugins
from toolcrib.config.settings import TerminalSettings
from toolcrib.errors import ConfigError, UsageError
from toolcrib.lazy import Lazy
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
"""Seconds per call; the tools have lower limits of their own, with better messages."""


class WorkspaceTools:
    """Created by the host; `open` registers the tools."""

    def __init__(
        self,
        settings: TerminalSettings,
        project_of: Callable[[str | None], str],
        hidden: Sequence[Path] = (),
    ) -> None:
        self._hidden = tuple(str(path) for path in hidden)
        self._project_of = project_of
        self._open = False
        self._lazy = Lazy(self._make)
        self.adopt(settings)

    def adopt(self, settings: TerminalSettings) -> None:
        """Apply new settings; running commands keep the old ones."""
        self._settings = settings
        self._default = Path(settings.folder).expanduser() if settings.folder else None
        made = self._lazy.opened
        if made is not None:
            made.workplace.sandbox = self._sandbox(made.bundled, made.workplace.sandbox.scratch)
            made.workplace.variables = tuple(settings.variables)

    def folder(self) -> Path:
        """The caller's folder: its session's project, that of the settings, or the current folder."""
        project = self._project_of(caller_context.session.get())
        return Path(project) if project else self._default or Path.cwd()

    def open(self, registry: Registry, native: NativeTools, inline: InlineTools) -> None:
        """Register the tools, once; names that are already taken are left alone."""
        if self._open:
            return
        self._open = True
        made = self._lazy.value
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
        """Whether a tool is one of these, and not another of the same name."""
        made = self._lazy.opened
        if tool.origin == "mcp" or made is None:
            return False
        known = made.shown.snapshot.tools.get(tool.name)
        return known is not None and known.hash == tool.hash and known.origin == tool.origin

    def holds(self) -> str:
        """A short description of the sandbox of commands."""
        made = self._lazy.opened
        if made is None:
            return ""
        sandbox = made.workplace.sandbox
        if sandbox.kind == "none":
            return "no sandbox"
        return f"sandbox {sandbox.kind}, network {'on' if sandbox.network else 'off'}"

    @property
    def keepers(self) -> frozenset[int]:
        """The processes above the commands that run now."""
        made = self._lazy.opened
        return frozenset(made.bundled.live_keepers) if made is not None else frozenset()

    def find(self, name: str) -> Tool | None:
        """The tool with this public name, whether it is registered or not."""
        return self._lazy.value.shown.snapshot.tools.get(name)

    async def stop(self, session: str | None) -> None:
        """End the background commands of a session."""
        if self._lazy.opened is not None:
            await self._lazy.opened.sessions.end_owner(session)

    async def close(self) -> None:
        """End all commands."""
        made = self._lazy.opened
        if made is not None:
            await made.sessions.end_all()
            made.terminal.close()
            made.project.close()

    def _make(self) -> _Made:
        bundled: Any = plugins.find(BUNDLED, SERVER)
        sessions = bundled.CommandSessions()
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
    """The tools as offered, for comparison."""
    workplace: Any
    bundled: Any
