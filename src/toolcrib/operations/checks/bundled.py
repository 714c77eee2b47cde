"""What the servers that came with Toolcrib need from this machine, as far as they can say: missing parts as
errors or warnings, and the timeout of this check."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from toolcrib.config.contents import Config
from toolcrib.errors import ToolcribError
from toolcrib.operations.health import CheckContext, CheckResult, broken, ok, warning

DIAGNOSE = "diagnose"
"""A coroutine function of a bundled module: takes its arguments, returns what is missing."""
TIMEOUT = 10.0


class MissingPart(Protocol):
    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str:
        """What to install or set."""

    @property
    def fatal(self) -> bool:
        """Nothing works without it."""


async def check(context: CheckContext) -> list[CheckResult]:
    """Ask each one that is configured; nothing is started."""
    if context.host is None:
        return []
    config = context.host.config
    found = await asyncio.gather(*(_examine(config, name) for name in sorted(config.bundled)))
    return [finding for findings in found for finding in findings]


async def missing_parts(module: str, args: Sequence[object]) -> Sequence[MissingPart] | None:
    """What this machine lacks for a bundled server with these arguments; None if the server cannot tell."""
    found = await asyncio.to_thread(importlib.import_module, module.partition(":")[0])
    diagnose: Callable[[Sequence[str]], Awaitable[Sequence[MissingPart]]] | None
    diagnose = getattr(found, DIAGNOSE, None)
    return None if diagnose is None else await diagnose([str(word) for word in args])


async def _examine(config: Config, server: str) -> list[CheckResult]:
    raw = config.servers[server].raw
    name = f"needs of {server}"
    try:
        async with asyncio.timeout(TIMEOUT):
            missing = await missing_parts(str(raw["module"]), raw.get("args") or ())
    except TimeoutError:
        return [warning(name, f"It could not be checked within {TIMEOUT:g} s.")]
    except ToolcribError as error:
        return [broken(name, error.message, error.hint)]
    if missing is None:
        return []
    if not missing:
        return [ok(name, "nothing is missing")]
    return [
        (broken if problem.fatal else warning)(name, problem.message, problem.hint) for problem in missing
    ]
