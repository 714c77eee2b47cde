"""A small MCP server with one set of tools of the catalogue, which answers as it says: `NAME [FILE]`."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.web.screenshots.catalogue import LOGS, SETS, Canned
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.results import Result, failure_result, text_result
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import serve

STEP = 0.02
TIMES = 40
STRIDE = timedelta(seconds=19)


class Answering:
    """One tool of the catalogue as a server offers it."""

    def __init__(self, canned: Canned, changed: Mapping[str, Any]) -> None:
        self._canned = canned
        self.definition = {**canned.definition, **changed}

    async def call(self, arguments: Mapping[str, Any], context: ToolContext | None = None) -> Result:
        """What the catalogue says, after the progress that it says."""
        canned = self._canned
        _log(f"tools/call {canned.name} {json.dumps(dict(arguments))[:80]}")
        if canned.steps and context is not None:
            await self._go_on(context, canned.steps, canned.until)
        if canned.picture:
            return _picture(Path(canned.picture), canned.answer)
        return failure_result(canned.answer) if canned.fails else text_result(canned.answer)

    async def _go_on(self, context: ToolContext, steps: int, until: int) -> None:
        for number in range(1, until + 1):
            context.progress(number, steps, f"{number} of {steps}")
            await asyncio.sleep(STEP)
        if until < steps:  # It is to be seen at work.
            await asyncio.Event().wait()


def _log(text: str) -> None:
    print(f"{datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)


def _picture(file: Path, caption: str) -> Result:
    data = base64.b64encode(file.read_bytes()).decode()
    picture = {"type": "image", "data": data, "mimeType": "image/png"}
    return {"content": [{"type": "text", "text": caption}, picture], "isError": False}


def create(arguments: Sequence[str]) -> ToolServer:
    """The set of this name; a file may say how definitions differ, by the name of the tool."""
    name, *rest = arguments
    changes = json.loads(Path(rest[0]).read_text()) if rest else {}
    server = ToolServer(name, "1.0", "")
    for canned in SETS[name]:
        server.add(Answering(canned, changes.get(canned.name, {})))
    return server


def _remember(name: str) -> None:
    """What it would have written, had it run since the morning."""
    lines = LOGS.get(name, ()) * TIMES
    began = datetime.now() - STRIDE * len(lines)
    for number, text in enumerate(lines):
        print(f"{began + STRIDE * number:%H:%M:%S} {text}", file=sys.stderr, flush=True)


def main() -> None:
    """Serve over stdio."""
    _remember(sys.argv[1])
    _log(f"{sys.argv[1]} is ready, {len(SETS[sys.argv[1]])} tools")
    serve(create, __doc__ or "")


if __name__ == "__main__":
    main()
