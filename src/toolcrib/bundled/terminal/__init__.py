"""A terminal for models: commands are checked before they run, and end with all their processes. Has the
server's arguments: sandbox, folders to write to, hidden places, network, environment variables.

In a host it runs in the host's process, behind approvals. As a separate server it refuses only destructive
commands; its client decides what else needs approval.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from toolcrib.bundled.terminal.processes import live_keepers
from toolcrib.bundled.terminal.sandbox import HIDDEN, Sandbox, Scratch
from toolcrib.bundled.terminal.sessions import CommandSessions
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace
from toolcrib.errors import UsageError
from toolcrib.serverkit.readiness import missing_folder
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import ServerArguments
from toolcrib.version import __version__

__all__ = [
    "HIDDEN",
    "USAGE",
    "CommandSessions",
    "Sandbox",
    "Scratch",
    "Workplace",
    "create",
    "live_keepers",
    "serve_in",
]

USAGE = """
usage: python -m toolcrib.bundled.terminal [--sandbox KIND] [--write FOLDER]... [--hide PATH]...
                                           [--no-network] [--unix-sockets] [--env NAME]... [FOLDER]

An MCP server on stdin and stdout that runs shell commands in FOLDER (default: the current folder).

  --sandbox KIND   auto (the default), bubblewrap, landlock or none
  --write FOLDER   may be written to besides FOLDER and caches
  --hide PATH      cannot be read, besides the usual places of keys and passwords
  --no-network     no network for commands
  --unix-sockets   commands may use Unix sockets
  --env NAME       an environment variable that commands may see
"""


def create(arguments: Sequence[str]) -> ToolServer:
    """The server; raises `UsageError` when its folder cannot be used."""
    options = _parse(arguments)
    folder = Path(options.folder).expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"terminal: {str(folder)!r} is not a folder.", hint=USAGE.strip().splitlines()[0])
    sandbox = Sandbox(
        wanted=options.sandbox,
        folders=options.write,
        hidden=(*HIDDEN, *options.hide),
        network=not options.no_network,
        unix_sockets=options.unix_sockets,
    )
    workplace = Workplace(folder=lambda: folder, sandbox=sandbox, variables=options.env)
    server = serve_in(workplace, CommandSessions())
    server.requires(lambda: asyncio.to_thread(missing_folder, [folder]))
    return server


def serve_in(workplace: Workplace, sessions: CommandSessions, *, gated: bool = False) -> ToolServer:
    """A server of the terminal's tools; what is left in the background ends with it."""
    instructions = f"Shell commands. Sandbox: {workplace.sandbox.describe()}."
    server = ToolServer("terminal", __version__, instructions)
    TerminalTools(workplace, sessions, gated=gated).offer(server)
    server.at_close(lambda: _end(sessions, workplace.sandbox.scratch))
    return server


def _end(sessions: CommandSessions, scratch: Scratch) -> None:
    """Let go of all at once: their keepers see that, and end them."""
    sessions.let_go()
    scratch.close()


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = ServerArguments("terminal", USAGE)
    parser.add_argument("folder", nargs="?", default=".")
    parser.add_argument("--sandbox", choices=("auto", "bubblewrap", "landlock", "none"), default="auto")
    parser.add_argument("--write", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--hide", action="append", default=[], metavar="PATH")
    parser.add_argument("--no-network", action="store_true")
    parser.add_argument("--unix-sockets", action="store_true")
    parser.add_argument("--env", action="append", default=[], metavar="NAME")
    return parser.parse_args(arguments)
