"""The program that the official conformance suite drives: our session and our transport, one scenario a run.

The suite appends its server's URL as the last argument and names the scenario, its context and the protocol
version in the environment. Signing in is the SDK's, given to the link as any other `httpx2.Auth`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.servers.sessions.negotiation import MODERN_VERSIONS, Era
from toolcrib.servers.sessions.session import Session, connect
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import http

VERSION = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
TIMEOUT = 60.0

Scenario = Callable[[str], Coroutine[Any, Any, None]]


async def accept_defaults(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """Accept a form with the values it proposes."""
    properties = params.get("requestedSchema", {}).get("properties", {})
    content = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    return {"action": "accept", "content": content}


async def confirm(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """Say yes."""
    return {"action": "accept", "content": {"confirmed": True}}


async def sample(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """A model that has nothing to say."""
    return {"role": "assistant", "content": {"type": "text", "text": ""}, "model": "none"}


async def no_roots(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """No folders."""
    return {"roots": []}


@contextlib.asynccontextmanager
async def session_with(
    url: str, *, handlers: Handlers | None = None, auth: Any = None, era: Era | None = None
) -> AsyncIterator[Session]:
    """A session with the suite's server, in the era the suite speaks."""
    if era is None and VERSION and VERSION not in MODERN_VERSIONS:
        era = "legacy"
    context = LinkContext(server="conformance", auth=auth, on_log=log)
    spec = http.HttpSpec(url=url)
    async with connect(
        "conformance",
        lambda inbox: http.open(spec, inbox, context),
        handlers=handlers,
        era=era,
        timeout=TIMEOUT,
    ) as session:
        yield session


def log(text: str) -> None:
    """To stderr: the suite shows it when a check fails."""
    sys.stderr.write(f"{text}\n")


async def list_only(url: str) -> None:
    """Connect, list the tools, close."""
    async with session_with(url) as session:
        await session.list_tools(timeout=TIMEOUT)


async def add_numbers(url: str, handlers: Handlers | None = None) -> None:
    """List the tools and call one."""
    async with session_with(url, handlers=handlers) as session:
        await session.list_tools(timeout=TIMEOUT)
        await session.call_tool("add_numbers", {"a": 5, "b": 3}, timeout=TIMEOUT)


async def full_metadata(url: str) -> None:
    """The same with everything offered that a client can offer."""
    await add_numbers(url, Handlers(sample=sample, elicit=accept_defaults, roots=no_roots))


async def reconnection(url: str) -> None:
    """Call a tool whose stream is closed before the answer."""
    async with session_with(url) as session:
        await session.list_tools(timeout=TIMEOUT)
        await session.call_tool("test_reconnection", {}, timeout=TIMEOUT)


async def elicitation_defaults(url: str) -> None:
    """Answer a question with the defaults of its form."""
    async with session_with(url, handlers=Handlers(elicit=accept_defaults)) as session:
        await session.list_tools(timeout=TIMEOUT)
        await session.call_tool("test_client_elicitation_defaults", {}, timeout=TIMEOUT)


async def references_unfollowed(url: str) -> None:
    """List tools whose schemas refer to the network; the suite's server here knows the legacy era only."""
    async with session_with(url, era="legacy") as session:
        await session.list_tools(timeout=TIMEOUT)


async def schema_preserved(url: str) -> None:
    """Send a schema back as it was received."""
    async with session_with(url) as session:
        tools = await session.list_tools(timeout=TIMEOUT)
        schema = next(tool["inputSchema"] for tool in tools if tool["name"] == "json_schema_2020_12_tool")
        await session.call_tool("json_schema_echo", {"schema": schema}, timeout=TIMEOUT)


async def every_tool(url: str) -> None:
    """Call every tool that survived the listing."""
    samples = {"string": "x", "integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}
    async with session_with(url) as session:
        for tool in await session.list_tools(timeout=TIMEOUT):
            schema = tool["inputSchema"]
            properties = schema.get("properties", {})
            arguments = {
                name: samples.get(properties.get(name, {}).get("type"), "x")
                for name in schema.get("required", [])
            }
            with contextlib.suppress(ToolcribError):
                await session.call_tool(tool["name"], arguments, timeout=TIMEOUT)


async def given_calls(url: str) -> None:
    """Make exactly the calls that the suite dictates, of the tools that survived the listing."""
    async with session_with(url) as session:
        names = {tool["name"] for tool in await session.list_tools(timeout=TIMEOUT)}
        for call in CONTEXT.get("toolCalls", []):
            if call["name"] in names:
                with contextlib.suppress(ToolcribError):
                    await session.call_tool(call["name"], call.get("arguments") or {}, timeout=TIMEOUT)


async def multi_round_trip(url: str) -> None:
    """Calls that are answered with questions, with and without a state to hand back."""
    async with session_with(url, handlers=Handlers(elicit=confirm)) as session:
        await session.list_tools(timeout=TIMEOUT)
        for name in ("echo_state", "unrelated", "no_state", "no_result_type"):
            await session.call_tool(f"test_mrtr_{name}", {}, timeout=TIMEOUT)


async def list_skills(url: str) -> None:
    """Ask for the list of skills, which must not make us read any."""
    async with session_with(url) as session:
        await session.request("skills/list", {}, timeout=TIMEOUT)


async def signed_in(url: str) -> None:
    """Sign in as the scenario wants, list, and call the first tool."""
    from tests.conformance.sign_in import auth_for

    auth = await auth_for(os.environ["MCP_CONFORMANCE_SCENARIO"], url, CONTEXT)
    async with session_with(url, auth=auth, handlers=Handlers(elicit=accept_defaults)) as session:
        tools = await session.list_tools(timeout=TIMEOUT)
        if tools:
            with contextlib.suppress(ToolcribError):
                await session.call_tool(tools[0]["name"], {}, timeout=TIMEOUT)


SCENARIOS: dict[str, Scenario] = {
    "initialize": list_only,
    "tools_call": add_numbers,
    "elicitation-sep1034-client-defaults": elicitation_defaults,
    "sse-retry": reconnection,
    "request-metadata": full_metadata,
    "http-standard-headers": add_numbers,
    "http-custom-headers": given_calls,
    "http-invalid-tool-headers": every_tool,
    "json-schema-ref-no-deref": references_unfollowed,
    "json-schema-2020-12-preservation": schema_preserved,
    "sep-2322-client-request-state": multi_round_trip,
    "sep-2640-client-no-prefetch": list_skills,
}


def main() -> int:
    """Run the scenario named in the environment against the URL in the last argument."""
    name = os.environ["MCP_CONFORMANCE_SCENARIO"]
    scenario = signed_in if name.startswith("auth/") else SCENARIOS.get(name, list_only)
    try:
        asyncio.run(scenario(sys.argv[-1]))
    except ToolcribError as error:
        log(f"{error.kind}: {error.message} {error.hint}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
