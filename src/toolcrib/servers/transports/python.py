"""A server that is a Python module (the installed one, else one that this interpreter finds): keys of its
entry and start command.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from toolcrib.config.sections import full_text
from toolcrib.servers.installed import InstalledSpec, find_launch
from toolcrib.servers.transport import Inbox, Link, LinkContext, Traits
from toolcrib.servers.transports import stdio

TRAITS = Traits(spawns=True, installable=True, exportable=True, first_word="module", index="pypi")


@dataclass(frozen=True, kw_only=True)
class PythonSpec(InstalledSpec):
    """The keys of a `python` entry; `command` is another interpreter."""

    module: str = full_text()


Spec = PythonSpec


def resolve(spec: PythonSpec, context: LinkContext) -> stdio.StdioSpec:
    return start(spec, find_launch(spec, context))


def start(spec: PythonSpec, installed: stdio.StdioSpec | None) -> stdio.StdioSpec:
    """The start command: the installed module, else the one that the interpreter finds."""
    if installed is not None:
        return installed
    interpreter = spec.command or sys.executable
    return stdio.StdioSpec(
        command=interpreter, args=("-m", spec.module, *spec.args), env=spec.env, cwd=spec.cwd
    )


@asynccontextmanager
async def open(spec: PythonSpec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the module while the block runs."""
    async with stdio.open(resolve(spec, context), inbox, context) as link:
        yield link
