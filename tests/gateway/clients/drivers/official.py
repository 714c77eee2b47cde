"""Drives the official Python client; `test_real_clients.py` says what is told about it."""

import asyncio
import sys
from contextlib import AsyncExitStack

import mcp_types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from python_use import Heard, Way, tell, use

heard = Heard()


async def answer(context, params):
    heard.questions.append(params.message)
    return mcp_types.ElicitResult(action="accept", content={"name": "Ada"})


async def hear(message):
    if isinstance(message, mcp_types.ToolListChangedNotification):
        heard.change.set()


async def listen(subscription):
    async for _ in subscription:
        heard.change.set()


def way_of(client):
    async def list_tools():
        return (await client.list_tools(cache_mode="bypass")).tools

    async def call(tool, arguments, progress=None):
        return (await client.call_tool(tool, arguments, progress_callback=progress)).content[0].text

    async def read(uri):
        return (await client.read_resource(uri)).contents[0].text

    async def prompt(name, arguments):
        return (await client.get_prompt(name, arguments)).messages[0].content.text

    return Way(heard, list_tools, call, read, prompt, hears_changes=True)


async def main(mode, key, target):
    if target[0].startswith("http"):
        transport = streamable_http_client(target[0])
    else:
        transport = stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
    async with AsyncExitStack() as stack:
        client = Client(transport, mode=mode, elicitation_callback=answer, message_handler=hear)
        await stack.enter_async_context(client)
        tell("session", "server", client.server_info.name)
        tell("session", "version", client.protocol_version)
        if mode != "legacy":
            subscription = await stack.enter_async_context(client.listen(tools_list_changed=True))
            stack.callback(asyncio.create_task(listen(subscription)).cancel)
        for back in ("old", "new"):
            await use(way_of(client), back, key)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
