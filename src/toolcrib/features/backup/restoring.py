"""Applies a restore beside a running host, which closes and opens again (timeouts), and repeats the
installations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from toolcrib.cli.install_view import end_line, progress_line
from toolcrib.cli.output import note
from toolcrib.errors import ConnectionLost, HostRunning, InstallFailed, ToolcribError
from toolcrib.ipc.client import connected
from toolcrib.operations.client import Client

if TYPE_CHECKING:
    from toolcrib.config.paths import Paths
    from toolcrib.features.backup.install_list import InstallNeed
    from toolcrib.features.backup.manifest import InstallToRepeat
    from toolcrib.features.backup.restore import Restore

CLOSE_SECONDS = 120.0
"""How long a running host may take to close."""
OPEN_SECONDS = 60.0
PAUSE = 0.05


async def apply_restore(paths: Paths, restore: Restore, *, keep_approvals: bool) -> bool:
    """Replace the files; returns whether a running host was closed and opened again."""
    async with connected(paths) as host:
        with restore.locked():
            if host is not None:
                await _close(Client(host))
            seconds = CLOSE_SECONDS if host is not None else 0.0
            await _apply_when_free(restore, seconds, keep_approvals=keep_approvals)
    if host is not None:
        await _opened_again(paths)
    return host is not None


async def _close(client: Client) -> None:
    with suppress(ConnectionLost):  # It may close before its answer arrives.
        await client.host_reopen()


async def _apply_when_free(restore: Restore, seconds: float, *, keep_approvals: bool) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        try:
            await asyncio.to_thread(restore.apply, keep_approvals=keep_approvals)
            return
        except HostRunning:
            if loop.time() >= deadline:
                raise
        await asyncio.sleep(PAUSE)


async def _opened_again(paths: Paths) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + OPEN_SECONDS
    while loop.time() < deadline:
        async with connected(paths) as host:
            if host is not None:
                return
        await asyncio.sleep(PAUSE)
    note("The host has not opened again yet. Check it with: toolcrib doctor")


async def repeat_installs(client: Client, needs: Sequence[InstallNeed]) -> dict[str, str]:
    """Install again what is missing; returns what failed, and why. One failure does not stop the others."""
    failed: dict[str, str] = {}
    for need in needs:
        if need.need != "install":
            continue
        try:
            await _install(client, need.install)
        except ToolcribError as error:
            failed[need.install.name] = f"{error.message} {error.hint}".strip()
        finally:
            end_line()
    return failed


async def _install(client: Client, install: InstallToRepeat) -> None:
    """Install the version of the backup, if all its packages have the same hashes."""
    options = install.options
    planned = await client.install(
        name=install.name,
        allow_scripts=options.allow_scripts,
        allow_build=options.allow_build,
        also=options.also,
        program=options.program,
        python=options.python,
        dry_run=True,
        fetch_runtime=True,
        on_event=progress_line(),
    )
    plan = planned["plan"]
    if (plan["version"], plan["integrity"]) != (install.version, install.integrity):
        raise InstallFailed(
            "Its packages are not the same as in the backup.",
            hint=f"Look at them and install them with: toolcrib install {install.name}",
        )
    await client.install(name=install.name, agreed=plan["digest"], on_event=progress_line())
