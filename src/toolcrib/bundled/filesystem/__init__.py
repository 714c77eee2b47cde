"""Files and folders for models, confined to given folders. Has the server's arguments (allowed folders,
`--allow-protected`, `--protect`) and their errors.

`toolcrib.serverkit.confined` confines the paths; `tools` has the tools.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence

from toolcrib.bundled.filesystem.tools import FileTools
from toolcrib.errors import UsageError
from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import ServerArguments
from toolcrib.version import __version__

USAGE = """
usage: python -m toolcrib.bundled.filesystem [--allow-protected] [--protect FOLDER]... FOLDER...

An MCP server on stdin and stdout that lists, reads, writes, moves and renames files inside the given folders
and nowhere else. Relative paths start at the first folder.

  --allow-protected   also change files that make other programs run things (.bashrc, .git, mcp.json, .env …)
  --protect FOLDER    never change anything in this folder, even where it lies inside an allowed one
"""


def create(arguments: Sequence[str]) -> ToolServer:
    """The server for these folders; raises `UsageError` when there is none, or one that cannot be used."""
    options = _parse(arguments)
    roots = Roots(options.folders, allow_protected=options.allow_protected, protect=options.protect)
    allowed = ", ".join(roots.allowed)
    server = ToolServer(
        "filesystem",
        __version__,
        f"Files inside {allowed}. Relative paths start at {roots.allowed[0]}. Nothing else can be reached.",
    )
    server.at_close(roots.close)
    server.requires(lambda: asyncio.to_thread(roots.missing))
    FileTools(roots).offer(server)
    return server


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = ServerArguments("filesystem", USAGE)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--allow-protected", action="store_true")
    parser.add_argument("--protect", action="append", default=[], metavar="FOLDER")
    options = parser.parse_args(arguments)
    if not options.folders:
        raise UsageError(
            "filesystem needs at least one folder that it may use.", hint=USAGE.strip().splitlines()[0]
        )
    return options
