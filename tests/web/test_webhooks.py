"""Webhooks over HTTP on a real `toolcrib up`: what is accepted, what is refused, and what is logged."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.web.raw import DEADLINE, Raw, request, send
from tests.web.running import Crib

JSON = "Content-Type: application/json"
WORKFLOW = {
    "name": "ship",
    "inputs": {"order": {"type": "integer"}},
    "nodes": {"keep": {"type": "Set", "settings": {"values": {"order": "{{input.order}}"}}}},
    "outputs": {"order": "{{keep.order}}"},
}
MEBIBYTE = 1024 * 1024
UNKNOWN = "/hooks/tchook_0000000000000000_" + "a" * 43


@contextmanager
def serving(**gateway: Any) -> Iterator[Crib]:
    home = Path(tempfile.mkdtemp(prefix="tc-"))
    crib = Crib(home).empty().setting(gateway=gateway)
    try:
        crib.start()
        crib.run("workflow_save", workflow=WORKFLOW)
        yield crib
        assert crib.stop() == ""
    finally:
        crib.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def host() -> Iterator[Crib]:
    with serving(request_timeout=2) as crib:
        yield crib


@pytest.fixture(scope="module")
def path(host: Crib) -> str:
    return turned_on(host)


def turned_on(host: Crib) -> str:
    """The path of a webhook that is on."""
    settings = {"result": True, "largest": MEBIBYTE, "rate": 100_000}
    switched = host.run(
        "workflow_webhook", name="ship", inputs={"order": "{{event.body.order}}"}, settings=settings
    )
    assert switched["url"].startswith(f"{host.base}/hooks/tchook_")
    assert switched["trigger"]["state"] == "on"
    return str(switched["url"]).removeprefix(host.base)


def post(host: Crib, path: str, body: Any, *headers: str) -> Raw:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request(host.port, f"POST {path}", JSON, *headers, body=content)


def test_a_request_is_accepted_with_the_id_of_its_run(host: Crib, path: str) -> None:
    answer = post(host, path, {"order": 1})

    assert answer.status == 202
    assert answer.json["run"].startswith("ship-webhook-")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_request_can_wait_for_the_outputs_of_its_run(host: Crib, path: str) -> None:
    answer = post(host, f"{path}?wait=50", {"order": 2})

    assert (answer.status, answer.json["state"]) == (200, "finished")
    assert answer.json["outputs"] == {"order": 2}


@pytest.mark.parametrize("wait", ["", "?wait=50"])
@pytest.mark.parametrize(
    ("body", "reason"), [({"order": "two"}, "must be an integer"), ({"other": 2}, "order"), ([1], "order")]
)
def test_inputs_that_do_not_fit_are_refused_with_the_reason(
    host: Crib, path: str, wait: str, body: Any, reason: str
) -> None:
    answer = post(host, f"{path}{wait}", body)

    assert answer.status == 400
    assert reason in answer.json["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_only_post_is_accepted(host: Crib, path: str, method: str) -> None:
    answer = request(host.port, f"{method} {path}")

    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "target",
    [
        "/hooks",
        "/hooks/",
        "/hooks/x",
        "/hooks/../api/servers",
        "/hooks/..%2fapi%2fservers",
        "/hooks//api/servers",
        "/hooks/%00",
        "/hooks/" + "a" * 5000,
        UNKNOWN,
    ],
)
def test_other_paths_lead_nowhere(host: Crib, path: str, target: str) -> None:
    assert post(host, target, {"order": 1}).status == 404


def test_a_wrong_token_is_answered_as_an_unknown_one(host: Crib, path: str) -> None:
    wrong = post(host, path[:-3] + "AAA", {"order": 1})
    unknown = post(host, UNKNOWN, {"order": 1})

    assert (wrong.status, wrong.json) == (unknown.status, unknown.json)


def test_a_large_body_is_refused_before_it_is_sent(host: Crib, path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\nContent-Length: 99999999\r\n\r\n"

    assert send(host.port, head.encode()).status == 413
    assert post(host, path, b"1" * (MEBIBYTE + 1)).status == 413


def test_a_body_that_does_not_arrive_ends_the_request(host: Crib, path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\n{JSON}\r\nContent-Length: 100\r\n\r\n{{"

    assert send(host.port, head.encode()).status == 408


def test_a_page_of_another_site_is_refused(host: Crib, path: str) -> None:
    assert post(host, path, {"order": 1}, "Origin: http://evil.test").status == 403
    assert request(host.port, f"POST {path}", JSON, body=b"{}", host="evil.test").status == 421


@pytest.mark.acceptance
async def test_a_thousand_requests_at_once_are_each_answered() -> None:
    """Some are refused for now, none is lost: the accepted ones have a run."""

    async def one(number: int) -> tuple[int, str]:
        async with slots:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            body = json.dumps({"order": number}).encode()
            lines = [
                f"POST {path} HTTP/1.1",
                f"Host: 127.0.0.1:{port}",
                JSON,
                f"Idempotency-Key: {number % 50}",
                "Connection: close",
                f"Content-Length: {len(body)}",
            ]
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            answer = await reader.read()
            writer.close()
        status = int(answer.split()[1])
        return status, json.loads(answer.partition(b"\r\n\r\n")[2])["run"] if status == 202 else ""

    slots = asyncio.Semaphore(400)
    with serving() as host:
        port, path = host.port, turned_on(host)
        async with asyncio.timeout(DEADLINE * 2):
            answers = await asyncio.gather(*(one(number) for number in range(1000)))

    counts = Counter(status for status, _ in answers)
    assert set(counts) <= {202, 503}
    assert counts[202] >= 100
    assert len({run for status, run in answers if status == 202}) <= 50


def test_the_token_is_in_no_file_of_the_host(host: Crib, path: str) -> None:
    secret = path.split("_", 2)[2].encode()  # It may contain more of them.
    with socket.create_connection(("127.0.0.1", host.port), DEADLINE) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x".encode())  # cut off

    files = [file for file in host.home.rglob("*") if file.is_file()]

    assert len(files) > 3
    assert [file for file in files if secret in file.read_bytes()] == []


def test_a_new_address_makes_the_earlier_one_invalid(host: Crib, path: str) -> None:
    renewed = host.run("workflow_webhook", name="ship", inputs={}, settings={})["url"].removeprefix(host.base)

    assert post(host, path, {"order": 1}).status == 404
    assert post(host, renewed, {"order": 1}).status == 202

    host.run("workflow_trigger_set", name="ship", index=0, on=False)
    assert post(host, renewed, {"order": 1}).status == 404
    again = host.run("workflow_trigger_set", name="ship", index=0, on=True)
    assert again["url"] is None
    assert post(host, renewed, {"order": 1}).status == 202


@pytest.mark.acceptance
def test_an_accepted_request_starts_its_run_once_also_if_the_host_is_killed(crib: Crib) -> None:
    crib.empty().start()
    crib.run("workflow_save", workflow=WORKFLOW)
    settings = {"result": True, "rate": 100_000}
    inputs = {"order": "{{event.body.order}}"}
    url = crib.run("workflow_webhook", name="ship", inputs=inputs, settings=settings)["url"]
    path, port = url.removeprefix(crib.base), crib.port

    for order in range(30):
        accepted = post(crib, path, {"order": order}, f"Idempotency-Key: {order}")
        assert (accepted.status, accepted.json["repeated"]) == (202, False)
        if order % 10 == 9:
            assert crib.process is not None
            crib.process.kill()
            crib.process.communicate()
            crib.process = None
            crib.start(port=port)
    again = [
        post(crib, f"{path}?wait=60", {"order": order}, f"Idempotency-Key: {order}") for order in range(30)
    ]

    assert {answer.json["state"] for answer in again} == {"finished"}
    runs = crib.run("workflow_runs", name="ship", limit=1000)["runs"]
    assert len(runs) == 30
    assert {run["state"] for run in runs} == {"finished"}
