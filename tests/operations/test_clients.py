"""Clients from the page: listed, shown their entry, connected and disconnected in their own files."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib.config.tokens import hash_token
from toolcrib.errors import NotFound, UsageError
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.schema.tools import Principal

DEADLINE = 60.0


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    """A host with the bundled servers, of a person whose own folder is empty."""
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for variable in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    async with open_host(tmp_path / "home", watch=False) as opened:
        yield opened


async def ask(host: Host, operation: str, **params: Any) -> Any:
    async def emit(event: Any) -> None: ...

    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation(emit=emit))


async def test_a_client_is_connected_in_its_own_file_and_taken_out_again(host: Host, tmp_path: Path):
    file = tmp_path / "person" / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"mcpServers": {"mine": {"command": "mine"}}, "else": 1}')
    before = {one["client"]: one for one in await ask(host, "clients")}["cursor"]
    assert (before["found"], before["connected"], before["file"]) == (True, False, str(file))
    shown = await ask(host, "client_entry", client="cursor")
    done = await ask(host, "client_connect", client="cursor")
    content = json.loads(file.read_text())
    assert done["written"]
    assert Path(done["backup"]).exists()
    assert content["mcpServers"]["toolcrib"] == json.loads(shown["snippet"])["mcpServers"]["toolcrib"]
    assert (content["mcpServers"]["mine"], content["else"]) == ({"command": "mine"}, 1)
    assert {one["client"]: one for one in await ask(host, "clients")}["cursor"]["connected"]
    await ask(host, "client_connect", client="cursor", remove=True)
    assert json.loads(file.read_text()) == {"mcpServers": {"mine": {"command": "mine"}}, "else": 1}


async def test_the_command_for_a_terminal_names_the_profile(host: Host):
    await ask(host, "profile_add", name="everyday", search=True)
    shown = await ask(host, "client_entry", client="cursor", profile="everyday")
    assert shown["command"] == "toolcrib connect cursor --profile everyday"
    assert "--profile" in shown["snippet"]
    with pytest.raises(NotFound):
        await ask(host, "client_entry", client="claude_code", profile="nobody")


@pytest.mark.parametrize(
    ("client", "by_program", "by_address"),
    [
        (
            "claude_code",
            "claude mcp add --scope user toolcrib -- ",
            "claude mcp add --scope user --transport http",
        ),
        ("codex", "codex mcp add toolcrib -- ", "codex mcp add toolcrib --url "),
    ],
)
async def test_a_client_with_a_command_of_its_own_is_told_that_one(
    host: Host, client: str, by_program: str, by_address: str
):
    host.pages.address = "http://127.0.0.1:4180"
    shown = await ask(host, "client_entry", client=client)
    entry = shlex.split(shown["command"].removeprefix(by_program))
    assert shown["command"].startswith(by_program)
    assert all(json.dumps(word) in shown["snippet"] for word in entry)
    there = await ask(host, "client_entry", client=client, form="address")
    assert there["command"].startswith(by_address)
    assert there["command"].endswith(" http://127.0.0.1:4180/mcp")


async def test_a_command_of_a_client_never_holds_a_token(host: Host):
    host.pages.address = "http://127.0.0.1:4180"
    await ask(host, "profile_token", name="", token_hash=hash_token("secret"))
    shown = await ask(host, "client_entry", client="claude_code", form="address")
    assert shown["command"] == "toolcrib connect claude-code --http http://127.0.0.1:4180/mcp --token"


async def test_a_view_tells_the_end_of_its_token_and_when_a_person_is_asked(host: Host):
    await ask(host, "profile_add", name="everyday")
    await ask(host, "profile_token", name="everyday", token_hash=hash_token("tcrib_4f1e"), tail="4f1e")
    await ask(host, "settings_set", key="approvals.modes.gateway", value="always")
    whole, everyday = await ask(host, "profile_list")
    assert (everyday["token"], everyday["token_tail"], everyday["mode"]) == (True, "4f1e", "always")
    assert (whole["token"], whole["token_tail"]) == (False, "")
    again = await ask(host, "profile_token", name="everyday", token_hash=hash_token("another"))
    assert (again["token"], again["token_tail"]) == (True, "")
    assert "tokenTail" not in json.dumps(await ask(host, "settings_show"))


async def test_an_entry_whose_token_is_not_known_here_is_shown_but_not_written(host: Host):
    host.pages.address = "http://127.0.0.1:4180"
    await ask(host, "profile_token", name="", token_hash=hash_token("secret"))
    shown = await ask(host, "client_entry", client="cursor", form="address")
    assert shown["needs_token"]
    assert shown["command"] == "toolcrib connect cursor --http http://127.0.0.1:4180/mcp --token"
    with pytest.raises(UsageError, match="token"):
        await ask(host, "client_connect", client="cursor", form="address")


async def test_a_view_tells_when_it_was_last_used(host: Host):
    await ask(host, "profile_add", name="everyday", search=True)
    await host.ready()
    await host.call("demo__add", {"a": 1, "b": 2}, principal=Principal(name="gateway:everyday"))
    whole, everyday = await ask(host, "view_use")
    assert whole == {"name": "", "today": 0, "last_call": None}
    assert (everyday["name"], everyday["today"]) == ("everyday", 1)
    assert everyday["last_call"] is not None
