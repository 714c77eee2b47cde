"""Two gateways on one PostgreSQL behind a load balancer; one is killed under load."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest

from tests.databases.postgres import PostgresProcess, postgres, postgres_url
from tests.gateway.balancer import balancing
from tests.soak.clients import META
from tests.soak.http_client import Connection, Message

__all__ = ["postgres", "postgres_url"]

DEADLINE = 60.0
CLIENTS = 16
CALLS = 3000
DEMO = {"type": "inprocess", "module": "toolcrib.bundled.demo"}


@asynccontextmanager
async def gateway(folder: Path, url: str) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    folder.mkdir()
    (folder / "mcp.json").write_text(
        json.dumps({"mcpServers": {"demo": DEMO}, "toolcrib": {"database": url}})
    )
    environment = {"TOOLCRIB_HOME": str(folder), "TOOLCRIB_KEYRING": "off", "TOOLCRIB_TRUST_CONFIG": "1"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolcrib", "serve", "--json", "--port", "0"),
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), DEADLINE)
        yield json.loads(line)["url"], process
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), DEADLINE)


class Load:
    """Clients that add two numbers each, one of which no other call has."""

    def __init__(self, url: str) -> None:
        self.answered: set[int] = set()
        self.wrong: list[str] = []
        self.cut_off = 0
        self.half = asyncio.Event()
        self._url = url
        self._numbers = itertools.count(1)

    async def client(self) -> None:
        connection = Connection(self._url)
        while len(self.answered) < CALLS:
            number = next(self._numbers)
            try:
                async with asyncio.timeout(DEADLINE):
                    await self._call(connection, number)
            except (OSError, EOFError):
                self.cut_off += 1
                await connection.close()
            if len(self.answered) >= CALLS // 2:
                self.half.set()
        await connection.close()

    async def _call(self, connection: Connection, number: int) -> None:
        answer = await connection.post(request(number), HEADERS)
        result = answer.messages[-1].get("result") if answer.messages else None
        if answer.status == 200 and result and result["content"][0]["text"] == str(number + 1):
            self.answered.add(number)
        else:
            self.wrong.append(f"{number}: {answer.status} {answer.messages}")


HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "demo__add"}


def request(number: int) -> Message:
    params = {"name": "demo__add", "arguments": {"a": number, "b": 1}, "_meta": META}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def recorded(server: PostgresProcess, url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT arguments FROM calls WHERE outcome = 'ok'").fetchall()
    return [json.loads(arguments)["a"] for (arguments,) in rows]


@pytest.mark.acceptance
async def test_a_gateway_that_is_killed_under_load_costs_no_answer_and_no_record(
    tmp_path: Path, postgres: PostgresProcess, postgres_url: str
) -> None:
    async with (
        gateway(tmp_path / "one", postgres_url) as (one, first),
        gateway(tmp_path / "other", postgres_url) as (other, second),
        balancing(one, other) as url,
    ):
        load = Load(url)
        async with asyncio.timeout(3 * DEADLINE), asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(load.client())
            await load.half.wait()
            first.kill()
        assert second.returncode is None

        written = recorded(postgres, postgres_url)

    assert load.wrong == []
    assert load.cut_off > 0
    assert load.answered <= set(written)
    assert len(written) == len(set(written))
