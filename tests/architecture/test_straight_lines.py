"""The lines that a reader follows most enter few functions in few files. The counts may only fall."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
import pytest

import toolcrib
from tests.conftest import Crib
from tests.features.workflows.host.workflow_sample import add, chain
from tests.gateway.speaking import Speaker
from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.gateway.http.server import serve_http
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.testing.model import ScriptedModel, calls
from toolcrib.web.serving import serve_page

SOURCE = f"{Path(toolcrib.__file__).parent}/"
REPEATED = 12
NUMBERS = {"a": 1, "b": 2}
ARGUMENTS = {"demo__add": NUMBERS, "other__echo": {"text": "hello"}}
BACKGROUND = {("store/audit.py", "AuditLog._arm"), ("store/audit.py", "AuditLog._written")}
"""Entered now and then by a timer of the host, whatever is called."""

Line = Callable[[], Awaitable[object]]


class Entered:
    """The functions of ours that are entered in a block, in order."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], None] = {}

    def __enter__(self) -> Entered:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(SOURCE):
            return
        if not code.co_flags & inspect.CO_OPTIMIZED:  # the body of a module or a class, which is imported
            return
        if code.co_name.endswith(("comp>", "genexpr>")) or code.co_filename.startswith(f"{SOURCE}testing/"):
            return
        entered = (code.co_filename.removeprefix(SOURCE), code.co_qualname)
        if entered not in BACKGROUND:
            self.functions[entered] = None


async def check(line: Line, functions: int, files: int) -> None:
    """Other tasks may run meanwhile: the time with the fewest functions shows what is needed."""
    times = []
    for _ in range(REPEATED):
        with Entered() as entered:
            await line()
        times.append(list(entered.functions))
    assert_few(min(times, key=len), functions, files)


def assert_few(entered: list[tuple[str, str]], functions: int, files: int) -> None:
    entered_files = {file for file, _ in entered}
    shown = "\n".join(f"{file} {function}" for file, function in entered)
    assert len(entered) <= functions, f"{len(entered)} in {len(entered_files)}\n{shown}"
    assert len(entered_files) <= files, f"{len(entered)} in {len(entered_files)}\n{shown}"


@asynccontextmanager
async def opened(crib: Crib, **options: Any) -> AsyncIterator[toolcrib.Host]:
    """A host with the demo server in its process: both ends of a call are counted."""
    crib.entry("demo", {"type": "inprocess", "module": "toolcrib.bundled.demo"})
    async with crib.open(**options) as host:
        await host.ready()
        yield host


async def test_a_call(crib: Crib) -> None:
    async with opened(crib) as host:
        await check(lambda: host.call("demo__add", NUMBERS), 48, 23)


async def test_a_call_over_stdio(crib: Crib) -> None:
    crib.entry("demo", {"command": sys.executable, "args": ["-m", "toolcrib.bundled.demo"]})
    async with crib.open() as host:
        await host.ready()
        await check(lambda: host.call("demo__add", NUMBERS), 35, 19)


async def test_a_call_as_an_operation(crib: Crib) -> None:
    async with opened(crib) as host:
        params = {"tool": "demo__add", "arguments": NUMBERS}
        await check(lambda: perform(host, "call", params, Invocation()), 70, 30)


@pytest.mark.parametrize(
    ("era", "tool", "functions", "files"),
    [("legacy", "demo__add", 117, 50), ("modern", "demo__add", 118, 50), ("modern", "other__echo", 74, 37)],
)
async def test_a_call_through_the_gateway(
    crib: Crib, era: str, tool: str, functions: int, files: int
) -> None:
    """The other server runs in a process of its own, and did not come with Toolcrib."""
    crib.server("other")
    async with (
        opened(crib, handlers=bridge_handlers()) as host,
        serve_http(host) as (base, _),
        httpx2.AsyncClient() as client,
    ):
        speaker = Speaker(client, f"{base}/mcp")
        await speaker.open()
        send = speaker.legacy if era == "legacy" else speaker.modern

        async def line() -> None:
            answer = await send("tools/call", name=tool, arguments=ARGUMENTS[tool])
            assert not answer.json()["result"]["isError"]

        await check(line, functions, files)


async def test_a_call_from_the_page(crib: Crib) -> None:
    async with opened(crib) as host, serve_page(host, port=0) as page, httpx2.AsyncClient() as client:
        token = page.sign_in_address().partition("#key=")[2]
        signed_in = await client.post(f"{page.base}/api/sign_in", json={"token": token})
        headers = {"Authorization": f"Bearer {signed_in.json()['key']}"}
        params = {"tool": "demo__add", "arguments": NUMBERS}

        async def line() -> None:
            answer = await client.post(f"{page.base}/api/call", json=params, headers=headers)
            assert answer.is_success

        await check(line, 154, 55)


async def test_a_question(crib: Crib) -> None:
    async with opened(crib) as host:

        async def line() -> None:
            model = ScriptedModel(calls(("demo__add", NUMBERS)), "It is 3.")
            assert (await host.agent(model).ask("What is 1 plus 2?")).answer == "It is 3."

        await check(line, 235, 61)


async def test_a_workflow_of_one_step(crib: Crib) -> None:
    async with opened(crib) as host:
        params = {"workflow": chain("sum", {"sum": add(1, 2)}), "inputs": {}}

        async def line() -> None:
            run = await perform(host, "workflow_run", params, Invocation())
            assert run["state"] == "finished"

        await check(line, 380, 90)


PROGRAM = """
import atexit, json, sys
from tests.architecture.test_straight_lines import Entered
from toolcrib.cli import main
entered = Entered()
atexit.register(lambda: sys.stderr.write(json.dumps([*entered.functions])))
sys.argv = ["toolcrib", "call", "demo__add", "a=1", "b=2"]
with entered:
    main()
"""


def test_the_command_that_calls_a_tool_without_a_host(tmp_path: Path) -> None:
    environment = {**os.environ, "TOOLCRIB_HOME": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM]
    done = [subprocess.run(command, env=environment, capture_output=True, text=True) for _ in range(3)]
    fewest = min((json.loads(one.stderr.splitlines()[-1]) for one in done), key=len)

    assert [one.stdout.strip() for one in done] == ["3"] * 3
    assert_few([(file, function) for file, function in fewest], 483, 111)
