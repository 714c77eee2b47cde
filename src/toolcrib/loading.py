"""Loads modules late: the public names of a package on first use, slow modules in a thread.

Every `import toolcrib` loads this, so it imports next to nothing itself.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

SWITCH_INTERVAL = 0.0005
"""Seconds after which a loading thread yields to the event loop: a tenth of Python's default, because a
server needs several turns of the loop to start."""
_earlier_intervals: list[float] = []
"""The interval before each load that is in progress."""


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `modules` gives the submodule of each public name."""

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return find


async def preload(*modules: str) -> None:
    """Import modules in a thread, so that the event loop continues; the import statement is then fast."""
    missing = [module for module in modules if module not in sys.modules]
    if not missing:
        return
    import asyncio

    _earlier_intervals.append(_earlier_intervals[0] if _earlier_intervals else sys.getswitchinterval())
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        await asyncio.to_thread(lambda: [import_module(module) for module in missing])
    finally:
        earlier = _earlier_intervals.pop()
        if not _earlier_intervals:
            sys.setswitchinterval(earlier)
