"""Calendars on Google and CalDAV servers: events, recurrences, invitations and free time. Has the server's
argument (`--time-zone`).

`tools` has the tools, `caldav` and `google` the providers behind one protocol (`sessions`). `occurrences` and
`rules` compute recurrences, `series` changes them, `quick_add` understands sentences.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from toolcrib.accounts import AccountStore
from toolcrib.accounts.selection import account_required
from toolcrib.bundled.calendar.sessions import CalendarAccounts
from toolcrib.bundled.calendar.tools import CalendarTools
from toolcrib.bundled.calendar.zones import local_zone
from toolcrib.serverkit.descriptions import describe
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import ServerArguments
from toolcrib.version import __version__

USAGE = """
usage: python -m toolcrib.bundled.calendar [--time-zone NAME]

An MCP server on stdin and stdout for the calendars of the accounts that were added with
`toolcrib account add google NAME` or `toolcrib account add caldav NAME`.

  --time-zone NAME   the user's time zone, such as Europe/Berlin; that of this machine by default
"""


def create(arguments: Sequence[str], home: Path | None = None) -> ToolServer:
    """The server for the accounts of a home; raises `UsageError`."""
    options = _parse(arguments)
    if options.time_zone:
        local_zone(options.time_zone)  # an unknown name fails here
    server = ToolServer(
        "calendar",
        __version__,
        "The user's calendars. Times without an offset are in the user's own time zone.",
    )
    store = AccountStore.of_home(home)
    server.requires(account_required(store, "calendar"))
    CalendarTools(CalendarAccounts(store, options.time_zone)).offer(server)
    return describe(server, Path(__file__).with_name("descriptions.toml"))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = ServerArguments("calendar", USAGE)
    parser.add_argument("--time-zone", default="", metavar="NAME")
    return parser.parse_args(arguments)
