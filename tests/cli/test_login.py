"""`toolcrib login`: the page is shown, the sign-in kept, and the answer is as documented."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.cli.command_line import PROGRAM, CommandLine
from tests.cli.test_json_promise import examples, shape
from tests.servers.signin.issuer import signed_scene


def test_a_server_on_this_machine_has_nothing_to_sign_in_to(toolcrib: CommandLine) -> None:
    answer = toolcrib("login", "demo", "--json")
    assert (answer.code, answer.error["kind"]) == (2, "usage")
    assert "needs no sign-in" in answer.error["message"]


@pytest.mark.parametrize("words", [(), ("--json",)])
async def test_the_address_is_shown_and_whoever_opens_it_signs_in(
    toolcrib: CommandLine, words: tuple[str, ...]
) -> None:
    async with signed_scene() as scene:
        toolcrib("servers")
        document = toolcrib.config()
        document["mcpServers"]["guarded"] = {"type": "http", "url": scene.url}
        (toolcrib.home / "mcp.json").write_text(json.dumps(document))
        process = await asyncio.create_subprocess_exec(
            *(PROGRAM, "login", "guarded", "--no-browser", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=toolcrib.environment,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        async with asyncio.timeout(60):
            line = (await process.stderr.readline()).decode()
            await scene.agree(line.split()[-1])
            out = (await process.stdout.read()).decode()
            assert await process.wait() == 0
        if words:
            (example,) = examples("login")
            assert shape(json.loads(out)) == shape(example)
        else:
            assert f"Signed in to guarded at {scene.issuer.url}" in out
        tried = await asyncio.to_thread(toolcrib, "test", "guarded", "--json")
        assert tried.json["ok"]
        left = await asyncio.to_thread(toolcrib, "logout", "guarded", "--json")
        assert left.json == {"name": "guarded", "was_signed_in": True}
