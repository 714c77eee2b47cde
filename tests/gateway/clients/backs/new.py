"""A server of the newer era, as people write them with the official Python SDK."""

import asyncio
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("new")
fates: dict[str, str] = {}
counting: dict[str, asyncio.Event] = {}


class Person(BaseModel):
    name: str


async def ask() -> Person | Elicit[Person]:
    return Elicit("Who are you?", Person)


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
async def count(to: int, key: str, context: Context) -> str:
    """End when somebody says that the progress arrived: told at the end alone, it would be of no use."""
    counting[key] = asyncio.Event()
    for number in range(1, to + 1):
        await context.report_progress(number, to)
    await counting[key].wait()
    return f"counted to {to}"


@server.tool()
async def enough(key: str) -> str:
    counting[key].set()
    return "thanks"


@server.tool()
async def wait(key: str) -> str:
    fates[key] = "started"
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        fates[key] = "cancelled"
        raise
    return "never"


@server.tool()
def fate(key: str) -> str:
    return fates.get(key, "unknown")


@server.tool()
async def greet(person: Annotated[Person, Resolve(ask)]) -> str:
    return f"Hello {person.name}"


@server.tool()
async def grow(name: str, context: Context) -> str:
    server.add_tool(lambda: name, name=name)
    await context.notify_tools_changed()
    return "grown"


@server.resource("note://new")
def note() -> str:
    return "the note of new"


@server.prompt()
def review(title: str) -> str:
    return f"Review {title}."


server.run()
