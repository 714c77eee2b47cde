"""Opens a host and closes it: first what its servers need, so that they start; then the rest."""

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
from toolcrib.errors import ConfigError, HostRunning
from toolcrib.host.core import build_core
from toolcrib.host.folder_watch import keep_fresh
from toolcrib.host.lock import sole_host, told_plainly
from toolcrib.loading import preload
from toolcrib.serverkit.own_places import claimed
from toolcrib.servers.processes.descriptors import raise_limit
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.host.host import Host
    from toolcrib.tools.ports import Gate

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
    gate: Gate | None = None,
    clock: Clock | None = None,
    trust_config: bool = False,
) -> AsyncIterator[Host]:
    """A running host on `home` (default: `TOOLCRIB_HOME`, else the platform's folders).

    A running host holds its home. Beside one, `exclusive=True` raises `HostRunning`; by default this host
    runs without holding the home, with server processes of its own. `lazy` starts a server only when one of
    its tools is called, once its tool list is known. `only` leaves all other servers alone. `watch` follows
    edits of the config file. `handlers` answer what servers ask of us, `gate` decides which calls may run.
    `trust_config` takes the config file at its word, for programs that write it.
    """
    where = find_paths(Path(home) if home else None)
    folder = where.home or where.config_file.parent
    paths = await asyncio.to_thread(where.ensure)
    raise_limit()
    async with AsyncExitStack() as stack:
        stack.enter_context(claimed(paths.own))
        _hold_home(stack, paths, folder, exclusive)
        with told_plainly(folder):
            core = await build_core(
                stack,
                paths,
                lazy=lazy,
                only=only,
                handlers=handlers,
                clock=clock or SystemClock(),
                trust_config=trust_config,
            )
        await core.start_first()
        # The rest of our own program is loaded while the first server loads its own.
        await preload("toolcrib.host.assembly")
        from toolcrib.host.assembly import assemble

        host = await assemble(stack, core, gate)
        await host.apply(host.config)
        if watch:
            stack.push_async_callback(_cancelled, asyncio.create_task(_follow(host), name="config watch"))
            stack.push_async_callback(_cancelled, asyncio.create_task(keep_fresh(host), name="folder watch"))
        yield host


def _hold_home(stack: AsyncExitStack, paths: Paths, folder: Path, exclusive: bool | None) -> None:
    """Hold the home while the stack is open: always, never, or when no other host does (None)."""
    if exclusive is False:
        return
    try:
        stack.enter_context(sole_host(paths.lock_file, folder))
    except HostRunning:
        if exclusive:
            raise


async def _follow(host: Host) -> None:
    """Apply edits of the config file as they happen; a bad one is told and changes nothing."""
    async for digest in changes(host.paths.config_file, since=host.config.digest):
        if digest == host.config.digest and host.config_error is None:
            continue
        try:
            await host.reload()
        except ConfigError as error:
            logger.warning("config not applied", extra={"reason": error.message})


async def _cancelled(task: asyncio.Task[None]) -> None:
    await cancel_and_wait(task)
