"""A large crib: fifty servers, 2,000 tools, a chat of 500 messages and a log of 100,000 lines."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.web.running import Crib
from toolcrib.agent.chat import Entry, Said, Took
from toolcrib.schema.messages import FromModel, FromTools, FromUser, Text, ToolAnswer, ToolUse, Usage
from toolcrib.store.chats import Chats
from toolcrib.store.database import open_database
from toolcrib.testing.clock import TurnedClock

SERVERS = 50
TOOLS = 2000
MESSAGES = 500
LINES = 100_000
WIDE_SERVER = "warehouse"
"""The server with most of the tools and with the long log."""
_MODEL = "demo"
_ANSWER = """Found it. Commit `4e1c9ab` reads the time zone as `+01:00`, but the source writes `+0100`.

| night | rows |
| --- | --- |
| 12 | 2,611 |
| 13 | 0 |

1. The first row raises `ValueError`.
2. The rest is never read.

```python
return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z")
```
"""


def fill(crib: Crib) -> str:
    """Write it all before the host starts; the id of the chat."""
    for number in range(SERVERS - len(crib.document["mcpServers"]) - 1):
        crib.entry(f"shelf-{number:02d}", {"type": "inprocess", "module": "toolcrib.bundled.demo"})
    crib.server(WIDE_SERVER, args=("--tools", str(TOOLS - 2 * SERVERS)))
    crib.write()
    log = crib.home / "logs" / f"{WIDE_SERVER}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    levels = ("info", "info", "info", "warning", "error")
    log.write_text("".join(_line(number, levels[number % 5]) for number in range(LINES)))
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, _write_chat(crib)).result()


def _line(number: int, level: str) -> str:
    return f"2026-11-15T09:{number // 60 % 60:02d}:{number % 60:02d} {level} row {number} was read\n"


async def _write_chat(crib: Crib) -> str:
    file = crib.home / "data" / "toolcrib.db"
    file.parent.mkdir(parents=True, exist_ok=True)
    clock = TurnedClock(datetime.now(UTC) - timedelta(hours=8))
    async with open_database(file) as database:
        chats = Chats(database, clock)
        chat = await chats.create(_MODEL, title="A long talk")
        entries = [entry for number in range(MESSAGES // 2) for entry in _turn(number)]
        for position, entry in enumerate(entries):
            clock.turn(10)
            chats.append(chat.id, position, entry)
        chats.change(replace(chat.info, updated=clock.now(), entries=len(entries)))
        await chats.flush()
        return chat.id


def _turn(number: int) -> list[Entry]:
    use = ToolUse(id=f"c{number}", name="demo__add", arguments={"a": number, "b": 1})
    answer = ToolAnswer(id=use.id, name=use.name, parts=(Text(str(number + 1)),), ms=0.4)
    return [
        Said(FromUser(parts=(Text(f"Question {number}: why did the export fail?"),))),
        Said(FromModel(parts=(Text("I will look."), use))),
        Said(FromTools(answers=(answer,))),
        Said(FromModel(parts=(Text(f"Answer {number}. {_ANSWER}"),))),
        Took(model=_MODEL, ending="answered", rounds=2, usage=Usage(input=900, output=80, requests=2)),
    ]
