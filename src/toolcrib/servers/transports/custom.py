"""A server that is an executable with its own folder: keys of its entry and start command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from toolcrib.config.sections import text
from toolcrib.servers.installed import InstalledSpec, find_launch, not_installed
from toolcrib.servers.transport import Inbox, Link, LinkContext, Traits
from toolcrib.servers.transports import stdio

TRAITS = Traits(spawns=True, installable=True, exportable=True)


@dataclass(frozen=True, kw_only=True)
class CustomSpec(InstalledSpec):
    """The keys of a `custom` entry."""

    source_path: str | None = text(None)


Spec = CustomSpec


def start(spec: CustomSpec, installed: stdio.StdioSpec | None) -> stdio.StdioSpec | None:
    """The start command: the installed copy, else the entry's command in its folder."""
    if installed is not None or not spec.command:
        return installed
    return stdio.StdioSpec(
        command=spec.command, args=spec.args, env=spec.env, cwd=spec.cwd or spec.source_path
    )


def resolve(spec: CustomSpec, context: LinkContext) -> stdio.StdioSpec:
    """The start command; raises `ConfigError` if there is none."""
    launch = start(spec, find_launch(spec, context))
    if launch is None:
        raise not_installed(context.server, "The executable")
    return launch


@asynccontextmanager
async def open(spec: CustomSpec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the executable while the block runs."""
    async with stdio.open(resolve(spec, context), inbox, context) as link:
        yield link
