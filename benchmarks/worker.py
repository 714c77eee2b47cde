"""One contender in a process of its own, so that nobody pays for another's background work.

    python -m benchmarks.worker NAME [URL]

Says it is ready, then runs a block of calls for each line on stdin and answers with the times.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from typing import Any, cast

from benchmarks.contract import Call, Contender, Target

AFTERMATH = 0.1
"""Seconds after a block in which work that was put off (a batched write, say) counts as its CPU time."""


def main() -> None:
    """Open the contender on the loop it wants."""
    name, target = sys.argv[1], Target(*sys.argv[2:])
    contender = cast(Contender, importlib.import_module(f"benchmarks.contenders.{name}"))
    if contender.LOOP == "uvloop":
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(contender, target))
    else:
        asyncio.run(serve(contender, target))


async def serve(contender: Contender, target: Target) -> None:
    """Run blocks until stdin ends."""
    loop = asyncio.get_running_loop()
    async with contender.connect(target) as call:
        say({"ready": contender.TITLE})
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            order = json.loads(line)
            try:
                async with asyncio.timeout(order["deadline"]):
                    say(await block(call, order["tool"], order["arguments"], order["count"]))
            except TimeoutError:
                say({"late": order["deadline"]})


async def block(call: Call, tool: str, arguments: dict[str, Any], count: int) -> dict[str, Any]:
    """Call so many times in a row; each call's wall time, and the CPU time of all."""
    seconds = []
    clock = time.perf_counter
    spent = time.process_time()
    for _ in range(count):
        started = clock()
        await call(tool, arguments)
        seconds.append(clock() - started)
    await asyncio.sleep(AFTERMATH)
    return {"seconds": seconds, "cpu": time.process_time() - spent}


def say(answer: dict[str, Any]) -> None:
    """One line to whoever started us."""
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
