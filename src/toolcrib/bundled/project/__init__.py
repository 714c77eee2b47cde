"""A project's folder for models: its files, a search in them, commands, and snippets of Python. Has the
server's arguments (`--sandbox`, `--no-network`).

In a host these are the native tools, under bare names. Files are confined to the folder; commands and
snippets run in the terminal's sandbox.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from toolcrib.bundled.project.tools import ProjectTools
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.bundled.terminal.workplace import Workplace
from toolcrib.errors import UsageError
from toolcrib.serverkit.readiness import missing_folder
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import ServerArguments
from toolcrib.version import __version__

USAGE = """
usage: python -m toolcrib.bundled.project [--sandbox KIND] [--no-network] [FOLDER]

An MCP server on stdin and stdout that reads, writes and searches the files of FOLDER (default: the current
folder), and runs shell commands and snippets of Python in it.

  --sandbox KIND   auto (the default), bubblewrap, landlock or none
  --no-network     no network for commands and snippets
"""


def create(arguments: Sequence[str]) -> ToolServer:
    """The server; raises `UsageError` when its folder cannot be used."""
    options = _parse(arguments)
    folder = Path(options.folder).expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"project: {str(folder)!r} is not a folder.", hint=USAGE.strip().splitlines()[0])
    sandbox = Sandbox(wanted=options.sandbox, network=not options.no_network)
    server = serve_in(Workplace(folder=lambda: folder, sandbox=sandbox))
    server.at_close(sandbox.scratch.close)
    server.requires(lambda: asyncio.to_thread(missing_folder, [folder]))
    return server


def serve_in(workplace: Workplace) -> ToolServer:
    """A server of the tools for the workplace's folder."""
    server = ToolServer("project", __version__, "Files, commands and snippets of Python in one folder.")
    ProjectTools(workplace).offer(server)
    return server


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = ServerArguments("project", USAGE)
    parser.add_argument("folder", nargs="?", default=".")
    parser.add_argument("--sandbox", choices=("auto", "bubblewrap", "landlock", "none"), default="auto")
    parser.add_argument("--no-network", action="store_true")
    return parser.parse_args(arguments)
