"""A call through the gateway enters few functions: each one is a step that a reader has to follow."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
import pytest

import toolcrib
from tests.gateway.speaking import Speaker

SOURCE = str(Path(toolcrib.__file__).parent)
MAX_FUNCTIONS = 80
WARM = 20
BACKGROUND = {("/store/audit.py", "AuditLog._arm"), ("/store/audit.py", "AuditLog._written")}
"""Entered now and then by a timer of the host, whatever is called."""


class Entered:
    """The functions of ours that are entered in a block."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()

    def __enter__(self) -> Entered:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and not code.co_name.endswith("comp>"):
            self.functions.add((code.co_filename.removeprefix(SOURCE), code.co_qualname))


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_warm_call_enters_few_functions(serve: Any, crib: Any, era: str) -> None:
    crib.server("a")
    counts = []
    async with serve() as (host, url), httpx2.AsyncClient() as client:
        await host.ready()
        speaker = Speaker(client, url)
        await speaker.open()
        call = speaker.legacy if era == "legacy" else speaker.modern
        for _ in range(WARM):
            with Entered() as entered:
                answer = await call("tools/call", name="a__echo", arguments={"text": "hello"})
            assert not answer.json()["result"]["isError"]
            counts.append(sorted(entered.functions - BACKGROUND))

    fewest = min(counts, key=len)
    assert len(fewest) <= MAX_FUNCTIONS, "\n".join(f"{file} {name}" for file, name in fewest)
