"""Drives fastmcp's client, in its own environment; `test_real_clients.py` says what is told about it."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from python_use import Heard, Way, tell, use

heard = Heard()


class Hearing(MessageHandler):
    async def on_tool_list_changed(self, message):
        heard.change.set()


async def answer(message, response_type, params, context):
    heard.questions.append(message)
    return response_type(name="Ada")


def way_of(client):
    async def call(tool, arguments, progress=None):
        return (await client.call_tool(tool, arguments, progress_handler=progress)).content[0].text

    async def read(uri):
        return (await client.read_resource(uri))[0].text

    async def prompt(name, arguments):
        return (await client.get_prompt(name, arguments)).messages[0].content.text

    # In the newer era changes are subscribed to, and this client has no way to do so.
    return Way(heard, client.list_tools, call, read, prompt, hears_changes=client.mode == "legacy")


async def main(mode, key, target):
    if target[0].startswith("http"):
        transport = StreamableHttpTransport(target[0])
    else:
        transport = StdioTransport(target[0], target[1:], keep_alive=False)
    async with Client(transport, mode=mode, elicitation_handler=answer, message_handler=Hearing()) as client:
        tell("session", "server", client.server_info.name)
        tell("session", "version", client.protocol_version)
        for back in ("old", "new"):
            await use(way_of(client), back, key)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
