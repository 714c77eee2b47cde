"""Whatever a result holds, the client gets valid JSON with its id: half characters, NaN, deep nesting."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.gateway.speaking import ACCEPT, DEADLINE, Speaker
from toolcrib.cli.output import as_json
from toolcrib.config.paths import find_paths, make_private
from toolcrib.errors import ToolcribError
from toolcrib.gateway import wire
from toolcrib.gateway.wire import Encoded
from toolcrib.ipc import wire as ipc_wire
from toolcrib.ipc.client import connected
from toolcrib.ipc.server import serve as ipc_serve
from toolcrib.serverkit.encoding import HEAVY, Unencodable, encode, encode_message, weight
from toolcrib.tools.sources.inline import InlineServer


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


ODD = {
    "half a pair": ("a\ud800b", "a\ufffdb"),
    "a pair in halves": ("\ud83d\ude00", "\U0001f600"),
    "NaN": (float("nan"), None),
    "infinity": ({"x": [float("inf"), -float("inf")]}, {"x": [None, None]}),
    "depth 300": (nested(300), nested(300)),
    "a key with half a pair": ({"\udfff": 1}, {"\ufffd": 1}),
}


def refuse_constant(name: str) -> Any:
    raise ValueError(name)


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE) as client:
        yield client


@pytest.mark.parametrize("what", ODD)
async def test_an_odd_result_reaches_the_client_as_valid_json(what, serve, crib, client):
    given, wanted = ODD[what]
    async with serve() as (host, url):
        odd = InlineServer("odd")

        @odd.tool(read_only=True)
        def give() -> dict[str, Any]:
            """Give it."""
            return {}

        host.add_inline(odd)

        async def call(call: Any, on_progress: Any) -> dict[str, Any]:
            return {"content": [], "structuredContent": {"value": given}}

        host.toolset.inline.call = call
        for answer in (
            await Speaker(client, url).modern("tools/call", name="odd__give", arguments={}),
            await legacy_call(client, url),
        ):
            assert answer.status_code == 200
            message = json.loads(answer.content, parse_constant=refuse_constant)
            assert message["result"]["structuredContent"]["value"] == wanted


async def legacy_call(client: httpx2.AsyncClient, url: str) -> httpx2.Response:
    speaker = Speaker(client, url)
    await speaker.open()
    return await speaker.legacy("tools/call", request_id=7, name="odd__give", arguments={})


def test_what_cannot_be_written_becomes_an_error_with_the_same_id() -> None:
    message = json.loads(encode_message({"jsonrpc": "2.0", "id": 7, "result": nested(5000)}))

    assert (message["id"], message["error"]["code"]) == (7, -32603)
    assert "nested too deeply" in message["error"]["message"]


def test_one_message_of_a_batch_that_cannot_be_written_spoils_no_other() -> None:
    good = {"jsonrpc": "2.0", "id": 1, "result": {}}
    batch = json.loads(encode_message([good, {"jsonrpc": "2.0", "id": 2, "result": nested(5000)}]))

    assert batch[0] == good
    assert batch[1]["error"]["code"] == -32603


def test_a_value_that_is_no_json_at_all_is_refused() -> None:
    with pytest.raises(Unencodable):
        encode(nested(5000))


def test_a_list_that_cannot_be_written_becomes_an_error_with_the_same_id() -> None:
    unwritable = Encoded({"tools": nested(5000)})
    message = json.loads(wire.encode({"jsonrpc": "2.0", "id": "x", "result": unwritable}))

    assert (message["id"], message["error"]["code"]) == ("x", -32603)


@pytest.mark.parametrize("what", ODD)
def test_the_command_line_prints_valid_json(what: str) -> None:
    given, wanted = ODD[what]

    for indent in (None, 2):
        printed = json.loads(as_json({"value": given}, indent), parse_constant=refuse_constant)
        assert encode(printed["value"]) == encode(wanted)


def test_the_command_line_says_why_a_result_cannot_be_printed() -> None:
    with pytest.raises(ToolcribError, match="nested too deeply") as caught:
        as_json(nested(5000))
    assert caught.value.hint


def test_a_very_long_number_is_written_or_refused_and_never_lost() -> None:
    result = {"x": 10**5000}
    for data in (encode(result), wire.encode({"id": 1, "result": result}), ipc_wire.encode(result)):
        assert b"0" * 5000 in data


async def test_an_operation_whose_result_is_no_json_is_answered(tmp_path: Path) -> None:
    async def perform(operation: str, params: object, emit: Any) -> Any:
        return nested(5000) if operation == "deep" else {"x": float("nan"), "half": "\ud800"}

    paths = find_paths(tmp_path / "crib")
    make_private(paths.runtime)
    async with ipc_serve(paths, perform), connected(paths) as connection:
        assert connection is not None
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(ToolcribError, match="nested too deeply"):
                await connection.run("deep", {})
            assert (await connection.run("odd", {}))["half"] == "\ud800"


TEXT = {"type": "text", "text": "7"}
USUAL = [
    {"content": [TEXT], "isError": False},
    {"content": [TEXT], "structuredContent": {"sum": 7, "exact": True, "rest": None, "half": 3.5}},
    {"content": [TEXT], "resultType": "complete", "_meta": wire.completed({})["_meta"]},
]
LONG = {
    "text": "x" * HEAVY,
    "number": 1 << HEAVY,
    "list": [0] * HEAVY,
    "object": dict.fromkeys(range(HEAVY), 0),
}


@pytest.mark.parametrize("result", USUAL)
def test_a_usual_result_is_known_to_be_light(result: dict[str, Any]) -> None:
    assert wire._is_light(result)


@pytest.mark.parametrize("value", LONG)
@pytest.mark.parametrize(
    "place",
    [
        lambda value: {"content": [{**TEXT, "text": value}]},
        lambda value: {"content": [TEXT, value]},
        lambda value: {"content": value},
        lambda value: {"content": [TEXT], "structuredContent": {"short": 7, "long": value}},
        lambda value: {"content": [TEXT], "_meta": {"long": value}},
        lambda value: {"content": [TEXT], "more": value},
        lambda value: {"content": [TEXT], "structuredContent": {"x" * HEAVY: 7, "other": value}},
    ],
)
def test_a_heavy_result_is_never_taken_for_a_light_one(place: Any, value: str) -> None:
    result = place(LONG[value])

    assert weight(result) > HEAVY
    assert not wire._is_light(result)
