"""`toolcrib worker`: run workflows in the foreground, without the page; its options."""

from __future__ import annotations

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.surface import Surface


@declare("Host")
@click.option("--database", metavar="URL", help="A PostgreSQL database that workers share.")
def command(surface: Surface, database: str | None) -> int:
    """Run workflows, until Ctrl-C: queued runs, and those of workers that have stopped.

    Any number of workers may share a database; --json prints one line once it is ready.
    """
    from toolcrib.features.workflows.commands.worker_process import run_worker

    return run_worker(surface, database)
