"""A server that is an executable with a folder of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel, ConfigDict

from toolcrib.servers.installed import find_launch, not_installed
from toolcrib.servers.link import Inbox, Link, LinkContext
from toolcrib.servers.transports import stdio


class Spec(BaseModel):
    """The keys of a `custom` entry."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    command: str | None = None
    sourcePath: str | None = None  # noqa: N815 - the key as other programs write it
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None


def resolve(spec: Spec, context: LinkContext) -> stdio.Spec:
    """The command that starts it."""
    launch = find_launch(context.installs, context.server)
    if launch is not None:
        return stdio.Spec(
            command=launch.command, args=launch.args + spec.args, env={**launch.env, **spec.env}, cwd=spec.cwd
        )
    if not spec.command:
        raise not_installed(context.server, "The executable")
    return stdio.Spec(command=spec.command, args=spec.args, env=spec.env, cwd=spec.cwd or spec.sourcePath)


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the executable for as long as the block lasts."""
    async with stdio.open(resolve(spec, context), inbox, context) as link:
        yield link
