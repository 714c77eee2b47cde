"""Small workflows, and a host that runs them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

from tests.conftest import Crib
from toolcrib.host import Host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform

DEADLINE = 120.0
Workflow = dict[str, Any]


def chain(name: str, nodes: dict[str, Any], outputs: dict[str, Any] | None = None, **more: Any) -> Workflow:
    """A workflow whose nodes follow each other."""
    ids = list(nodes)
    edges = [{"from": before, "to": after} for before, after in pairwise(ids)]
    return {"name": name, "nodes": nodes, "edges": edges, "outputs": outputs or {}, **more}


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "McpToolCall", "settings": {"tool": name, "arguments": arguments}}


def add(a: Any, b: Any) -> dict[str, Any]:
    return tool("demo__add", a=a, b=b)


@asynccontextmanager
async def opened(crib: Crib, **options: Any) -> AsyncIterator[Host]:
    """A host with the demo, and the testing server called box."""
    crib.entry("demo", {"type": "inprocess", "module": "toolcrib.bundled.demo"})
    crib.server("box")
    async with crib.open(**{"trust_config": True, **options}) as host:
        await host.ready()
        yield host


async def run(host: Host, operation: str, **params: Any) -> Any:
    """An operation, whose answer must be JSON."""
    async with asyncio.timeout(DEADLINE):
        return json.loads(json.dumps(await perform(host, operation, params, Invocation())))


async def shown(host: Host, run_id: str, until: Callable[[Any], bool]) -> Any:
    """The run, once it is as expected."""
    async with asyncio.timeout(DEADLINE):
        with host.events.subscribe() as events:
            while not until(found := await run(host, "workflow_show", run=run_id)):
                try:
                    async with asyncio.timeout(1.0):
                        await events.next()
                except TimeoutError:
                    continue
    return found


def in_state(state: str) -> Callable[[Any], bool]:
    return lambda found: bool(found["state"] == state)
