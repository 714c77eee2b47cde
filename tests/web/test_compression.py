"""Large JSON is sent compressed to clients that accept gzip; streams and small answers never are."""

from __future__ import annotations

import httpx2

from tests.web.running import DEADLINE, Crib

GZIP = {"Accept-Encoding": "br, gzip"}


def test_a_large_answer_is_compressed_for_a_client_that_accepts_it(crib: Crib) -> None:
    taken = crib.post("/api/tools", {"disabled": True}, **GZIP)
    plain = [
        crib.post("/api/tools", {"disabled": True}, **{"Accept-Encoding": given})
        for given in ("identity", "gzip;q=0")
    ]

    assert taken.headers["content-encoding"] == "gzip"
    assert int(taken.headers["content-length"]) < len(plain[0].content) / 2
    assert [("content-encoding" in one.headers, one.json()) for one in plain] == [(False, taken.json())] * 2
    assert {one.headers["vary"] for one in (taken, *plain)} == {"Accept-Encoding"}


def test_a_small_answer_is_sent_as_it_is(crib: Crib) -> None:
    answer = crib.post("/api/chats", {}, **GZIP)

    assert len(answer.content) < 1_000
    assert "content-encoding" not in answer.headers
    assert "vary" not in answer.headers


def test_a_head_request_has_the_headers_of_the_compressed_answer(crib: Crib) -> None:
    address, headers = f"{crib.base}/api/openapi.json", {**crib.headers(), **GZIP}
    head = httpx2.head(address, headers=headers, timeout=DEADLINE)
    whole = httpx2.get(address, headers=headers, timeout=DEADLINE)

    assert head.content == b""
    assert (head.headers["content-encoding"], head.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert head.headers["content-length"] == whole.headers["content-length"]


def test_a_stream_is_never_compressed(crib: Crib) -> None:
    headers = {**crib.headers(), **GZIP, "Accept": "text/event-stream"}
    address = f"{crib.base}/api/tools"
    with httpx2.stream("POST", address, json={"disabled": True}, headers=headers, timeout=DEADLINE) as answer:
        body = answer.read()

    assert "content-encoding" not in answer.headers
    assert body.startswith(b"event: result\ndata: [")
