"""`toolcrib up`: run the host, the gateway and the page in the foreground."""

from __future__ import annotations

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.surface import Surface


@declare("Host")
@click.option("--port", type=click.IntRange(0, 65535), help="Default 4180 or the next free port; 0 for any.")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
def command(surface: Surface, port: int | None, no_browser: bool) -> int:
    """Run the host and its web page, until Ctrl-C.

    Opens the page in the browser and shows a live table of the servers. Without a terminal it prints a line
    per change; with --json, one line once it listens.
    """
    from toolcrib.cli.host_process import Page, run_host

    return run_host(surface, Page(port=port, browser=not no_browser))
