"""The headers of modern requests: what is mirrored, how it is encoded, which tools may not be used."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.remote.heard import Heard, legacy, modern, note, result
from tests.servers.remote.scripted import Call, Reply, scripted
from toolcrib.errors import PeerError
from toolcrib.servers.remote.headers import InvalidMark, encode_value, marked_parameters, parameter_headers
from toolcrib.servers.sessions.session import connect
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import http


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


def marked(name: Any, kind: Any = "string") -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": name}


async def send_all(*messages: dict[str, Any], tools: list[Any] | None = None) -> tuple[list[Call], Heard]:
    async def handler(call: Call, reply: Reply) -> None:
        if "id" not in call.message:
            await reply.send(202)
            return
        is_list = call.message["method"] == "tools/list"
        await reply.result(call, {"tools": tools} if is_list else {})

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        for message in messages:
            await link.send(message)
    return server.calls, heard


async def test_a_modern_request_names_its_version_its_method_and_its_target():
    calls, _ = await send_all(
        modern(1, "tools/list"),
        modern(2, "tools/call", name="add", arguments={}),
        modern(3, "resources/read", uri="file:///ä b"),
        modern(4, "prompts/get", name=" padded"),
    )
    for call in calls:
        assert call.headers["mcp-protocol-version"] == "2026-07-28"
        assert call.headers["mcp-method"] == call.message["method"]
        assert call.headers["accept"] == "application/json, text/event-stream"
        assert "mcp-session-id" not in call.headers
    assert [call.headers.get("mcp-name") for call in calls] == [
        None,
        "add",
        f"=?base64?{base64.b64encode('file:///ä b'.encode()).decode()}?=",
        "=?base64?IHBhZGRlZA==?=",
    ]


async def test_marked_parameters_travel_as_headers_once_the_list_was_seen():
    call = modern(2, "tools/call", name="query", arguments={"region": "eu", "n": 3, "deep": {"flag": True}})
    deep = {"type": "object", "properties": {"flag": marked("Flag", "boolean")}}
    listed = [tool("query", region=marked("Region"), n=marked("N", "integer"), deep=deep), tool("plain")]
    calls, heard = await send_all(call, modern(1, "tools/list"), call, tools=listed)
    assert not any(name.startswith("mcp-param-") for name in calls[0].headers)
    mirrored = {name: value for name, value in calls[2].headers.items() if name.startswith("mcp-param-")}
    assert mirrored == {"mcp-param-region": "eu", "mcp-param-n": "3", "mcp-param-flag": "true"}
    assert heard.messages[1] == result(1, {"tools": listed})


async def test_a_call_refused_for_its_headers_is_sent_again_once_the_list_was_seen_anew():
    marks = {"region": {"type": "string"}}

    async def handler(call: Call, reply: Reply) -> None:
        method = call.message["method"]
        if method == "server/discover":
            await reply.result(call, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        elif method == "tools/list":
            await reply.result(call, {"tools": [tool("query", **marks)]})
        elif "mcp-param-region" in call.headers:
            await reply.result(call, {"content": []})
        else:
            error = {"code": -32020, "message": "Mcp-Param-Region is missing"}
            await reply.json({"jsonrpc": "2.0", "id": call.message["id"], "error": error}, 400)

    async with scripted(handler) as server:
        spec, context = http.HttpSpec(url=server.url), LinkContext(server="query")
        async with connect("query", lambda inbox: http.open(spec, inbox, context)) as session:
            await session.list_tools(timeout=30)
            with pytest.raises(PeerError, match="missing"):
                await session.call_tool("query", {"region": "eu"}, timeout=30)
            marks["region"] = marked("Region")
            assert await session.call_tool("query", {"region": "eu"}, timeout=30) == {"content": []}
    methods = [call.message["method"] for call in server.calls if call.message]
    assert methods.count("tools/call") == 4
    assert methods.count("tools/list") == 3


async def test_a_tool_with_a_bad_mark_leaves_the_list_alone_and_says_why():
    listed = [tool("good"), tool("bad", a=marked("")), "odd", tool("late", a=marked("A"))]
    _, heard = await send_all(modern(1, "tools/list"), tools=listed)
    assert heard.messages == [result(1, {"tools": [listed[0], "odd", listed[3]]})]
    assert heard.log == ["Tool 'bad' is skipped: x-mcp-header of parameter 'a' is not a valid header name."]


async def test_the_legacy_era_knows_no_marks():
    listed = [tool("bad", a=marked(""))]
    calls, heard = await send_all(legacy(1, "tools/list"), legacy(2, name="bad", arguments={}), tools=listed)
    assert heard.messages[0] == result(1, {"tools": listed})
    assert not any(name.startswith("mcp-") for call in calls for name in call.headers)


async def test_the_modern_era_cancels_by_closing_and_answers_nobody():
    calls, _ = await send_all(
        modern(1, "tools/call", name="x"),
        note("notifications/cancelled", requestId=1),
        {"jsonrpc": "2.0", "id": "s1", "result": {}},
        note("notifications/roots/list_changed"),
    )
    assert [call.message["method"] for call in calls] == ["tools/call", "notifications/roots/list_changed"]
    assert calls[1].headers["mcp-method"] == "notifications/roots/list_changed"


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("", ""),
        ("two words", "two words"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ],
)
def test_values_are_encoded_as_the_specification_shows(value: str, header: str):
    assert encode_value(value) == header


@given(st.text())
def test_no_value_can_break_out_of_its_header_and_all_come_back(value: str):
    header = encode_value(value)
    assert header.isascii()
    assert header.isprintable()
    assert header == header.strip()
    if header.startswith("=?base64?"):
        assert base64.b64decode(header[9:-2]).decode() == value
    else:
        assert header == value


def test_absent_null_and_structured_values_have_no_header():
    marks = {("a",): "A", ("b", "c"): "C", ("d",): "D", ("e",): "E", ("f",): "F"}
    arguments = {"a": None, "b": "no object", "d": [1], "e": 42.0, "f": False}
    assert parameter_headers(marks, arguments) == {"Mcp-Param-E": "42", "Mcp-Param-F": "false"}
    assert parameter_headers(marks, None) == {}
    assert parameter_headers({("a",): "A"}, {"a": 10**5000}) == {}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": marked("")}},
        {"properties": {"a": marked("two words")}},
        {"properties": {"a": marked("a\r\nEvil: 1")}},
        {"properties": {"a": marked("Ä")}},
        {"properties": {"a": marked(7)}},
        {"properties": {"a": marked("A", "number")}},
        {"properties": {"a": marked("A", "object")}},
        {"properties": {"a": marked("A", ["string", "null"])}},
        {"properties": {"a": {"x-mcp-header": "A"}}},
        {"properties": {"a": marked("Same"), "b": marked("sAME")}},
        {"x-mcp-header": "Root", "type": "string"},
        {"properties": {"a": {"type": "array", "items": marked("A")}}},
        {"properties": {"a": {"anyOf": [marked("A")]}}},
        {"$defs": {"d": marked("A")}},
        {"if": {"properties": {"a": marked("A")}}},
    ],
)
def test_marks_that_break_the_rules_are_found(schema: dict[str, Any]):
    with pytest.raises(InvalidMark):
        marked_parameters(schema)


def test_what_only_looks_like_a_mark_is_none():
    data = {"x-mcp-header": ""}
    schema = {"properties": {"x-mcp-header": {"type": "number", "default": data, "enum": [data]}}}
    assert marked_parameters(schema) == {}
    assert marked_parameters(None) == {}
    assert marked_parameters({"properties": {"a": marked("A")}}) == {("a",): "A"}


def test_a_schema_of_any_depth_is_searched():
    schema: dict[str, Any] = marked("Deep")
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    assert list(marked_parameters(schema).values()) == ["Deep"]
