"""Shows the running host on a terminal: a live table of its servers (columns, widths, which come first if
there is no room), and the next commands to try.

The terminal is restored however the host ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from toolcrib.cli.commands.servers import reason
from toolcrib.cli.commands.status import program_name
from toolcrib.cli.foreground import Ending
from toolcrib.cli.output import state_colour
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.streams import mute
from toolcrib.host import Host
from toolcrib.operations.results.servers import server_shown
from toolcrib.schema.events import ConfigChanged, Event
from toolcrib.schema.json_values import to_json
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.version import __version__
from toolcrib.web.serving import Served

TICK = 1.0
"""Seconds between redraws without an event: the table counts down to retries."""
PAUSE = 0.1
"""Minimum seconds between redraws: fifty servers that start at once do not cause fifty redraws."""
AROUND = 11
"""Lines that are not rows of the table."""
_URGENT = (
    ServerState.FAILED,
    ServerState.NEEDS_AUTH,
    ServerState.NEEDS_CONFIG,
    ServerState.NEEDS_TRUST,
    ServerState.BACKOFF,
)
_COLOURS = {"dim": "bright_black"}
_HEADERS = ("NAME", "STATE", "TOOLS", "PROTOCOL", "PID")
_JUSTIFY: dict[str, JustifyMethod] = {"TOOLS": "right", "PID": "right"}
WIDEST = 30
"""Characters of a cell; longer texts end in an ellipsis."""


@asynccontextmanager
async def live_view(served: Served, ending: Ending) -> AsyncIterator[None]:
    """Show the table while the block runs."""
    console = Console(file=sys.stdout, highlight=False)
    view = _View(served.host, console, served.sign_in_address())
    live = Live(
        view.draw(), console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    )

    def restore() -> None:
        console.show_cursor(True)

    ending.restore = restore
    live.start(refresh=True)
    painter = asyncio.create_task(view.follow(live), name="live view")
    try:
        yield
    finally:
        painter.cancel()
        # A closed terminal ends the drawing, not the host.
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await painter
        try:
            live.update(view.draw(ending=True), refresh=True)
            live.stop()
        except OSError:
            mute()


class _View:
    def __init__(self, host: Host, console: Console, page: str) -> None:
        self._host = host
        self._console = console
        self._page = page
        self._config_error: str | None = None

    async def follow(self, live: Live) -> None:
        """Redraw after events, and once a second."""
        with self._host.events.subscribe() as events:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        self._handle(await events.next())
                # All at once: with one event per redraw, the table of a busy host would lag.
                while events.unheard:
                    self._handle(await events.next())
                live.update(self.draw(), refresh=True)
                await asyncio.sleep(PAUSE)

    def _handle(self, event: Event) -> None:
        if isinstance(event, ConfigChanged):
            self._config_error = event.error

    def draw(self, *, ending: bool = False) -> Group:
        home = self._host.paths.home or self._host.paths.config_file.parent
        title = Text.assemble(
            ("Toolcrib ", "bold"), f"{__version__} · process {os.getpid()} · {one_line(str(home))}"
        )
        # Not cut on a narrow terminal: it has to be copied.
        page = Text.assemble("Web page: ", (self._page, "underline"), overflow="fold")
        parts: list[RenderableType] = [title, page, *self._banners(), self._table()]
        if ending:
            return Group(
                *parts, Text("Stopping the servers; press Ctrl-C again to kill them.", style="yellow")
            )
        return Group(*parts, *self._advice())

    def _banners(self) -> list[Text]:
        banners = []
        if self._config_error:
            banners.append(Text(f"Config not applied: {one_line(self._config_error)}", style="red"))
        if not self._host.config.settings.global_enabled:
            banners.append(Text("Everything is switched off. To turn it on: toolcrib on", style="yellow"))
        return banners

    def _table(self) -> Table:
        statuses = self._host.servers.statuses()
        shown = _most_urgent(statuses, max(3, self._console.size.height - AROUND))
        rows = [_row(status, self._host) for status in shown]
        if len(shown) < len(statuses):
            rows.append([Text(f"… and {len(statuses) - len(shown)} more", style="bright_black")])
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), expand=True)
        for column, header in enumerate(_HEADERS):
            # Only the reasons are cut on a narrow terminal.
            longest = max([len(header), *(row[column].cell_len for row in rows if column < len(row))])
            width = min(longest, WIDEST)
            table.add_column(header, no_wrap=True, width=width, justify=_JUSTIFY.get(header, "left"))
        table.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
        for row in rows:
            table.add_row(*row)
        return table

    def _advice(self) -> list[Text]:
        program = program_name()
        return [
            Text(""),
            Text("In another terminal:", style="bold"),
            Text(f"  {program} tools"),
            Text(f"  {program} call demo__add a=1 b=2"),
            Text(f"  {program} add NAME -- COMMAND"),
            Text("Ctrl-C stops the host.", style="bright_black"),
        ]


def _most_urgent(statuses: list[ServerStatus], room: int) -> list[ServerStatus]:
    """As many as fit, those with problems first, in the order of the file."""
    if len(statuses) <= room:
        return statuses
    ranked = sorted(statuses, key=lambda status: status.state not in _URGENT)
    chosen = {status.name for status in ranked[: room - 1]}
    return [status for status in statuses if status.name in chosen]


def _row(status: ServerStatus, host: Host) -> list[Text]:
    colour = state_colour(status.state)
    return [
        Text(one_line(status.name)),
        Text(status.state.value, style=_COLOURS.get(colour, colour)),
        Text(str(status.tools) if status.tools else "-"),
        Text(one_line(status.era or "-")),
        Text(str(status.pid or "-")),
        Text(one_line(reason(to_json(server_shown(status, host))))),
    ]
