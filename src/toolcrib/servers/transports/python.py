"""A server that is a Python module: the installed one, else the module as this interpreter finds it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel, ConfigDict, Field

from toolcrib.servers.installed import find_launch
from toolcrib.servers.link import Inbox, Link, LinkContext
from toolcrib.servers.transports import stdio


class Spec(BaseModel):
    """The keys of a `python` entry."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    module: str = Field(min_length=1)
    command: str | None = None
    """Another interpreter than our own."""
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
    interpreter = spec.command or sys.executable
    return stdio.Spec(command=interpreter, args=("-m", spec.module, *spec.args), env=spec.env, cwd=spec.cwd)


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the module for as long as the block lasts."""
    async with stdio.open(resolve(spec, context), inbox, context) as link:
        yield link
