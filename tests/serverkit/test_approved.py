"""A call does what its question showed; the id of the call travels from the host to the server."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.serverkit.approved import ChangedSinceAsked, ShownPreviews
from toolcrib.serverkit.caller_context import CALL_ID, call_id
from toolcrib.serverkit.server import ToolServer

START = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def quiet(message: dict[str, Any]) -> None:
    """No notification is needed."""


async def answers(server: ToolServer, *requests: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    session = server.session()
    await session.respond({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": START}, quiet)
    found = []
    for number, (method, params) in enumerate(requests, 1):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        answer = await session.respond(message, quiet)
        assert answer is not None
        found.append(answer["result"])
    return found


def about(call: str | None, **arguments: Any) -> dict[str, Any]:
    return {"name": "send", "arguments": arguments, **({"_meta": {CALL_ID: call}} if call else {})}


async def test_a_call_whose_meaning_changed_since_its_question_does_nothing() -> None:
    shown, book, sent = ShownPreviews(), {"bob": "bob@example.com"}, list[str]()
    server = ToolServer("post", "1", "")

    async def preview(name: str) -> dict[str, Any]:
        found = {"to": book[name]}
        shown.keep(found)
        return found

    async def send(name: str) -> str:
        shown.check({"to": book[name]})
        sent.append(book[name])
        return "sent"

    server.tool(preview=preview)(send)

    await answers(
        server, ("toolcrib/preview", about("c1", name="bob")), ("tools/call", about("c1", name="bob"))
    )
    requests = ("toolcrib/preview", about("c2", name="bob")), ("tools/call", about("c2", name="bob"))
    await answers(server, requests[0])
    book["bob"] = "evil@x.test"
    (refused,) = await answers(server, requests[1])
    await answers(server, ("tools/call", about(None, name="bob")))  # no approval was needed

    assert refused["isError"] is True
    assert "has changed since the user was asked" in refused["content"][0]["text"]
    assert sent == ["bob@example.com", "evil@x.test"]
    assert call_id.get() is None


def test_two_equal_calls_have_their_own_previews() -> None:
    shown = ShownPreviews()
    for call, text in (("a", "1"), ("b", "2")):
        token = call_id.set(call)
        shown.keep({"text": text})
        call_id.reset(token)

    token = call_id.set("b")
    with pytest.raises(ChangedSinceAsked):
        shown.check({"text": "1"})
    call_id.reset(token)
    token = call_id.set("a")
    shown.check({"text": "1"})
    call_id.reset(token)
