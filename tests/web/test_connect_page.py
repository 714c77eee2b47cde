"""Connect in a real browser: a client is connected in its own file, a view gets a token that works."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import sign_in
from tests.web.running import DEADLINE, Crib


@pytest.fixture
def person(crib: Crib, tmp_path: Path) -> Path:
    """The folder of a person who has Cursor."""
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text('{"mcpServers": {"mine": {"command": "mine"}}}')
    crib.environment["HOME"] = str(tmp_path)
    return tmp_path


@pytest.fixture
def connect(crib: Crib, person: Path, new_page: Callable[[], Page]) -> Page:
    """The page."""
    return sign_in(new_page(), crib.sign_in_address(), "/connect")


def test_a_client_is_connected_by_a_click_and_keeps_its_own_servers(connect: Page, person: Path):
    connect.get_by_role("navigation", name="Clients").get_by_role("button", name="Cursor").click()
    expect(connect.get_by_text("toolcrib connect cursor")).to_be_visible()
    expect(connect.get_by_text("No connection yet. Restart the client.")).to_be_visible()
    file = person / ".cursor" / "mcp.json"
    before = file.read_text()
    connect.get_by_role("button", name="Add it for me").click()
    shown = connect.get_by_role("dialog", name="Add this entry to the config file of Cursor?")
    expect(shown).to_contain_text("mcp.json")
    expect(shown).to_contain_text('"--stdio"')
    assert file.read_text() == before
    shown.get_by_role("button", name="Add entry").click()
    expect(connect.get_by_role("status").filter(has_text="Added the entry for Cursor.")).to_be_visible()
    clients = connect.get_by_role("navigation", name="Clients")
    expect(clients.get_by_role("button", name="Cursor")).to_contain_text("configured")
    expect(connect.get_by_text("Connected", exact=True)).to_have_count(0)
    written = json.loads((person / ".cursor" / "mcp.json").read_text())["mcpServers"]
    assert set(written) == {"mine", "toolcrib"}
    assert written["toolcrib"]["args"][:2] == ["serve", "--stdio"]
    connect.get_by_role("button", name="Remove").click()
    expect(connect.get_by_role("button", name="Add it for me")).to_be_visible()
    assert set(json.loads((person / ".cursor" / "mcp.json").read_text())["mcpServers"]) == {"mine"}


def test_a_profile_with_a_token_lets_in_who_has_it_and_nobody_else(connect: Page, crib: Crib):
    connect.get_by_role("button", name="New profile").click()
    form = connect.get_by_role("dialog")
    form.get_by_label("Name").fill("sums")
    form.get_by_label("demo").check()
    form.get_by_role("button", name="Save").click()
    row = connect.get_by_role("listitem").filter(has_text="sums")
    expect(row).to_contain_text("4 tools")
    row.get_by_role("button", name="More for sums").click()
    connect.get_by_role("menuitem", name="Create token").click()
    shown = connect.get_by_role("dialog", name="Token for sums")
    expect(shown).to_contain_text("Copy it now. It won't be shown again.")
    token = shown.locator("pre").inner_text().strip()
    assert _list_tools(crib, "") == 401
    assert _list_tools(crib, token) == 200
    connect.keyboard.press("Escape")
    expect(row).to_contain_text(f"tcrib_…{token[-4:]}")
    assert token not in (crib.home / "mcp.json").read_text()
    row.get_by_role("button", name="More for sums").click()
    connect.get_by_role("menuitem", name="Revoke token").click()
    expect(
        connect.get_by_role("status").filter(has_text="Token revoked. Its clients were disconnected.")
    ).to_be_visible()
    assert (_list_tools(crib, token), _list_tools(crib, "")) == (401, 401)
    row.get_by_role("button", name="More for sums").click()
    connect.get_by_role("menuitem", name="Allow access without a token").click()
    expect(row).to_contain_text("none")
    assert _list_tools(crib, "") == 200


def test_clients_and_views_stand_in_their_order_and_a_client_has_its_own_command(connect: Page, crib: Crib):
    crib.run("profile_add", name="everyday", search=True)
    crib.run("profile_add", name="quiet", read_only=True)
    listed = connect.get_by_role("navigation", name="Clients").get_by_role("button")
    expect(listed.first).to_contain_text("Claude Desktop")
    assert [text.split("\n")[0] for text in listed.all_inner_texts()][:4] == [
        "Claude Desktop",
        "Claude Code",
        "Cursor",
        "VS Code",
    ]
    expect(listed.last).to_have_text("Other client")
    views = connect.get_by_role("radiogroup", name="Profile").get_by_role("radio")
    expect(views).to_have_text(["everyday", "quiet", "all tools"])
    connect.get_by_role("radio", name="everyday").click()
    listed.filter(has_text="Claude Code").click()
    expect(connect.locator(".snippet pre").first).to_contain_text("claude mcp add --scope user toolcrib -- ")
    expect(connect.locator(".snippet pre").first).to_contain_text("serve --stdio --profile everyday")
    row = connect.get_by_role("listitem").filter(has_text="the best matches for each question")
    expect(row).to_contain_text("through search, ask only if a rule says so")


def test_a_call_through_the_gateway_shows_as_seen(connect: Page, crib: Crib):
    connect.get_by_role("navigation", name="Clients").get_by_role("button", name="Other client").click()
    expect(connect.get_by_text(f"{crib.base}/mcp", exact=True)).to_be_visible()
    assert _call(crib) == 200
    expect(connect.get_by_text("1 today, offered")).to_be_visible()
    expect(connect.get_by_role("listitem").filter(has_text="the full list")).to_contain_text("just now")


def _ask(crib: Crib, path: str, method: str, params: dict[str, object], token: str = "") -> int:
    about = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        **({"Mcp-Name": str(params["name"])} if "name" in params else {}),
        **({"Authorization": f"Bearer {token}"} if token else {}),
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": about}}
    return httpx2.post(f"{crib.base}{path}", json=message, headers=headers, timeout=DEADLINE).status_code


def _list_tools(crib: Crib, token: str) -> int:
    return _ask(crib, "/mcp/sums", "tools/list", {}, token)


def _call(crib: Crib) -> int:
    return _ask(crib, "/mcp", "tools/call", {"name": "demo__add", "arguments": {"a": 1, "b": 2}})
