"""The table of a running host, drawn without a terminal."""

from __future__ import annotations

import asyncio
from io import StringIO

from rich.console import Console
from rich.live import Live

from tests.conftest import Crib
from toolcrib.cli.live_view import _View
from toolcrib.schema.events import ConfigChanged, ServerRemoved

DEADLINE = 60.0


async def test_a_bad_edit_is_shown_though_much_else_happened_before_it(crib: Crib) -> None:
    console = Console(file=StringIO(), width=100)
    async with crib.open(watch=False) as host:
        view = _View(host, console, "http://127.0.0.1:4180")
        following = asyncio.create_task(view.follow(Live(console=console, auto_refresh=False)))
        await asyncio.sleep(0)
        for number in range(900):  # at ten drawings a second, more than a minute's worth
            host.events.publish(ServerRemoved(f"server-{number}"))
        host.events.publish(ConfigChanged(error="line 1: oops"))
        async with asyncio.timeout(DEADLINE):
            while view._config_error is None:  # noqa: ASYNC110 - a drawing tells nobody
                await asyncio.sleep(0.01)
        following.cancel()
        await asyncio.wait([following])

    assert view._config_error == "line 1: oops"
