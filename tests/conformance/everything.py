"""A server of the official SDK with everything that the conformance suite asks a server for.

`python -m tests.conformance.everything stdio` speaks on stdin and stdout; `… http` listens on a free port of
127.0.0.1 and prints its address. It speaks both eras: where a tool has to ask, the SDK asks in the client's.
"""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import sys
from collections.abc import Callable
from typing import Annotated, Any

import mcp_types as types
from mcp import MCPError
from mcp.server.mcpserver import (
    Context,
    Elicit,
    ElicitationResult,
    MCPServer,
    RequestStateSecurity,
    Resolve,
    Sample,
)
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from pydantic import BaseModel, Field

from tests.conformance.events import Events

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

Asking = str | types.InputRequiredResult

server = MCPServer(
    "everything", version="1", request_state_security=RequestStateSecurity(keys=[b"of no other use " * 2])
)


def tool(function: Callable[..., Any]) -> Callable[..., Any]:
    """A tool, described by its name: the suite wants a description of each."""
    return server.tool(description=function.__name__.replace("_", " "))(function)


def prompt(function: Callable[..., Any]) -> Callable[..., Any]:
    """A prompt, likewise."""
    return server.prompt(description=function.__name__.replace("_", " "))(function)


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


def embedded(uri: str, mime_type: str, words: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return types.EmbeddedResource(type="resource", resource=contents)


# Tools that answer.


@tool
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@tool
def test_image_content() -> list[types.ImageContent]:
    return [image()]


@tool
def test_audio_content() -> list[types.AudioContent]:
    return [types.AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")]


@tool
def test_embedded_resource() -> list[types.EmbeddedResource]:
    return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@tool
def test_multiple_content_types() -> list[types.TextContent | types.ImageContent | types.EmbeddedResource]:
    data = embedded("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}')
    return [text("Multiple content types test:"), image(), data]


@tool
async def test_tool_with_logging(ctx: Context) -> str:
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(step)
    return "Logged."


@tool
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(progress=done, total=100, message=f"Completed step {done} of 100")
        await asyncio.sleep(0.02)
    return "Done."


@tool
async def test_logging_tool(ctx: Context) -> str:
    await ctx.info("Only for those who ask for it.")
    return "Logged."


@tool
async def test_streaming_elicitation(ctx: Context) -> Asking:
    await ctx.report_progress(progress=1, total=2, message="About to ask")
    if answered(ctx, "user_name"):
        return f"Hello, {content_of(ctx, 'user_name', 'name')}!"
    return ask(user_name=form("What is your name?", name="string"))


@tool
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool
def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",  # noqa: PT028
) -> str:
    return f"region={region}"


@tool
async def test_missing_capability(ctx: Context) -> str:
    able = ctx.session.client_capabilities
    if able is None or able.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=types.MISSING_REQUIRED_CLIENT_CAPABILITY, message="No sampling", data=needed)
    return "The client samples."


@tool
async def test_reconnection(ctx: Context) -> str:
    await ctx.info("Before disconnect")
    await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    await ctx.info("After reconnect")
    return "Reconnection test completed"


@tool
async def test_trigger_tool_change(ctx: Context) -> str:
    server.add_tool(test_simple_text, name="test_dynamic_tool")
    server.remove_tool("test_dynamic_tool")
    await ctx.notify_tools_changed()
    return "The tools changed."


@tool
async def test_trigger_prompt_change(ctx: Context) -> str:
    server.add_prompt(Prompt.from_function(test_simple_prompt, name="test_dynamic_prompt"))
    server.remove_prompt("test_dynamic_prompt")
    await ctx.notify_prompts_changed()
    return "The prompts changed."


@tool
def json_schema_2020_12_tool() -> str:
    return "It is all in the schema."


server._tool_manager._tools["json_schema_2020_12_tool"].parameters = {  # the SDK has no other way to it
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


# Tools that ask, in the way of the client's era.


class Response(BaseModel):
    response: str = Field(description="User's response")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field("active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def titled(*options: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in options]


class Enums(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["one", "two"]})  # noqa: N815
    titledSingle: str = Field(json_schema_extra={"oneOf": titled(("low", "Low"), ("high", "High"))})  # noqa: N815
    untitledMulti: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": ["r", "w"]}})  # noqa: N815
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": titled(("bug", "A bug"))}})  # noqa: N815
    legacyEnum: str = Field(json_schema_extra={"enum": ["s", "m"], "enumNames": ["Small", "Medium"]})  # noqa: N815


def ask_for_response(message: str) -> Elicit[Response]:
    return Elicit(message, Response)


def ask_with_defaults() -> Elicit[Defaults]:
    return Elicit("Please provide user information", Defaults)


def ask_for_choices() -> Elicit[Enums]:
    return Elicit("Please choose", Enums)


def ask_the_model(prompt: str) -> Sample:
    return Sample([types.SamplingMessage(role="user", content=text(prompt))], max_tokens=100)


def told(answer: ElicitationResult[Any]) -> str:
    content = answer.data.model_dump_json() if answer.action == "accept" else "{}"
    return f"action={answer.action}, content={content}"


@tool
async def test_elicitation(
    message: str, answer: Annotated[ElicitationResult[Response], Resolve(ask_for_response)]
) -> str:
    return f"User response: {told(answer)}"


@tool
async def test_elicitation_sep1034_defaults(
    answer: Annotated[ElicitationResult[Defaults], Resolve(ask_with_defaults)],
) -> str:
    return f"Elicitation completed: {told(answer)}"


@tool
async def test_elicitation_sep1330_enums(
    answer: Annotated[ElicitationResult[Enums], Resolve(ask_for_choices)],
) -> str:
    return f"Elicitation completed: {told(answer)}"


@tool
async def test_sampling(
    prompt: str, answer: Annotated[types.CreateMessageResult, Resolve(ask_the_model)]
) -> str:
    return f"LLM response: {getattr(answer.content, 'text', '')}"


# Tools that ask by returning questions: the way of the newer era alone.


def form(message: str, **properties: str) -> types.ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(words: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(words))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=50)
    )


def ask(state: str | None = None, **requests: types.InputRequest) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def answered(ctx: Context, *names: str) -> bool:
    return set(names) <= (ctx.input_responses or {}).keys()


def content_of(ctx: Context, name: str, field: str) -> Any:
    answer = (ctx.input_responses or {}).get(name)
    return (answer.content or {}).get(field) if isinstance(answer, types.ElicitResult) else None


@tool
async def test_input_required_result_elicitation(ctx: Context) -> Asking:
    if answered(ctx, "user_name"):
        return f"Hello, {content_of(ctx, 'user_name', 'name')}!"
    return ask(user_name=form("What is your name?", name="string"))


@tool
async def test_input_required_result_sampling(ctx: Context) -> Asking:
    answer = (ctx.input_responses or {}).get("capital_question")
    if isinstance(answer, types.CreateMessageResult):
        return f"The model said: {getattr(answer.content, 'text', '')}"
    return ask(capital_question=sampling("What is the capital of France?"))


@tool
async def test_input_required_result_list_roots(ctx: Context) -> Asking:
    answer = (ctx.input_responses or {}).get("client_roots")
    if isinstance(answer, types.ListRootsResult):
        return f"There are {len(answer.roots)} roots."
    return ask(client_roots=types.ListRootsRequest())


@tool
async def test_input_required_result_request_state(ctx: Context) -> Asking:
    if answered(ctx, "confirm") and ctx.request_state == "a state":
        return "state-ok"
    return ask("a state", confirm=form("Please confirm", ok="boolean"))


@tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> Asking:
    if answered(ctx, "user_name", "greeting", "client_roots"):
        return "All inputs received."
    name, roots = form("What is your name?", name="string"), types.ListRootsRequest()
    return ask("several", user_name=name, greeting=sampling("Generate a greeting"), client_roots=roots)


@tool
async def test_input_required_result_multi_round(ctx: Context) -> Asking:
    state = json.loads(ctx.request_state or '{"round": 0}')
    if state["round"] == 1 and answered(ctx, "step1"):
        name = content_of(ctx, "step1", "name")
        following = json.dumps({"round": 2, "name": name})
        return ask(following, step2=form("Step 2: What is your favorite color?", color="string"))
    if state["round"] == 2 and answered(ctx, "step2"):
        return f"{state['name']} likes {content_of(ctx, 'step2', 'color')}."
    return ask('{"round": 1}', step1=form("Step 1: What is your name?", name="string"))


@tool
async def test_input_required_result_tampered_state(ctx: Context) -> Asking:
    if ctx.request_state is None:
        return ask("untouched", confirm=form("Please confirm", ok="boolean"))
    return f"state-ok: {ctx.request_state}"


@tool
async def test_input_required_result_capabilities(ctx: Context) -> types.InputRequiredResult:
    able = ctx.client_capabilities
    requests: dict[str, types.InputRequest] = {}
    if able is None or able.sampling is not None:
        requests["sample"] = sampling("Say hello")
    if able is None or able.elicitation is not None:
        requests["ask"] = form("What is your name?", name="string")
    return ask("by capability", **requests)


# Resources, prompts, completion.


@server.resource("test://static-text")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary")
def static_binary() -> bytes:
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data")
def template(id: str) -> str:  # noqa: A002
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource")
def watched() -> str:
    return "Watched resource content"


@prompt
def test_simple_prompt() -> list[UserMessage]:
    return [UserMessage(text("This is a simple prompt for testing."))]


@prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    return [UserMessage(text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
    resource = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(resource), UserMessage(text("Please process the embedded resource above."))]


@prompt
def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(image()), UserMessage(text("Please analyze the image above."))]


@prompt
async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | types.InputRequiredResult:
    if answered(ctx, "user_context"):
        return [UserMessage(text(f"Use this context: {content_of(ctx, 'user_context', 'context')}"))]
    return ask(user_context=form("What context should the prompt use?", context="string"))


@server.completion()
async def complete(reference: Any, argument: Any, context: Any) -> types.Completion:
    return types.Completion(values=[], total=0, has_more=False)


async def take_note(context: Any, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


# The SDK's server leaves these methods of the older era to its users, and has no public way to add them.
for method, params in {
    "logging/setLevel": types.SetLevelRequestParams,
    "resources/subscribe": types.SubscribeRequestParams,
    "resources/unsubscribe": types.UnsubscribeRequestParams,
}.items():
    server._lowlevel_server.add_request_handler(method, params, take_note)


async def serve_http() -> None:
    """Listen, say where, and answer until killed."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    app = server.streamable_http_app(event_store=Events(), retry_interval=100)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(app, http="h11", log_level="warning")).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(serve_http() if sys.argv[1] == "http" else server.run_stdio_async())
