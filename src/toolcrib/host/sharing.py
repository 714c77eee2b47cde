"""What hosts on one database share: applies the decisions of other hosts, and changes profiles for all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from toolcrib.config.settings_file import EditableDocument
from toolcrib.errors import NotFound
from toolcrib.store.shared_profiles import ProfileRows, read_profiles
from toolcrib.tasks import in_background

if TYPE_CHECKING:
    from toolcrib.host.host import Host


@asynccontextmanager
async def following_others(host: Host) -> AsyncIterator[None]:
    """Apply what other hosts decide while the block runs."""
    from toolcrib.store.postgres.watch import ChangeWatch

    subjects = {
        "rules": host.approvals.rules.refresh,
        "questions": lambda: _look_again(host),
        "pins": lambda: _refresh_pins(host),
        "trust": lambda: _refresh_trust(host),
        "pages": host.pages.refresh,
        "profiles": lambda: refresh_profiles(host),
    }
    watch = ChangeWatch(host.core.database_url, subjects)
    async with in_background(watch.run(), "changes of other hosts"):
        yield


async def change_profiles(host: Host, change: Callable[[EditableDocument], None]) -> None:
    """Change profiles where they are: in the shared database, else in the config file."""
    core = host.core
    if not core.database.shared:
        await asyncio.to_thread(change, core.config_store)
        await host.reload()
        return
    try:
        await core.database.run(
            lambda connection: change(ProfileRows(connection, core.clock, core.database.decisions))
        )
    except NotFound:
        # A profile that only this host's config file has.
        await asyncio.to_thread(change, core.config_store)
    core.profiles = await core.database.run(partial(read_profiles, core.database.decisions))
    await host.reload()


async def refresh_profiles(host: Host) -> None:
    database = host.core.database
    profiles = await database.run(partial(read_profiles, database.decisions))
    if profiles != host.core.profiles:
        host.core.profiles = profiles
        await host.reload()


async def _look_again(host: Host) -> None:
    host.approvals.questions.look_again()


async def _refresh_pins(host: Host) -> None:
    for server in await host.core.pins.refresh():
        host.core.server_events.list_again(server)


async def _refresh_trust(host: Host) -> None:
    if await host.core.trust.refresh():
        await host.apply(host.config)
