"""Every operation over HTTP: its results are what it declares, its errors have the right status, and whoever
hangs up cancels it."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.waiting import eventually
from tests.web.declared import check_result
from tests.web.raw import request
from tests.web.running import Crib, Failed

ECHO = Path(__file__).parents[1] / "cli" / "small_server.py"


def use_puppet(crib: Crib) -> None:
    """A server that can be slow, and may be."""
    crib.server("puppet")
    crib.run("servers", wait=30)
    crib.run("policy_add", rule={"effect": "allow", "server": "puppet"})


def test_what_the_operations_answer_is_what_they_declare(crib: Crib, tmp_path: Path) -> None:
    """A day in the life of a host; `run` compares each answer with its declared type."""
    crib.setting(agent={"model": "demo"})
    crib.server("puppet").entry("absent", {"command": "/no/such/program"}).entry("odd", {"command": 5})
    crib.run("servers", wait=30)
    crib.run("overview")
    crib.run("host_info")
    crib.run("tools", disabled=True)
    crib.run("search", query="add two numbers")
    crib.run("call", tool="demo__add", arguments={"a": 1, "b": 2})
    with pytest.raises(Failed):
        crib.run("call", tool="demo__add", arguments={"a": "x"})
    for operation in ("disable", "enable"):
        crib.run(operation, name="demo")
    for operation in ("stop", "start", "restart"):
        crib.run(operation, name="puppet")
    crib.run("test", name="puppet")
    crib.run("test", name="absent")
    crib.run("test", name="odd")
    crib.run("check", server="odd")
    crib.run("logs", name="puppet")
    crib.run("trust", names=["puppet"])
    crib.run("audit")
    crib.run("models")
    crib.run("doctor", wait=10)
    crib.run("waiting")
    crib.run("approvals")
    crib.run("policy_list")
    rule = crib.run("policy_add", rule={"effect": "deny", "server": "demo", "tool": "add"})
    crib.run("policy_list")
    crib.run("policy_explain", tool="demo__add", arguments={"a": 1, "b": 2})
    crib.run("policy_remove", id=rule["id"])
    crib.run("profile_add", name="quiet", servers=["demo"], read_only=True)
    crib.run("profile_list")
    crib.run("profile_token", name="quiet")
    crib.run("profile_remove", name="quiet")
    crib.run("secret_set", name="TOKEN", value="abc")
    crib.run(
        "add",
        name="new",
        entry={"command": sys.executable, "args": [str(ECHO)], "env": {"T": "${secret:TOKEN}"}},
    )
    crib.run("secret_list")
    crib.run("overview")
    crib.run("remove", name="new")
    crib.run("secret_remove", name="TOKEN")
    crib.run("search_servers", query="git", registry=False)
    crib.run("export", host="cursor")
    crib.run("import_found", folder=str(tmp_path))
    crib.run("outdated")
    crib.run("chat_list")
    crib.run("page_address")
    crib.run("pages")
    for operation in ("off", "on"):
        crib.run(operation)


def test_a_result_that_is_not_as_declared_would_be_noticed(crib: Crib) -> None:
    (server, *_) = crib.run("servers")

    for wrong in ({**server, "more": 1}, {**server, "pid": "1"}, {**server, "state": "well"}, {}):
        with pytest.raises(AssertionError):
            check_result("servers", [wrong])


@pytest.mark.acceptance
def test_what_is_installed_and_imported_is_declared_too(crib: Crib, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "mine", "version": "1.0.0", "bin": "index.js"}')
    (folder / "index.js").write_text("")

    planned = crib.run("install", name="mine", reference=str(folder), dry_run=True, offline=True)
    text = json.dumps({"mcpServers": {"other": {"command": "echo", "env": {"KEY": "secret-value"}}}})
    found = crib.run("import_plan", file="pasted.json", text=text)
    crib.run("import_apply", file="pasted.json", text=text, digest=found["digest"])

    assert planned["installed"] is None
    assert "other" in [one["name"] for one in crib.run("servers")]


def test_a_stream_tells_each_step_and_then_the_result(crib: Crib) -> None:
    with crib.stream("test", name="demo") as events:
        told = list(events)

    assert [name for name, _ in told] == ["event"] * 3 + ["result"]
    assert told[-1][1]["ok"] is True


def test_the_error_of_a_stream_is_its_last_event(crib: Crib) -> None:
    with crib.stream("test", name="nobody") as events:
        ((name, error),) = list(events)

    assert (name, error["kind"]) == ("error", "unknown_server")


@pytest.mark.parametrize(
    ("operation", "params", "status", "kind"),
    [
        ("nothing", {}, 404, "not_found"),
        ("start", {"name": "nobody"}, 404, "unknown_server"),
        ("call", {"tool": "demo__nothing"}, 404, "unknown_tool"),
        ("call", {"tool": "demo__add", "arguments": {"a": "x"}}, 400, "invalid_arguments"),
        ("servers", {"wait": "long"}, 400, "usage"),
        ("servers", {"waiting": 1}, 400, "usage"),
        ("restart", {"name": "absent"}, 503, "server_not_ready"),
        ("call", {"tool": "puppet__fail"}, 404, "unknown_tool"),
    ],
)
def test_errors_have_the_status_that_fits(
    crib: Crib, operation: str, params: dict[str, Any], status: int, kind: str
) -> None:
    crib.entry("absent", {"command": "/no/such/program"})

    answer = crib.post(f"/api/{operation}", params)

    assert (answer.status_code, answer.json()["error"]["kind"]) == (status, kind)


def test_a_denied_call_is_forbidden(crib: Crib) -> None:
    crib.run("policy_add", rule={"effect": "deny", "server": "demo", "tool": "add"})

    with pytest.raises(Failed) as refused:
        crib.run("call", tool="demo__add", arguments={"a": 1, "b": 2})

    assert (refused.value.status, refused.value.error["kind"]) == (403, "denied")


def test_who_hangs_up_cancels_what_was_asked(crib: Crib) -> None:
    use_puppet(crib)
    body = json.dumps({"tool": "puppet__sleep", "arguments": {"seconds": 600}}).encode()
    head = f"POST /api/call HTTP/1.1\r\nHost: 127.0.0.1:{crib.port}\r\nAuthorization: Bearer {crib.key}\r\n"
    with socket.create_connection(("127.0.0.1", crib.port), 30) as connection:
        connection.sendall(
            f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
        eventually(lambda: crib.run("host_info")["counts"]["calls_running"] == 1)

    eventually(lambda: crib.run("host_info")["counts"]["calls_running"] == 0)
    assert crib.run("audit", limit=1)[0]["outcome"] == "cancelled"


def test_a_stream_that_nobody_reads_any_more_is_cancelled(crib: Crib) -> None:
    use_puppet(crib)
    with crib.stream("call", tool="puppet__sleep", arguments={"seconds": 600}):
        eventually(lambda: crib.run("host_info")["counts"]["calls_running"] == 1)

    eventually(lambda: crib.run("host_info")["counts"]["calls_running"] == 0)


def test_a_slow_operation_keeps_its_stream_alive(crib: Crib) -> None:
    use_puppet(crib)
    began = time.monotonic()
    with crib.stream("call", tool="puppet__sleep", arguments={"seconds": 11}) as events:
        told = list(events)

    assert told[-1][0] == "result"
    assert time.monotonic() - began > 10


@pytest.mark.acceptance  # the page has to be built
def test_head_is_get_without_the_body(crib: Crib) -> None:
    got, headed = request(crib.port, "GET /"), request(crib.port, "HEAD /", "Connection: close")

    assert headed.status == got.status == 200
    assert headed.headers["content-length"] == got.headers["content-length"]
    assert headed.body == b""
    assert len(got.body) == int(got.headers["content-length"])


def test_many_requests_go_over_one_connection(crib: Crib) -> None:
    import httpx2

    with httpx2.Client(base_url=crib.base, headers=crib.headers(), timeout=60) as client:
        answers = [client.post("/api/check", json={"server": "demo"}) for _ in range(50)]
        missing = client.post("/api/nothing", json={})
        health = client.get("/healthz")

    assert {answer.status_code for answer in answers} == {200}
    assert (missing.status_code, health.status_code) == (404, 200)


def test_a_page_reads_and_writes_no_file_that_it_names(crib: Crib, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"mcpServers": {"other": {"command": "echo"}}}')

    for operation, params in (
        ("import_plan", {"file": str(file)}),
        ("import_plan", {"file": str(file), "host": "cursor", "table": ["mcpServers"]}),
        ("import_apply", {"file": str(file), "digest": "x"}),
        ("export", {"host": "cursor", "file": str(tmp_path / "made.json"), "write": True}),
    ):
        assert crib.post(f"/api/{operation}", params).status_code == 403
    assert not (tmp_path / "made.json").exists()
