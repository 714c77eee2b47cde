"""The running host on a terminal: a live table of the servers, and what to type next.

The terminal is left as it was found, however the host ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from toolcrib import __version__
from toolcrib.cli.colours import of_state
from toolcrib.cli.commands.servers import reason
from toolcrib.cli.output import mute
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.shutdown import Ending
from toolcrib.control.shapes import server_json
from toolcrib.host import Host
from toolcrib.schema.events import ConfigChanged, Event
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.web.serving import Served

TICK = 1.0
"""Seconds after which the table is drawn anew although nothing happened: it counts down to retries."""
PAUSE = 0.1
"""Seconds between two drawings at least: fifty servers that start at once are not fifty drawings."""
AROUND = 11
"""Lines besides the rows of the table."""
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
"""Columns of a cell; what is longer ends in an ellipsis."""


@asynccontextmanager
async def live_view(served: Served, ending: Ending) -> AsyncIterator[None]:
    """The table for as long as the block runs."""
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
        # A terminal that has gone ends the drawing, not the host.
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
        """Draw whenever something happened, and once a second."""
        with self._host.events.subscribe() as news:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        self._hear(await news.next())
                while news.unheard:  # all at once: one for each drawing, a busy host would be seen too late
                    self._hear(await news.next())
                live.update(self.draw(), refresh=True)
                await asyncio.sleep(PAUSE)

    def _hear(self, event: Event) -> None:
        if isinstance(event, ConfigChanged):
            self._config_error = event.error

    def draw(self, *, ending: bool = False) -> Group:
        """All there is to see."""
        home = self._host.paths.home or self._host.paths.config_file.parent
        title = Text.assemble(
            ("Toolcrib ", "bold"), f"{__version__} · process {os.getpid()} · {one_line(str(home))}"
        )
        # Whole, even on a narrow terminal: it is to be copied.
        page = Text.assemble("The page: ", (self._page, "underline"), overflow="fold")
        parts: list[RenderableType] = [title, page, *self._banners(), self._table()]
        if ending:
            return Group(*parts, Text("Ending the servers; once more to hurry.", style="yellow"))
        return Group(*parts, *self._advice())

    def _banners(self) -> list[Text]:
        banners = []
        if self._config_error:
            banners.append(Text(f"Config not applied: {one_line(self._config_error)}", style="red"))
        if not self._host.config.settings.global_enabled:
            banners.append(Text("Everything is switched off. Back on with: toolcrib on", style="yellow"))
        return banners

    def _table(self) -> Table:
        statuses = self._host.servers.statuses()
        shown = _most_urgent(statuses, max(3, self._console.size.height - AROUND))
        rows = [_row(status) for status in shown]
        if len(shown) < len(statuses):
            rows.append([Text(f"… and {len(statuses) - len(shown)} more", style="bright_black")])
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), expand=True)
        for column, header in enumerate(_HEADERS):
            # Their own width, whatever the reasons are: those alone give way on a narrow terminal.
            longest = max([len(header), *(row[column].cell_len for row in rows if column < len(row))])
            width = min(longest, WIDEST)
            table.add_column(header, no_wrap=True, width=width, justify=_JUSTIFY.get(header, "left"))
        table.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
        for row in rows:
            table.add_row(*row)
        return table

    def _advice(self) -> list[Text]:
        program = _program()
        return [
            Text(""),
            Text("In another terminal:", style="bold"),
            Text(f"  {program} tools"),
            Text(f"  {program} call demo__add a=1 b=2"),
            Text(f"  {program} add NAME -- COMMAND"),
            Text("Ctrl-C ends the host.", style="bright_black"),
        ]


def _most_urgent(statuses: list[ServerStatus], room: int) -> list[ServerStatus]:
    """As many as there is room for, those in trouble before the others, in the order of the file."""
    if len(statuses) <= room:
        return statuses
    ranked = sorted(statuses, key=lambda status: status.state not in _URGENT)
    chosen = {status.name for status in ranked[: room - 1]}
    return [status for status in statuses if status.name in chosen]


def _row(status: ServerStatus) -> list[Text]:
    colour = of_state(status.state)
    return [
        Text(one_line(status.name)),
        Text(status.state.value, style=_COLOURS.get(colour, colour)),
        Text(str(status.tools) if status.tools else "-"),
        Text(one_line(status.era or "-")),
        Text(str(status.pid or "-")),
        Text(one_line(reason(server_json(status)))),
    ]


def _program() -> str:
    """How this program is called from here."""
    called = Path(sys.argv[0])
    if called.name != "toolcrib" or shutil.which("toolcrib") == str(called.absolute()):
        return "toolcrib"
    with contextlib.suppress(ValueError):
        return str(called.absolute().relative_to(Path.cwd()))
    return str(called)
