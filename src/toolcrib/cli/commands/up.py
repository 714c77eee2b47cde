"""`toolcrib up`: the host, the gateway and the page in the foreground."""

from __future__ import annotations

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.surface import Surface


@declare("Host")
@click.option("--port", type=click.IntRange(0, 65535), help="4180 or the next free one; 0 for any.")
@click.option("--no-browser", is_flag=True, help="Leave the browser alone.")
def command(surface: Surface, port: int | None, no_browser: bool) -> int:
    """Run the host and its page here, until Ctrl-C.

    Opens the page in the browser, and shows the servers and what to type next. Without a terminal it prints
    a line for each change; with --json, one line once it listens.
    """
    from toolcrib.cli.host_process import Page, run_host

    return run_host(surface, Page(port=port, browser=not no_browser))
