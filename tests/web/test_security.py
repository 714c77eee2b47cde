"""What web sites, other users and odd clients try at the page's address; each case is a known attack."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.raw import Raw, request, send
from tests.web.running import Crib
from toolcrib.operations.registry import operations

EVIL = "http://evil.test"
JSON = "Content-Type: application/json"
ROUTES = (
    "/",
    "/index.html",
    "/assets/x.js",
    "/servers",
    "/api/live",
    "/api/openapi.json",
    "/mcp",
    "/healthz",
)
ACTS = ("add", "test", "trust", "approval_answer", "call", "secret_set", "sign_in", "sign_out")


@pytest.fixture(scope="module")
def host() -> Iterator[Crib]:
    """One host for all of these; they change nothing."""
    import shutil
    import tempfile

    home = Path(tempfile.mkdtemp(prefix="tc-"))
    crib = Crib(home)
    try:
        crib.start()
        assert crib.key
        yield crib
        assert crib.stop() == ""
    finally:
        crib.stop()
        shutil.rmtree(home, ignore_errors=True)


def post(crib: Crib, path: str, body: bytes, *headers: str, host: str | None = None) -> Raw:
    return request(crib.port, f"POST {path}", *headers, body=body, host=host)


def bearer(crib: Crib) -> str:
    return f"Authorization: Bearer {crib.key}"


@pytest.mark.parametrize("name", [operation.name for operation in operations() if operation.page])
def test_no_operation_runs_without_a_key(host: Crib, name: str) -> None:
    for headers in ((), ("Authorization: Bearer tcpage_0000000000000000_x",), ("Authorization: Basic eDp5",)):
        answer = post(host, f"/api/{name}", b"{}", JSON, *headers)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/api/live", "/api/openapi.json", "/api/nothing", "/api/", "/api"])
def test_nothing_of_the_interface_is_read_without_a_key(host: Crib, path: str) -> None:
    assert request(host.port, f"GET {path}").status == 401


def test_a_server_is_neither_tested_nor_added_by_a_stranger(host: Crib, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    entry = {"command": sys.executable, "args": ["-c", f"open({str(ran)!r}, 'w')"]}
    body = json.dumps({"name": "evil", "entry": entry}).encode()

    assert post(host, "/api/add", body, JSON).status == 401
    assert post(host, "/api/test", b'{"command": "sh", "args": ["-c", "id"]}', JSON).status == 401
    assert not ran.exists()
    assert "evil" not in [one["name"] for one in host.run("servers")]


def test_a_server_that_a_page_adds_waits_for_a_person(crib: Crib, tmp_path: Path) -> None:
    crib.environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    ran = tmp_path / "ran"
    crib.run("add", name="new", entry={"command": sys.executable, "args": ["-c", f"open({str(ran)!r}, 'w')"]})

    found = {one["name"]: one for one in crib.run("servers")}
    refused = crib.post("/api/test", {"name": "new"})
    wrong = crib.post("/api/trust", {"names": ["new"], "agree": {"new": "0" * 32}})

    assert found["new"]["state"] == "needs-trust"
    assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "needs_trust")
    assert wrong.status_code == 400
    assert not ran.exists()
    assert [(one["kind"], one["server"]) for one in crib.run("waiting")["items"]] == [("trust", "new")]


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
)
def test_what_a_form_of_another_site_can_send_is_refused(host: Crib, name: str, kind: str | None) -> None:
    headers = [f"Content-Type: {kind}"] if kind else []
    for extra in ((), (bearer(host),)):
        answer = post(host, f"/api/{name}", b'{"name": "x"}', *headers, *extra)
        assert answer.status in (401, 415)
        answer = post(host, f"/api/{name}", b'{"name": "x"}', *headers, *extra, f"Origin: {EVIL}")
        assert answer.status == 403


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize(
    "header",
    [
        f"Origin: {EVIL}",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
        "Origin: http://localhost.evil.test",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ],
)
def test_other_origins_are_refused_even_with_the_key(host: Crib, name: str, header: str) -> None:
    answer = post(host, f"/api/{name}", b"{}", JSON, bearer(host), header)

    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers


def test_no_site_is_told_that_it_may(host: Crib) -> None:
    asked = (
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization,content-type",
    )
    for origin in (EVIL, f"http://127.0.0.1:{host.port}"):
        answer = request(host.port, "OPTIONS /api/add", f"Origin: {origin}", *asked)
        assert answer.status in (401, 403, 405)
        assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "name", ["evil.test", "evil.test:4180", "127.0.0.1.evil.test", "a/?x=", "", "127.0.0.1@evil.test"]
)
def test_every_path_is_served_under_our_names_only(host: Crib, path: str, name: str) -> None:
    answer = send(host.port, f"GET {path} HTTP/1.1\r\nHost: {name}\r\n{bearer(host)}\r\n\r\n".encode())

    assert answer.status in (400, 421)
    assert b"<html" not in answer.body


def test_two_hosts_are_one_too_many(host: Crib) -> None:
    both = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\nHost: evil.test\r\n\r\n"

    assert send(host.port, both.encode()).status == 400


@pytest.mark.parametrize(
    "line", ["GET @evil HTTP/1.1", "GET evil.test/x HTTP/1.1", "GET \\evil HTTP/1.1", "G@T / HTTP/1.1"]
)
def test_a_path_begins_with_a_slash(host: Crib, line: str) -> None:
    assert send(host.port, f"{line}\r\nHost: 127.0.0.1:{host.port}\r\n\r\n".encode()).status == 400


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://evil.test/healthz", 400),
        ("http://evil.test//api/servers", 400),
        ("http://127.0.0.1:{port}@evil.test/healthz", 400),
        ("http://user@127.0.0.1:{port}/healthz", 400),
        ("http://127.0.0.1:{other}/healthz", 400),
        ("http://127.0.0.1/healthz", 400),
        ("ftp://127.0.0.1:{port}/healthz", 400),
        ("http:/healthz", 400),
        ("http:///healthz", 400),
        ("http://127.0.0.1:{port}.evil.test/healthz", 400),
        ("http://127.0.0.1:{port}/healthz", 200),
        ("HTTP://127.0.0.1:{port}/healthz?x", 200),
        ("http://127.0.0.1:{port}/api/servers", 401),
    ],
)
def test_a_whole_address_as_target_has_the_host_of_the_header(host: Crib, target: str, status: int) -> None:
    line = target.format(port=host.port, other=host.port + 1)
    answer = send(host.port, f"GET {line} HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\n\r\n".encode())

    assert answer.status == status


@pytest.mark.parametrize(
    "path", ["//api/servers", "/x/../api/servers", "/%61pi/servers", "/API/servers", "/api//servers"]
)
def test_no_spelling_of_a_path_gets_past_the_door(host: Crib, path: str) -> None:
    assert request(host.port, f"POST {path}", JSON, body=b"{}").status in (401, 404, 405)


def test_other_machines_cannot_be_served(crib: Crib) -> None:
    assert crib.command("up", "--host", "0.0.0.0").code == 2
    crib.start()
    for address in _own_addresses():
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((address, crib.port), 5)


def _own_addresses() -> list[str]:
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return []
        return [probe.getsockname()[0]] if not probe.getsockname()[0].startswith("127.") else []


def test_the_gateway_beside_the_page_keeps_its_own_token(crib: Crib) -> None:
    crib.start()
    told = crib.command("profiles", "token", "--json")
    assert told.code == 0, told
    call = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'

    answer = post(crib, "/mcp", call, JSON)
    with_page_key = post(crib, "/mcp", call, JSON, bearer(crib))

    assert (answer.status, with_page_key.status) == (401, 401)
    assert "www-authenticate" in answer.headers


@pytest.mark.parametrize("path", ["/", "/api/live", "/mcp"])
def test_no_connection_is_upgraded(host: Crib, path: str) -> None:
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="

    foreign = request(host.port, f"GET {path}", *upgrade, key, f"Origin: {EVIL}")
    own = request(host.port, f"GET {path}", *upgrade, key, f"Origin: http://127.0.0.1:{host.port}")

    assert foreign.status == 403
    assert own.status != 101


def test_an_approval_that_is_not_there_is_not_found(host: Crib) -> None:
    for identity in ("1", "2", "../1", "x" * 1000):
        answer = host.post("/api/approval_answer", {"id": identity, "allow": True})
        assert answer.status_code == 404


@pytest.mark.parametrize(
    "path", ["/", "/servers/demo", "/assets/missing.js", "/api/openapi.json", "/api/nothing", "/theme.js"]
)
def test_every_answer_says_that_it_may_not_be_framed_sniffed_or_told_of(host: Crib, path: str) -> None:
    for headers in ((), (bearer(host),)):
        answer = request(host.port, f"GET {path}", *headers)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "form-action 'none'" in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert "set-cookie" not in answer.headers


def test_a_token_in_an_address_lets_nobody_in(host: Crib) -> None:
    token = host.sign_in_address().partition("#key=")[2]

    for query in (f"?token={token}", f"?key={host.key}", f"?access_token={host.key}"):
        assert request(host.port, f"POST /api/servers{query}", JSON, body=b"{}").status == 401
        assert request(host.port, f"GET /api/live{query}").status == 401


def test_a_key_in_a_cookie_lets_nobody_in(host: Crib) -> None:
    assert request(host.port, "POST /api/servers", JSON, f"Cookie: key={host.key}", body=b"{}").status == 401


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../serving.py",
        "/assets/%2e%2e/%2e%2e/serving.py",
        "/assets/..%5c..%5cserving.py",
        "/..%2f..%2fserving.py",
        "/%2e%2e/__init__.py",
        "//etc/passwd.txt",
        "/assets/%00.js",
        "/assets/..;/../serving.py",
        "/.git/config.txt",
        "/static/../serving.py",
    ],
)
def test_no_file_outside_the_page_is_served(host: Crib, path: str) -> None:
    answer = request(host.port, f"GET {path}")

    assert answer.status in (400, 404)
    assert b"import" not in answer.body
    assert b"root:" not in answer.body


def test_a_link_in_the_folder_of_the_page_leads_nowhere_else(host: Crib) -> None:
    assert request(host.port, "GET /assets/").status in (200, 404)
    assert b"Index of" not in request(host.port, "GET /assets/").body


@pytest.mark.parametrize(
    "body",
    [
        b'{"wait": NaN}',
        b'{"wait": Infinity}',
        b'{"wait": 1e999}',
        b'{"WAIT": 1}',
        b"[]",
        b'"servers"',
        b"null",
        b"{",
        b'{"wait": 1} trailing',
        b"\xff\xfe",
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b"[" * 100_000,
        b'{"wait": ' + b"9" * 5000 + b"}",
        b'{"\\ud800": 1}',
    ],
)
def test_odd_json_is_refused_and_harms_nothing(host: Crib, body: bytes) -> None:
    answer = post(host, "/api/servers", body, JSON, bearer(host))

    assert answer.status == 400
    assert answer.json["error"]["kind"] == "usage"
    assert host.run("servers")


def test_of_two_equal_keys_the_last_counts(host: Crib) -> None:
    answer = post(host, "/api/check", b'{"server": "nobody", "server": "demo"}', JSON, bearer(host))

    assert answer.json == {"server": "demo", "type": "inprocess"}


def test_a_huge_body_is_refused_before_it_is_sent(host: Crib) -> None:
    for headers in ((), (bearer(host),)):
        head = [
            "POST /api/servers HTTP/1.1",
            f"Host: 127.0.0.1:{host.port}",
            JSON,
            *headers,
            f"Content-Length: {1 << 30}",
            "",
            "",
        ]
        answer = send(host.port, "\r\n".join(head).encode())
        assert answer.status in (401, 413)
        assert answer.status == 413 or not headers


def test_the_home_is_for_its_user_alone(host: Crib) -> None:
    files = [file for file in host.home.rglob("*") if file.is_file() or file.is_socket()]
    private = [file for file in files if file.parent.name != "files" and "files" not in file.parts]

    assert any(file.name.endswith(".db") for file in private)
    open_ones = [file for file in private if file.stat().st_mode & 0o077 and not _is_closed(file, host.home)]
    assert not open_ones
    assert host.key not in "".join(_text(file) for file in files)


def _is_closed(file: Path, home: Path) -> bool:
    """True when a folder on the way lets nobody else in."""
    return any(folder.stat().st_mode & 0o077 == 0 for folder in file.parents if folder.is_relative_to(home))


def _text(file: Path) -> str:
    return file.read_bytes().decode("latin-1") if file.is_file() else ""


def test_an_error_tells_nothing_of_the_inside(host: Crib) -> None:
    seen = [
        host.post("/api/call", {"tool": "demo__add", "arguments": {"a": "x"}}),
        host.post("/api/servers", {"unknown": 1}),
        host.post("/api/nothing", {}),
        host.post("/api/__init__", {}),
        host.post("/api/..", {}),
        host.post("/api/logs", {"name": "../../etc/passwd"}),
    ]
    for answer in seen:
        assert answer.status_code >= 400
        assert set(answer.json()) == {"error"}
        for word in ("Traceback", 'File "', "site-packages", str(host.home), host.key):
            assert word not in answer.text


def test_operations_that_are_not_for_pages_are_not_there(host: Crib) -> None:
    for name in ("ask", "evaluate", "watch"):
        assert host.post(f"/api/{name}", {}).status_code == 404
