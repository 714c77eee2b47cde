"""`toolcrib login`: the page is shown, the sign-in kept, and the answer is as documented."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.cli.command_line import PROGRAM, CommandLine
from tests.cli.terminal import terminal
from tests.cli.test_json_promise import examples, shape
from tests.servers.signin.issuer import signed_scene


def write_entry(toolcrib: CommandLine, url: str) -> None:
    toolcrib("servers")
    document = toolcrib.config()
    document["mcpServers"]["guarded"] = {"type": "http", "url": url}
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))


def test_a_server_on_this_machine_has_nothing_to_sign_in_to(toolcrib: CommandLine) -> None:
    answer = toolcrib("login", "demo", "--json")
    assert (answer.code, answer.error["kind"]) == (2, "usage")
    assert "needs no sign-in" in answer.error["message"]


@pytest.mark.parametrize("words", [(), ("--json",)])
async def test_the_address_is_shown_and_whoever_opens_it_signs_in(
    toolcrib: CommandLine, words: tuple[str, ...]
) -> None:
    async with signed_scene() as scene:
        write_entry(toolcrib, scene.url)
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
            named = (await process.stderr.readline()).decode()
            assert named == f"Signing in to guarded at {scene.issuer.url}.\n"
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


OTHER_HOST = "http://127.0.0.1:1"


async def test_hosts_that_may_not_belong_together_are_asked_about_by_name(toolcrib: CommandLine) -> None:
    async with signed_scene({"revocation_endpoint": f"{OTHER_HOST}/revoke"}) as scene:
        write_entry(toolcrib, scene.url)
        refused = await asyncio.to_thread(toolcrib, "login", "guarded", "--json")
        assert (refused.code, refused.error["kind"]) == (5, "hosts_not_confirmed")
        assert refused.error["data"]["revocation"] == OTHER_HOST

        with terminal(toolcrib, "login", "guarded", "--no-browser", columns=400) as person:
            await asyncio.to_thread(
                person.expect, "Do these hosts belong together, and do you want to sign in there? [y/N]"
            )
            for host in (OTHER_HOST, scene.issuer.url):
                assert host in person.seen
            assert scene.issuer.asked == []
            person.type("y\n")
            await asyncio.to_thread(person.expect, "Sign in on this page: ")
            await asyncio.to_thread(person.expect, "\n", after="Sign in on this page: ")
            await scene.agree(person.seen.partition("Sign in on this page: ")[2].split()[0])
            assert await asyncio.to_thread(person.wait) == 0

        with terminal(toolcrib, "login", "guarded", "--no-browser", columns=400) as person:
            await asyncio.to_thread(person.expect, "Sign in on this page: ")
            assert "Do these hosts" not in person.seen


async def test_nothing_is_opened_unless_the_hosts_are_confirmed(toolcrib: CommandLine) -> None:
    async with signed_scene({"token_endpoint": f"{OTHER_HOST}/token"}) as scene:
        write_entry(toolcrib, scene.url)
        with terminal(toolcrib, "login", "guarded", "--no-browser", columns=400) as person:
            await asyncio.to_thread(
                person.expect, "Do these hosts belong together, and do you want to sign in there? [y/N]"
            )
            person.type("n\n")
            assert await asyncio.to_thread(person.wait) == 4
        assert scene.issuer.asked == []
