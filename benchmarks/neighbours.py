"""How much slower a healthy server gets beside one that floods.

    python -m benchmarks.neighbours [--calls N] [--ways stdio,http,call,sse] [--kinds KINDS] [--json]

One host, one small server that is called, and one flooding server of each kind in turn. The figures are the
times of the same calls alone and beside it, in the same run and process. `call` floods the answer of a call,
which never comes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import toolcrib

HERE = Path(__file__).parent
KINDS = ("small", "large", "huge", "junk", "half", "changes", "sampling", "answers")
COMMENTS = ("comments", "comment", "blank")
STREAM_KINDS = (*KINDS, *COMMENTS, "progress", "duplicates", "event", "drip", "compressed")
WAYS = {
    "stdio": KINDS,
    "http": (*STREAM_KINDS, "headers", "informational"),
    "call": ("small", "huge", "sampling", "comments", "event", "drip", "informational"),
    "sse": STREAM_KINDS,
}
CALLS = 2000
SETTLE_SECONDS = 5.0
PAUSE = 0.001
"""Seconds between calls: a neighbour that is used, not one that is loaded."""


def measure(
    calls: int, ways: Iterable[str] = tuple(WAYS), kinds: Collection[str] = ()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """By way and kind: p50 and p99 in milliseconds alone and beside it, and the flooding server's state."""
    os.environ["TOOLCRIB_TRUST_CONFIG"] = "1"
    for way in ways:
        for kind in [each for each in WAYS[way] if not kinds or each in kinds]:
            yield f"{way} {kind}", asyncio.run(_measure(way, kind, calls))


async def _measure(way: str, kind: str, calls: int) -> dict[str, Any]:
    import toolcrib

    with tempfile.TemporaryDirectory() as folder, _flooding(way, kind) as flooding:
        home = Path(folder)
        flooding |= {"era": "legacy", "enabled": False}
        servers = {"good": _entry("-I", str(HERE / "tiny_server.py")), "bad": flooding}
        (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        async with toolcrib.open_host(home) as host:
            await host.ready()
            return await _compare(host, calls, calls_it=way == "call")


@contextmanager
def _flooding(way: str, kind: str) -> Iterator[dict[str, Any]]:
    """The entry of a flooding server, which runs while the block runs."""
    if way == "stdio":
        yield _entry(str(HERE / "flooding_server.py"), kind)
        return
    command = [sys.executable, str(HERE / "flooding_http_server.py"), way, kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        yield {"type": "sse" if way == "sse" else "http", "url": url}
        process.kill()


async def _compare(host: toolcrib.Host, calls: int, *, calls_it: bool) -> dict[str, Any]:
    await _times(host, 200)
    alone = await _times(host, calls)
    host.servers["bad"].start()
    with contextlib.suppress(TimeoutError):  # a flood may delay its start
        async with asyncio.timeout(SETTLE_SECONDS):
            await host.servers["bad"].settled()
    call = asyncio.ensure_future(host.call("bad__echo", {})) if calls_it else None
    await asyncio.sleep(SETTLE_SECONDS)
    beside = await _times(host, calls)
    if call is not None:
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    status = host.servers.status("bad")
    return {"alone": _figures(alone), "beside": _figures(beside), "state": status.state.value}


async def _times(host: toolcrib.Host, calls: int) -> list[float]:
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        await host.call("good__echo", {"text": "x"})
        times.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(PAUSE)
    return sorted(times)


def _figures(times: list[float]) -> dict[str, float]:
    return {"p50": round(times[len(times) // 2], 2), "p99": round(times[len(times) * 99 // 100], 2)}


def _entry(*args: str, **keys: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": list(args), **keys}


HEAD = """\
| beside | p50 alone | p50 | p99 alone | p99 | ratio of p99 | its state |
|---|---|---|---|---|---|---|"""


def _row(kind: str, figures: dict[str, Any]) -> str:
    alone, beside = figures["alone"], figures["beside"]
    times = f"{alone['p50']} | {beside['p50']} | {alone['p99']} | {beside['p99']}"
    return f"| {kind} | {times} | {beside['p99'] / alone['p99']:.1f} | {figures['state']} |"


def table(found: dict[str, Any]) -> str:
    return "\n".join([HEAD, *(_row(kind, figures) for kind, figures in found.items())])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--kinds", default="", help="all of them if empty")
    options = parser.parse_args()
    found = measure(options.calls, options.ways.split(","), options.kinds.split(",") if options.kinds else ())
    if options.json:
        print(json.dumps(dict(found), indent=2))
        return
    print(HEAD)
    for kind, figures in found:
        print(_row(kind, figures), flush=True)


if __name__ == "__main__":
    main()
