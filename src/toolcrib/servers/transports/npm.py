"""A server from an installed npm package: keys of its entry and start command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from toolcrib.config.sections import text
from toolcrib.servers.installed import InstalledSpec, find_launch, not_installed
from toolcrib.servers.transport import Inbox, Link, LinkContext, Traits
from toolcrib.servers.transports import stdio

TRAITS = Traits(spawns=True, installable=True, exportable=True, first_word="package", index="npm")


@dataclass(frozen=True, kw_only=True)
class NpmSpec(InstalledSpec):
    """The keys of an `npm` entry."""

    package: str = text("")
    tarball_path: str = text("")


Spec = NpmSpec


def start(spec: NpmSpec, installed: stdio.StdioSpec | None) -> stdio.StdioSpec | None:
    """The start command: the entry's own, else the installed one."""
    if spec.command:
        return stdio.StdioSpec(command=spec.command, args=spec.args, env=spec.env, cwd=spec.cwd)
    return installed


def resolve(spec: NpmSpec, context: LinkContext) -> stdio.StdioSpec:
    """The start command; raises `ConfigError` if nothing is installed."""
    launch = start(spec, None if spec.command else find_launch(spec, context))
    if launch is None:
        raise not_installed(context.server, f"The npm package {spec.package or spec.tarball_path or '?'}")
    return launch


@asynccontextmanager
async def open(spec: NpmSpec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the installed package while the block runs."""
    async with stdio.open(resolve(spec, context), inbox, context) as link:
        yield link
