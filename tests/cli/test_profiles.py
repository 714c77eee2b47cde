"""`toolcrib profiles`: views and tokens, in the file and in a gateway that runs."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator

import httpx2
import pytest

from tests.cli.command_line import DEADLINE, CommandLine
from tests.cli.waiting import eventually

TOKEN = re.compile(r"tcrib_[A-Za-z0-9_-]{43}")


@pytest.fixture
def gateway(toolcrib: CommandLine) -> Iterator[str]:
    """A running gateway; its address."""
    process = toolcrib.start("serve", "--json")
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())["url"]
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (0, "")


def status(url: str, token: str = "") -> int:
    """What a request without a session is answered with: 400 where it was let in."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.get(url, headers=headers, trust_env=False, timeout=60).status_code


def test_a_profile_is_added_listed_changed_and_removed(toolcrib: CommandLine) -> None:
    added = toolcrib("profiles", "add", "quiet", "--server", "demo", "--read-only", "--json").json
    taken = toolcrib("profiles", "add", "quiet", "--json")
    changed = toolcrib("profiles", "add", "quiet", "--search", "-k", "3", "--replace", "--json").json
    whole, quiet = toolcrib("profiles", "--json").json
    table = toolcrib("profiles").out

    assert (added["path"], added["servers"], added["read_only"]) == ("/mcp/quiet", ["demo"], True)
    assert taken.code == 2
    assert "--replace" in taken.error["hint"]
    assert (changed["servers"], changed["search"], changed["k"]) == ([], True, 3)
    assert (whole["name"], whole["path"], quiet) == ("", "/mcp", changed)
    assert re.search(r"^quiet +/mcp/quiet +- +search tools", table, re.MULTILINE)
    assert toolcrib("profiles", "remove", "quiet", "--yes", "--json").json == {
        "name": "quiet",
        "removed": True,
    }
    assert toolcrib.config()["toolcrib"]["profiles"] == {}


def test_where_clients_are_asked_is_a_setting_of_each_view(toolcrib: CommandLine) -> None:
    toolcrib("profiles", "add", "quiet", "--approvals", "page")
    replaced = toolcrib("profiles", "add", "quiet", "--read-only", "--replace", "--json").json
    off = toolcrib("profiles", "approvals", "off", "quiet").out
    whole = toolcrib("profiles", "approvals", "page", "--json").json

    assert (replaced["approvals"], replaced["read_only"]) == ("page", True)
    assert off == (
        "/mcp/quiet: calls of Toolcrib's own tools that send, invite or delete run without approval.\n"
    )
    assert (whole["path"], whole["approvals"]) == ("/mcp", "page")
    assert [profile["approvals"] for profile in toolcrib("profiles", "--json").json] == ["page", "off"]
    assert toolcrib("profiles", "approvals", "off", "quit").code == 3


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("add", "a/b"), 2, "letters"),
        (("add", "x", "--server", "dmo"), 3, "demo"),
        (("remove", "quit", "--yes"), 3, "Did you mean quiet?"),
        (("token", "quit"), 3, "Did you mean quiet?"),
        (("remove", "quiet"), 4, "--yes"),
    ],
)
def test_what_cannot_be_done_is_explained(
    toolcrib: CommandLine, words: tuple[str, ...], code: int, hint: str
) -> None:
    toolcrib("profiles", "add", "quiet")

    answer = toolcrib("profiles", *words, "--json")

    assert answer.code == code
    assert hint in answer.error["hint"]


def test_a_token_is_shown_once_and_only_its_hash_is_kept(toolcrib: CommandLine) -> None:
    toolcrib("profiles", "add", "quiet")

    made = toolcrib("profiles", "token", "quiet")
    token = made.out.strip()

    assert TOKEN.fullmatch(token)
    assert token not in made.err
    assert toolcrib.config()["toolcrib"]["profiles"]["quiet"]["tokenHash"].startswith("sha256:")
    everything = [file.read_bytes() for file in toolcrib.home.rglob("*") if file.is_file()]
    assert not any(token.encode() in content for content in everything)
    assert toolcrib("profiles", "--json").json[1]["token"] is True


def test_a_token_is_replaced_and_taken_away_only_after_a_yes(toolcrib: CommandLine) -> None:
    first = toolcrib("profiles", "token", "--json").json
    refused = toolcrib("profiles", "token", "--json")
    second = toolcrib("profiles", "token", "--yes", "--json").json
    revoked = toolcrib("profiles", "token", "--revoke", "--yes", "--json").json

    assert (first["name"], first["path"]) == ("", "/mcp")
    assert refused.code == 4
    assert TOKEN.fullmatch(second["token"])
    assert first["token"] != second["token"]
    assert revoked["token"] is None
    assert "tokenHash" not in toolcrib.config()["toolcrib"]["gateway"]


def test_a_token_is_recognised_by_its_end_alone(toolcrib: CommandLine) -> None:
    toolcrib("profiles", "add", "quiet")
    token = toolcrib("profiles", "token", "quiet", "--json").json["token"]
    _, quiet = toolcrib("profiles", "--json").json

    assert quiet["token_tail"] == token[-4:]
    assert token[-8:] not in json.dumps(toolcrib.config())
    toolcrib("profiles", "add", "quiet", "--search", "--replace")
    assert toolcrib.config()["toolcrib"]["profiles"]["quiet"]["tokenTail"] == token[-4:]
    toolcrib("profiles", "token", "quiet", "--revoke", "--yes")
    assert toolcrib.config()["toolcrib"]["profiles"]["quiet"] == {"search": True}


def test_a_replaced_profile_keeps_its_token(toolcrib: CommandLine) -> None:
    toolcrib("profiles", "add", "quiet")
    toolcrib("profiles", "token", "quiet")
    before = toolcrib.config()["toolcrib"]["profiles"]["quiet"]

    toolcrib("profiles", "add", "quiet", "--read-only", "--replace")

    after = toolcrib.config()["toolcrib"]["profiles"]["quiet"]
    assert after == {"readOnly": True, **before}


def test_a_running_gateway_follows_at_once(toolcrib: CommandLine, gateway: str) -> None:
    quiet = f"{gateway}/quiet"
    assert status(quiet) == 404
    toolcrib("profiles", "add", "quiet", "--read-only")
    assert status(quiet) == 400
    token = toolcrib("profiles", "token", "quiet").out.strip()
    assert (status(quiet), status(quiet, token), status(quiet, f"{token}x")) == (401, 400, 401)
    fresh = toolcrib("profiles", "token", "quiet", "--yes").out.strip()
    assert (status(quiet, token), status(quiet, fresh)) == (401, 400)
    toolcrib("profiles", "token", "quiet", "--revoke", "--yes")
    assert status(quiet) == 400
    toolcrib("profiles", "remove", "quiet", "--yes")
    assert status(quiet) == 404


def test_edits_by_hand_are_followed_too(toolcrib: CommandLine, gateway: str) -> None:
    document = toolcrib.config()
    document["toolcrib"] = {"profiles": {"by-hand": {}}}
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))

    eventually(lambda: status(f"{gateway}/by-hand") == 400)


def test_others_are_let_in_only_where_every_view_has_a_token(toolcrib: CommandLine) -> None:
    toolcrib("profiles", "add", "quiet")
    refused = toolcrib("serve", "--host", "0.0.0.0", "--json")
    toolcrib("profiles", "token", "quiet")
    whole = toolcrib("serve", "--host", "0.0.0.0", "--json")

    assert refused.code == 2
    assert "toolcrib profiles token quiet" in refused.error["hint"]
    assert whole.code == 2
    assert "toolcrib profiles token" in whole.error["hint"]
    process = toolcrib.start("serve", "--host", "0.0.0.0", "--profile", "quiet", "--json")
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        assert url.endswith("/mcp/quiet")
        assert status(url) == 401
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE)


def test_how_many_are_found_and_what_is_always_on_are_settings(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    document = toolcrib.config()
    document["toolcrib"] = {"retrieval": {"k": 2, "alwaysOn": ["demo__a*"]}}
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))

    found = toolcrib("tools", "search", "read a file", "--json").json["tools"]
    table = toolcrib("tools", "search", "-k", "1", "read a file").out

    assert [tool["kind"] for tool in found] == ["always on", "match", "match"]
    assert found[0]["name"] == "demo__add"
    assert re.search(r"^demo__add +always on ", table, re.MULTILINE)
