"""Whatever a result holds, the client gets valid JSON with its id: half characters, NaN, deep nesting."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.gateway.speaking import ACCEPT, DEADLINE, Speaker
from toolcrib.serverkit.encoding import Unencodable, encode, encode_message
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
