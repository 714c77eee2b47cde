"""What workflows do when a host opens: offer those that are tools, and go on with interrupted runs.

Nothing else of workflows is imported unless there is something to do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.config.paths import Paths
from toolcrib.errors import ToolcribError
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.host import Host

logger = logging.getLogger(__name__)


@asynccontextmanager
async def opened(host: Host) -> AsyncIterator[None]:
    """Offer workflows as tools, and continue runs while the block runs."""
    if await asyncio.to_thread(_may_offer_workflows, host.paths.workflows):
        await host.workflows.offer_tools()
    if not host.continues_work or not _may_have_runs(host.paths, shared=host.core.database.shared):
        yield
        return
    task = asyncio.create_task(_continue_runs(host), name="runs")
    try:
        yield
    finally:
        await cancel_and_wait(task)


def _may_offer_workflows(folder: Path) -> bool:
    """Whether a workflow may be marked as a tool; nothing is loaded to read it exactly."""
    return any(b'"tool"' in path.read_bytes() for path in folder.glob("*.json") if path.is_file())


def _may_have_runs(paths: Paths, *, shared: bool) -> bool:
    """Whether workflows ran here before, or may run elsewhere; costs one look at the disk."""
    return shared or (paths.runs / "runs.sqlite").exists()


async def _continue_runs(host: Host) -> None:
    """Go on with the runs of workflows that were interrupted, here or in others that share the database."""
    if host.core.database.shared and not await _shares_runs(host):
        return
    try:
        await host.workflows.runs.open()
    except ToolcribError as error:
        logger.warning(
            "workflows cannot run", extra={"reason": error.message, "hint": error.hint}, exc_info=False
        )


async def _shares_runs(host: Host) -> bool:
    """Wait until the shared database has runs; False if nothing is installed here to run them with."""
    from toolcrib.features.workflows.host_engine import EXTRA
    from toolcrib.features.workflows.shared_runs import until_shared_runs
    from toolcrib.serverkit.extras import is_installed

    if not await asyncio.to_thread(is_installed, EXTRA):
        return False
    await until_shared_runs(host.core.database, host.core.clock)
    return True
