"""A server of the official SDK over stdio: `sdk_server.py mcpserver|lowlevel`; both speak both eras."""

import asyncio
import sys
import warnings
from typing import Annotated, Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.mcpserver import Context, Elicit, Image, ListRoots, MCPServer, Resolve, Sample
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from pydantic import BaseModel

warnings.simplefilter("ignore")  # of deprecated features, which is what is tried here
high = MCPServer("high", version="2.0", instructions="Be gentle.", log_level="ERROR")


class Answer(BaseModel):
    name: str


async def ask_name() -> Elicit[Answer]:
    return Elicit("Your name?", Answer)


async def ask_model() -> Sample:
    content = types.TextContent(type="text", text="Say hello")
    return Sample([types.SamplingMessage(role="user", content=content)], max_tokens=10)


async def ask_roots() -> ListRoots:
    return ListRoots()


@high.tool()
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@high.tool(structured_output=False)
async def show() -> list[Any]:
    """Every kind of content."""
    return [
        "text ☃",
        Image(data=b"\x89PNG", format="png"),
        types.AudioContent(type="audio", data="UklGRg==", mime_type="audio/wav"),
        types.ResourceLink(type="resource_link", uri="file:///a", name="a"),
        types.EmbeddedResource(
            type="resource",
            resource=types.TextResourceContents(uri="file:///b", text="b", mime_type="text/plain"),
        ),
    ]


@high.tool(structured_output=False)
async def steps(count: int, ctx: Context[Any, Any]) -> str:
    """Report each step, and say something besides."""
    for step in range(count):
        await ctx.report_progress(step + 1, count, f"step {step + 1}")
    await ctx.info("all steps done")
    return "done"


@high.tool(structured_output=False)
async def hang(ctx: Context[Any, Any]) -> str:
    """Never answer, but say so when cancelled."""
    await ctx.report_progress(0, 1)
    try:
        await asyncio.Event().wait()
    finally:
        sys.stderr.write("hang was cancelled\n")
        sys.stderr.flush()
    return "never"


@high.tool(structured_output=False)
async def greet(answer: Annotated[Answer, Resolve(ask_name)]) -> str:
    """Ask for a name."""
    return f"Hello {answer.name}"


@high.tool(structured_output=False)
async def think(thought: Annotated[types.CreateMessageResult, Resolve(ask_model)]) -> str:
    """Ask the model."""
    return f"The model said {thought.content.text}"  # type: ignore[union-attr]


@high.tool(structured_output=False)
async def where(roots: Annotated[types.ListRootsResult, Resolve(ask_roots)]) -> str:
    """Ask for the roots."""
    return ", ".join(str(root.uri) for root in roots.roots)


@high.tool(structured_output=False)
async def grow(ctx: Context[Any, Any]) -> str:
    """Add a tool and tell everyone."""
    high.add_tool(add, name="grown")
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "grown"


@high.tool(structured_output=False)
async def fail() -> str:
    """Fail."""
    raise ValueError("as asked")


@high.resource("note://one")
async def note() -> str:
    """A note."""
    return "a note"


@high.prompt()
async def hello(name: str) -> str:
    """Say hello."""
    return f"Hello {name}"


PAGES = {None: ("first", "page-2"), "page-2": ("second", "page-3"), "page-3": ("third", None)}
bus = InMemorySubscriptionBus()


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    name, following = PAGES[params.cursor if params else None]
    tool = types.Tool(name=name, input_schema={"type": "object", "$defs": {"x": {"const": 1}}, "x-kept": [1]})
    return types.ListToolsResult(tools=[tool], next_cursor=following)


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> Any:
    """`first` changes the list; `second` wants a visit to a page, and then waits a round more."""
    if params.name == "first":
        await bus.publish(ToolsListChanged())
        await ctx.session.send_tool_list_changed()
        return types.CallToolResult(content=[], structured_content={"n": 2**60}, _meta={"vendor/key": 1})
    answers = params.input_responses or {}
    if "visit" in answers:
        return types.InputRequiredResult(request_state=f"{params.request_state}+visited")
    if params.request_state is None:
        url = types.ElicitRequestURLParams(message="Sign in", url="https://example.com", elicitation_id="e")
        return types.InputRequiredResult(
            input_requests={"visit": types.ElicitRequest(params=url)}, request_state="started"
        )
    return types.CallToolResult(content=[types.TextContent(type="text", text=params.request_state)])


low = Server(
    "low",
    version="1.0",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=ListenHandler(bus),
)


async def serve_low() -> None:
    options = low.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (reading, writing):
        await low.run(reading, writing, options)


if __name__ == "__main__":
    if sys.argv[1] == "mcpserver":
        high.run()
    else:
        asyncio.run(serve_low())
