"""Prompts, completion and logging through the gateway, in every pair of eras."""

from __future__ import annotations

import asyncio
import os
import signal

import mcp_types
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.speaking import DEADLINE

pytestmark = pytest.mark.usefixtures("patient")

MODES = ["auto", "legacy"]
ERAS = ["legacy", "modern"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back", ERAS)
async def test_a_prompt_is_listed_and_rendered_under_its_public_name(serve, program, mode, back):
    program("memos", "offering.py", back)
    program("library", "library.py")
    async with serve() as (_, url), Client(streamable_http_client(url), mode=mode) as client:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == ["library__review", "memos__greet"]
        assert [argument.name for argument in listed[1].arguments] == ["who"]
        greeting = await client.get_prompt("memos__greet", {"who": "Ada"})
        assert greeting.messages[0].content.text == "Hello Ada"
        review = await client.get_prompt("library__review", {"title": "Emma"})
        assert review.messages[0].content.text == "Review Emma."
        with pytest.raises(MCPError, match="Unknown prompt") as refused:
            await client.get_prompt("memos__nothing")
        assert refused.value.error.code == -32602


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_server_asks_before_it_renders_reaches_the_client(serve, program, mode):
    program("memos", "offering.py", "modern", "asks")

    async def answer(context, params):
        return mcp_types.ElicitResult(action="accept", content={"how": "Good evening"})

    async with (
        serve() as (_, url),
        Client(streamable_http_client(url), mode=mode, elicitation_callback=answer) as client,
    ):
        greeting = await client.get_prompt("memos__greet", {"who": "Ada"})
        assert greeting.messages[0].content.text == "Good evening Ada"


@pytest.mark.parametrize("back", ERAS)
async def test_a_prompt_of_a_killed_server_is_rendered_after_its_restart(serve, program, crib, back):
    program("memos", "offering.py", back)
    crib.document["mcpServers"]["memos"]["restart"] = {"firstDelay": 0.05}
    async with serve() as (host, url), Client(streamable_http_client(url)) as client:
        await client.list_prompts()
        os.kill(host.servers.status("memos").pid, signal.SIGKILL)
        greeting = await client.get_prompt("memos__greet", {"who": "Ada"})
        assert greeting.messages[0].content.text == "Hello Ada"


@pytest.mark.parametrize("back", ERAS)
async def test_a_legacy_client_is_told_of_new_prompts_and_resources(serve, program, back):
    program("memos", "offering.py", back)
    wanted = {"PromptListChangedNotification", "ResourceListChangedNotification"}
    told, grown = asyncio.Event(), False

    async def on_message(message):
        if grown:
            wanted.discard(type(message).__name__)
        if not wanted:
            told.set()

    async with (
        serve() as (_, url),
        Client(streamable_http_client(url), mode="legacy", message_handler=on_message) as client,
        asyncio.timeout(DEADLINE),
    ):
        assert len((await client.list_prompts()).prompts) == 1
        grown = True
        await client.call_tool("memos__grow", {})
        await told.wait()
        assert len((await client.list_prompts()).prompts) == 2
        assert len((await client.list_resources()).resources) == 3


@pytest.mark.parametrize("back", ERAS)
async def test_a_modern_client_that_listens_is_told_of_new_prompts(serve, program, back):
    program("memos", "offering.py", back)
    async with serve() as (_, url), Client(streamable_http_client(url)) as client, asyncio.timeout(DEADLINE):
        assert len((await client.list_prompts()).prompts) == 1
        async with client.listen(prompts_list_changed=True) as changes:
            await client.call_tool("memos__grow", {})
            await anext(aiter(changes))
        assert len((await client.list_prompts(cache_mode="bypass")).prompts) == 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back", ERAS)
async def test_arguments_of_prompts_and_templates_are_completed(serve, program, library, mode, back):
    program("memos", "offering.py", back)
    async with serve() as (_, url), Client(streamable_http_client(url), mode=mode) as client:
        prompt = mcp_types.PromptReference(type="ref/prompt", name="memos__greet")
        assert (await client.complete(prompt, {"name": "who", "value": "Ad"})).completion.values == ["Ada"]
        template = mcp_types.ResourceTemplateReference(type="ref/resource", uri="memo://{topic}/notes")
        found = await client.complete(template, {"name": "topic", "value": "al"})
        assert found.completion.values == ["alchemy"]
        book = mcp_types.ResourceTemplateReference(type="ref/resource", uri="book://{title}/{page}")
        assert (await client.complete(book, {"name": "page", "value": "1"})).completion.values == ["1x"]
        nothing = mcp_types.PromptReference(type="ref/prompt", name="memos__nothing")
        with pytest.raises(MCPError, match="memos__nothing"):
            await client.complete(nothing, {"name": "who", "value": ""})


@pytest.mark.parametrize("back", ERAS)
async def test_a_legacy_client_hears_what_is_logged_from_its_level_on(serve, program, back):
    program("memos", "offering.py", back)
    heard = []

    async def on_log(params):
        heard.append((params.level, params.logger, params.data))

    async with (
        serve() as (_, url),
        Client(streamable_http_client(url), mode="legacy", logging_callback=on_log) as client,
    ):
        await client.list_tools()
        await client.set_logging_level("info")
        await client.call_tool("memos__log", {})
        assert [level for level, _, _ in heard] == ["info", "error"]
        assert heard[0] == ("info", "workshop", "a word of info")
        await client.set_logging_level("error")
        await client.call_tool("memos__log", {})
        assert [level for level, _, _ in heard] == ["info", "error", "error"]


@pytest.mark.parametrize("back", ERAS)
async def test_a_modern_client_hears_only_what_its_request_asks_for(serve, program, back):
    program("memos", "offering.py", back)
    heard = []

    async def on_log(params):
        heard.append(params.level)

    async with serve() as (_, url), Client(streamable_http_client(url), logging_callback=on_log) as client:
        await client.list_tools()
        await client.call_tool("memos__log", {})
        assert heard == []
        await client.call_tool("memos__log", {}, meta={"io.modelcontextprotocol/logLevel": "error"})
        assert heard == ["error"]
