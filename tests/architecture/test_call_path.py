"""A tool call enters few functions of ours on its way from `host.call` over stdio to its server and back."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import toolcrib

PACKAGE = f"{Path(toolcrib.__file__).parent}/"
MOST_FUNCTIONS = 35


async def functions_of_a_call(host: toolcrib.Host) -> list[str]:
    """The distinct functions of the package that one call enters, in order."""
    entered: dict[str, None] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            entered[f"{code.co_filename.removeprefix(PACKAGE)} {code.co_qualname}"] = None

    sys.setprofile(note)
    try:
        await host.call("demo__add", {"a": 1, "b": 2})
    finally:
        sys.setprofile(None)
    return list(entered)


async def test_a_warm_call_enters_few_functions(crib: Any) -> None:
    crib.entry("demo", {"command": sys.executable, "args": ["-m", "toolcrib.bundled.demo"]})

    async with crib.open() as host:
        await host.ready()
        # Timers and other tasks may run meanwhile: the call with the fewest shows what a call needs.
        counted = [await functions_of_a_call(host) for _ in range(10)]

    fewest = min(counted, key=len)
    assert len(fewest) <= MOST_FUNCTIONS, "\n".join(fewest)
