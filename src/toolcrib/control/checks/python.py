"""The Python that runs us."""

from __future__ import annotations

import platform
from importlib.util import find_spec

from toolcrib import __version__
from toolcrib.control.findings import Finding, Place, well


async def check(place: Place) -> list[Finding]:
    """Its version, and which event loop there is."""
    loop = "uvloop" if find_spec("uvloop") else "asyncio"
    system = f"{platform.system()} {platform.machine()}"
    return [
        well("python", f"Toolcrib {__version__} on Python {platform.python_version()}, {loop}, {system}.")
    ]
