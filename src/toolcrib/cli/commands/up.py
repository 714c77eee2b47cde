"""`toolcrib up`: the host in the foreground."""

from __future__ import annotations

from toolcrib.cli.declaring import declare
from toolcrib.cli.surface import Surface


@declare("Host")
def command(surface: Surface) -> int:
    """Run the host here, until Ctrl-C.

    Shows the servers and what to type next. Without a terminal it prints a line for each change; with
    --json, one line once it listens.
    """
    from toolcrib.cli.hosting import run_host

    return run_host(surface)
