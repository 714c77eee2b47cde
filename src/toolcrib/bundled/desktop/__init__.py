"""The desktop for models: windows, elements, screenshots, input and the clipboard. Has the server's arguments
(`--headless`, `--profile`, `--stop-key`, `--allow-scripts`) and its instructions for models.

Elements are found by accessibility first, so that most actions need no coordinates. `backends` has one
module for each kind of desktop, `operations` the table from which tools and gRPC methods are made.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from toolcrib.bundled.desktop.backend import SetupProblem
from toolcrib.bundled.desktop.consent.control import Control
from toolcrib.bundled.desktop.consent.stop import DEFAULT_STOP_KEY
from toolcrib.bundled.desktop.headless import HOME, parse_size
from toolcrib.bundled.desktop.scripts import scripts_folder
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import PROFILES, offer_profile
from toolcrib.config.paths import find_paths
from toolcrib.errors import UsageError
from toolcrib.serverkit.readiness import Lack
from toolcrib.serverkit.server import ToolServer
from toolcrib.version import __version__

USAGE = """
usage: python -m toolcrib.bundled.desktop [--headless WIDTHxHEIGHT] [--profile NAME] [--stop-key KEYS]
                                          [--allow-scripts [FOLDER]]

An MCP server on stdin and stdout that finds, shows and controls windows and their elements.

  --headless WIDTHxHEIGHT   use a display of its own (Xvfb) instead of the user's
  --profile NAME            which tools to offer: small (the default), workflow or full
  --allow-scripts [FOLDER]  let the profile full run scripts, in FOLDER (default: the current folder)
  --stop-key KEYS           stops all input on your display; ctrl+alt+escape by default, "" for none
"""

INSTRUCTIONS = (
    "Controls a desktop. Find elements by role and text with find_elements and act on them by their id; "
    "use screenshots for what accessibility does not show. Coordinates always name their space."
)
OWN_HOME = (
    " Programs on this display have a home folder of their own, which open_application names: files saved in "
    "it are kept. For a file elsewhere, give its full path."
)


def create(arguments: Sequence[str], home: Path | None = None) -> ToolServer:
    """The server; nothing is started or connected before the first call."""
    options = _parse(arguments)
    size = parse_size(options.headless) if options.headless else None
    server = ToolServer("desktop", __version__, INSTRUCTIONS + (OWN_HOME if size else ""))
    scripts = scripts_folder(options.allow_scripts)
    session = DesktopSession(SessionSettings(headless=size, home=home, scripts=scripts))
    server.at_close(session.close)
    offer_profile(server, session, options.profile)
    Control(session, server.name, options.stop_key).govern(server)

    async def find_lack() -> Lack | None:
        from toolcrib.bundled.desktop.diagnosis import find_missing

        if session.opened is not None:
            return None
        missing = await find_missing(size)
        return Lack("display", missing[0].message, missing[0].hint) if missing else None

    server.requires(find_lack)
    return server


async def diagnose(arguments: Sequence[str]) -> list[SetupProblem]:
    """What this machine lacks for a server with these arguments; starts nothing."""
    from toolcrib.bundled.desktop.diagnosis import find_problems

    options = _parse(arguments)
    return await find_problems(parse_size(options.headless) if options.headless else None)


def kept_folders(arguments: Sequence[str], home: Path | None) -> list[Path]:
    """What stays on the disk when a server with these arguments is removed."""
    folders = sorted(find_paths(home).desktop.glob(f"{HOME}*"))
    return [folder for folder in folders if any(folder.iterdir())] if _parse(arguments).headless else []


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"desktop: {message}.", hint=USAGE.strip().splitlines()[0])


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--headless", metavar="WIDTHxHEIGHT")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="small")
    parser.add_argument("--allow-scripts", metavar="FOLDER", nargs="?", const=".")
    parser.add_argument("--stop-key", metavar="KEYS", default=DEFAULT_STOP_KEY)
    return parser.parse_args(list(arguments))
