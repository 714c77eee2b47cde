"""A server from an npm package that was installed before; started by the path the installer noted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel, ConfigDict

from toolcrib.servers.installed import find_launch, not_installed
from toolcrib.servers.link import Inbox, Link, LinkContext
from toolcrib.servers.transports import stdio


class Spec(BaseModel):
    """The keys of an `npm` entry."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    package: str = ""
    tarballPath: str | None = None  # noqa: N815 - the key as other programs write it
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None


def resolve(spec: Spec, context: LinkContext) -> stdio.Spec:
    """The command that starts it."""
    if spec.command:
        return stdio.Spec(command=spec.command, args=spec.args, env=spec.env, cwd=spec.cwd)
    launch = find_launch(context.installs, context.server)
    if launch is None:
        raise not_installed(context.server, f"The npm package {spec.package or spec.tarballPath or '?'}")
    return stdio.Spec(
        command=launch.command, args=launch.args + spec.args, env={**launch.env, **spec.env}, cwd=spec.cwd
    )


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the installed package for as long as the block lasts."""
    async with stdio.open(resolve(spec, context), inbox, context) as link:
        yield link
