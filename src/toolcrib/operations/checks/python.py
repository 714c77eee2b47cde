"""Versions of Toolcrib, Python and the system."""

from __future__ import annotations

import platform
from importlib.util import find_spec

from toolcrib.operations.health import CheckContext, CheckResult, ok
from toolcrib.version import __version__


async def check(context: CheckContext) -> list[CheckResult]:
    loop = "uvloop" if find_spec("uvloop") else "asyncio"
    system = f"{platform.system()} {platform.machine()}"
    return [ok("python", f"Toolcrib {__version__} on Python {platform.python_version()}, {loop}, {system}.")]
