"""Opens and closes a host: first the core, so that servers start early, then the rest."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.clock import Clock, SystemClock
from toolcrib.config.paths import Paths, find_paths
from toolcrib.config.watch import changes
from toolcrib.errors import ConfigError, HostRunning, ToolcribError
from toolcrib.host.core import build_core
from toolcrib.host.folder_watch import keep_fresh
from toolcrib.host.lock import clear_disk_errors, sole_host
from toolcrib.loading import preload
from toolcrib.serverkit.own_places import claimed
from toolcrib.servers.processes.child import raise_limit
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.host.host import Host
    from toolcrib.tools.ports import CallGate

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_host(
    home: Path | str | None = None,
    *,
    exclusive: bool | None = None,
    lazy: bool = False,
    only: Collection[str] | None = None,
    watch: bool = True,
    handlers: Handlers | None = None,
    gate: CallGate | None = None,
    clock: Clock | None = None,
    trust_config: bool = False,
    continue_runs: bool = True,
) -> AsyncIterator[Host]:
    """Open a host on `home` (default: `TOOLCRIB_HOME`, else the platform's folders).

    A running host locks its home. If another host has the lock, `exclusive=True` raises `HostRunning`; by
    default this host runs without the lock, with its own server processes. `lazy` starts a server only when
    one of its tools is called, if its tool list is known. `only` ignores all other servers. `watch` applies
    edits of the config file. `handlers` answer requests of servers, `gate` decides which calls may run.
    `trust_config` trusts every entry of the config file, for programs that write it. `continue_runs` goes on
    with interrupted runs of workflows, if this host has the lock.
    """
    where = find_paths(Path(home) if home else None)
    folder = where.home or where.config_file.parent
    paths = await asyncio.to_thread(where.ensure)
    raise_limit()
    async with AsyncExitStack() as stack:
        stack.enter_context(claimed(paths.own))
        sole = _hold_home(stack, paths, folder, exclusive)
        with clear_disk_errors(folder):
            core = await build_core(
                stack,
                paths,
                lazy=lazy,
                only=only,
                handlers=handlers,
                clock=clock or SystemClock(),
                trust_config=trust_config,
            )
        core.holds_home = sole
        await core.start_first()
        # The rest of the host is imported while the first server starts.
        await preload("toolcrib.host.assembly")
        from toolcrib.host.assembly import assemble

        host = await assemble(stack, core, gate)
        await host.apply(host.config)
        if core.database.shared:
            from toolcrib.host.sharing import following_others

            await stack.enter_async_context(following_others(host))
        if await asyncio.to_thread(_may_offer_workflows, paths.workflows):
            await host.workflows.offer_tools()
        if sole and continue_runs and _may_have_runs(paths, shared=core.database.shared):
            stack.push_async_callback(_cancelled, asyncio.create_task(_continue_runs(host), name="runs"))
        if watch:
            stack.push_async_callback(_cancelled, asyncio.create_task(_follow(host), name="config watch"))
            stack.push_async_callback(_cancelled, asyncio.create_task(keep_fresh(host), name="folder watch"))
        yield host


def _hold_home(stack: AsyncExitStack, paths: Paths, folder: Path, exclusive: bool | None) -> bool:
    """Lock the home while the stack is open: always, never, or if it is free (None); whether it is locked."""
    if exclusive is False:
        return False
    try:
        stack.enter_context(sole_host(paths.lock_file, folder))
    except HostRunning:
        if exclusive:
            raise
        return False
    return True


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


async def _follow(host: Host) -> None:
    """Apply edits of the config file; an invalid one is logged and changes nothing."""
    async for digest in changes(host.paths.config_file, since=host.config.digest):
        if digest == host.config.digest and host.config_error is None:
            continue
        try:
            await host.reload()
        except ConfigError as error:
            logger.warning("config not applied", extra={"reason": error.message})


async def _cancelled(task: asyncio.Task[None]) -> None:
    await cancel_and_wait(task)


async def _shares_runs(host: Host) -> bool:
    """Wait until the shared database has runs; False if nothing is installed here to run them with."""
    from toolcrib.features.workflows.host_engine import EXTRA
    from toolcrib.features.workflows.shared_runs import until_shared_runs
    from toolcrib.serverkit.extras import is_installed

    if not await asyncio.to_thread(is_installed, EXTRA):
        return False
    await until_shared_runs(host.core.database, host.core.clock)
    return True
