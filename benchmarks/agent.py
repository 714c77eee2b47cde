"""What a round of the agent costs besides the model: beside the bare model libraries, with the same tools.

python -m benchmarks.agent [--json]

Each contender runs in a process of its own, against a vendor on loopback that takes no time and runs in
another one. A round is one request with thirty tools and a talk that grows, one streamed answer, one call of
a Python function. CPU time is that of the contender's process alone. A library that is not
installed is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from typing import Any

ROUNDS = 30
REPEATS = 5
KEY = "none"
TOOLS = 30
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
DESCRIPTION = "One of many tools, with a description of some length that says what it does. " * 2
DEADLINE = 300.0
Ask = Callable[[], Awaitable[Any]]


def definitions() -> list[dict[str, Any]]:
    """The tools as chat completions want them."""
    names = ["add", *(f"tool_{number}" for number in range(1, TOOLS))]
    return [
        {"type": "function", "function": {"name": name, "description": DESCRIPTION, "parameters": SCHEMA}}
        for name in names
    ]


async def toolcrib(url: str, stack: AsyncExitStack) -> Ask:
    """The whole of ours: tools offered, door, gate, audit, events, and a chat that is kept on disk."""
    import os

    import toolcrib as crib
    from toolcrib.approvals.gate import AllowAll

    os.environ.update(OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY=KEY)
    home = stack.enter_context(tempfile.TemporaryDirectory())
    host = await stack.enter_async_context(
        crib.open_host(home, only=(), watch=False, gate=AllowAll(), trust_config=True)
    )

    async def add(a: int, b: int) -> str:
        return str(a + b)

    for one in definitions():
        host.tool(name=one["function"]["name"], description=DESCRIPTION)(add)

    agent = host.agent(f"openai:rounds-{ROUNDS}", max_rounds=ROUNDS + 5)
    agent.settings = replace(agent.settings, offer_all=TOOLS)
    return lambda: agent.ask("go")


async def pydantic_ai(url: str, stack: AsyncExitStack) -> Ask:
    """The model library that agents are commonly built on, with a toolset as its documentation shows."""
    from pydantic_ai import Agent, UsageLimits
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(f"rounds-{ROUNDS}", provider=OpenAIProvider(base_url=f"{url}/v1", api_key=KEY))
    agent = Agent(model)

    async def add(a: int, b: int) -> str:
        return str(a + b)

    for one in definitions():
        agent.tool_plain(name=one["function"]["name"], description=DESCRIPTION)(add)

    async def listen(context: Any, events: Any) -> None:
        async for _ in events:
            pass

    return lambda: agent.run("go", usage_limits=UsageLimits(request_limit=None), event_stream_handler=listen)


async def openai_sdk(url: str, stack: AsyncExitStack) -> Ask:
    """The vendor's own library and a loop written by hand: nothing is checked, recorded or kept."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY)
    tools: Any = definitions()

    async def ask() -> str:
        messages: list[Any] = [{"role": "user", "content": "go"}]
        while True:
            text, calls = "", dict[int, dict[str, str]]()
            stream: Any = await client.chat.completions.create(
                model=f"rounds-{ROUNDS}", messages=messages, tools=tools, stream=True
            )
            async for chunk in stream:
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for piece in choice.delta.tool_calls or ():
                        call = calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                        call["id"] = piece.id or call["id"]
                        call["name"] += piece.function.name or ""
                        call["arguments"] += piece.function.arguments or ""
            if not calls:
                return text
            messages += _answered(list(calls.values()))

    return ask


async def bare_http(url: str, stack: AsyncExitStack) -> Ask:
    """Requests written by hand: the floor."""
    import httpx2

    client = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False))
    tools = definitions()

    async def ask() -> str:
        messages: list[Any] = [{"role": "user", "content": "go"}]
        while True:
            body = {"model": f"rounds-{ROUNDS}", "messages": messages, "tools": tools, "stream": True}
            text, calls = "", dict[int, dict[str, str]]()
            async with client.stream("POST", f"{url}/v1/chat/completions", json=body) as response:
                async for line in response.aiter_lines():
                    if not line.startswith("data: {"):
                        continue
                    for choice in json.loads(line[6:])["choices"]:
                        text += choice["delta"].get("content") or ""
                        for piece in choice["delta"].get("tool_calls") or ():
                            call = calls.setdefault(piece["index"], {"id": "", "name": "", "arguments": ""})
                            call["id"] = piece.get("id") or call["id"]
                            call["name"] += piece["function"].get("name") or ""
                            call["arguments"] += piece["function"].get("arguments") or ""
            if not calls:
                return text
            messages += _answered(list(calls.values()))

    return ask


def _answered(calls: list[dict[str, str]]) -> list[dict[str, Any]]:
    written = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in calls
    ]
    answers = []
    for call in calls:
        given = json.loads(call["arguments"])
        answers.append({"role": "tool", "tool_call_id": call["id"], "content": str(given["a"] + given["b"])})
    return [{"role": "assistant", "content": None, "tool_calls": written}, *answers]


CONTENDERS: dict[str, tuple[str, Callable[[str, AsyncExitStack], Awaitable[Ask]]]] = {
    "toolcrib": ("toolcrib", toolcrib),
    "pydantic-ai": ("pydantic_ai", pydantic_ai),
    "openai SDK, a loop by hand": ("openai", openai_sdk),
    "bare HTTP (floor)": ("httpx2", bare_http),
}
"""By title: what has to be installed, and how it is made ready."""
BASE = "pydantic-ai"


async def work(title: str, url: str) -> None:
    """Measure one contender, here; prints milliseconds of CPU and of time for a round."""
    async with AsyncExitStack() as stack:
        ask = await CONTENDERS[title][1](url, stack)
        await ask()
        cpu: list[float] = []
        wall: list[float] = []
        for _ in range(REPEATS):
            before, started = time.process_time(), time.perf_counter()
            await ask()
            cpu.append((time.process_time() - before) * 1000 / (ROUNDS + 1))
            wall.append((time.perf_counter() - started) * 1000 / (ROUNDS + 1))
    print(json.dumps({"cpu_ms": round(min(cpu), 2), "wall_ms": round(min(wall), 2)}))


def measure() -> list[dict[str, Any]]:
    """All that are installed, one after the other."""
    results = []
    with vendor() as url:
        for title, (package, _) in CONTENDERS.items():
            if importlib.util.find_spec(package) is None:
                continue
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.agent", "--work", title, "--url", url],
                capture_output=True,
                text=True,
                timeout=DEADLINE,
                check=True,
            )
            results.append({"title": title, **json.loads(done.stdout.splitlines()[-1])})
    base = next((one["cpu_ms"] for one in results if one["title"] == BASE), None)
    return [{**one, "ratio": round(one["cpu_ms"] / base, 2) if base else None} for one in results]


@contextmanager
def vendor() -> Iterator[str]:
    """The vendor, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.tiny_model"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()


def table(results: list[dict[str, Any]]) -> str:
    """As text."""
    rows = [f"{'':30}{'CPU ms':>9}{'ms':>9}{f'CPU /{BASE}':>18}"]
    rows += [
        f"{one['title']:30}{one['cpu_ms']:>9}{one['wall_ms']:>9}{one['ratio'] or '-':>18}" for one in results
    ]
    return "\n".join(rows)


def main() -> None:
    """Measure, and show it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--work", choices=list(CONTENDERS), help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        asyncio.run(work(options.work, options.url))
        return
    results = measure()
    print(json.dumps(results, indent=2) if options.json else table(results))


if __name__ == "__main__":
    main()
