"""A server that is an executable with a folder of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolcrib.servers.installed import InstalledSpec, find_launch, not_installed
from toolcrib.servers.link import Inbox, Link, LinkContext
from toolcrib.servers.transports import stdio


class Spec(InstalledSpec):
    """The keys of a `custom` entry."""

    sourcePath: str | None = None  # noqa: N815 - the key as other programs write it


def resolve(spec: Spec, context: LinkContext) -> stdio.Spec:
    """The command that starts it: the installed copy, else the entry's own command in its folder."""
    launch = find_launch(spec, context)
    if launch is not None:
        return launch
    if not spec.command:
        raise not_installed(context.server, "The executable")
    return stdio.Spec(command=spec.command, args=spec.args, env=spec.env, cwd=spec.cwd or spec.sourcePath)


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the executable for as long as the block lasts."""
    async with stdio.open(resolve(spec, context), inbox, context) as link:
        yield link
