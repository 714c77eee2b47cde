"""The gateway as a program that a client starts: what is no tool passes there too, in every pair of eras."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager

import mcp_types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.gateway.speaking import until_listed
from tests.gateway.test_questions import STDIO_ENVIRONMENT

MODES = ["auto", "legacy"]
ERAS = ["legacy", "modern"]


@asynccontextmanager
async def started(crib, mode, *options, **hooks):
    """The client that started the gateway, once its server is there."""
    crib.write()
    arguments = ["-m", "toolcrib", "--home", str(crib.home), "serve", "--stdio", *options]
    command = StdioServerParameters(command=sys.executable, args=arguments, env=STDIO_ENVIRONMENT)
    async with Client(stdio_client(command), mode=mode, **hooks) as client:
        await until_listed(client, "touch" if "--plain-names" in options else "memos__touch")
        yield client


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back", ERAS)
async def test_prompts_resources_and_completion_pass(crib, program, mode, back):
    program("memos", "offering.py", back)
    async with started(crib, mode) as client:
        assert [one.name for one in (await client.list_prompts()).prompts] == ["memos__greet"]
        greeting = await client.get_prompt("memos__greet", {"who": "Ada"})
        assert greeting.messages[0].content.text == "Hello Ada"
        assert len((await client.list_resources()).resources) == 2
        assert (await client.read_resource("memo://data")).contents[0].blob == "AAEC/w=="
        assert len((await client.list_resource_templates()).resource_templates) == 1
        assert "memo://art/notes" in (await client.read_resource("memo://art/notes")).contents[0].text
        prompt = mcp_types.PromptReference(type="ref/prompt", name="memos__greet")
        assert (await client.complete(prompt, {"name": "who", "value": "Ad"})).completion.values == ["Ada"]
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource("memo://nothing")


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_server_asks_before_it_renders_a_prompt_reaches_the_client(crib, program, mode):
    program("memos", "offering.py", "modern", "asks")

    async def answer(context, params):
        return mcp_types.ElicitResult(action="accept", content={"how": "Good evening"})

    async with started(crib, mode, elicitation_callback=answer) as client:
        greeting = await client.get_prompt("memos__greet", {"who": "Ada"})
        assert greeting.messages[0].content.text == "Good evening Ada"


@pytest.mark.parametrize("back", ERAS)
async def test_a_client_hears_of_a_resource_while_it_is_subscribed(crib, program, back):
    program("memos", "offering.py", back)
    told = asyncio.Event()

    async def on_message(message):
        if type(message).__name__ == "ResourceUpdatedNotification":
            told.set()

    async with started(crib, "legacy", message_handler=on_message) as client, asyncio.timeout(60):
        await client.subscribe_resource("memo://shared")
        await client.call_tool("memos__touch", {})
        await told.wait()


async def test_names_are_plain_where_that_was_asked_for(crib, program):
    program("memos", "offering.py", "legacy")
    async with started(crib, "auto", "--plain-names") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["grow", "log", "touch"]
        assert [one.name for one in (await client.list_prompts()).prompts] == ["greet"]
