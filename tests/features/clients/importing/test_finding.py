"""Files are found where each host keeps them, those of a project too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolcrib.errors import NotFound
from toolcrib.features.clients.files.client import client_names, find_client
from toolcrib.features.clients.files.gateway import UserFolders
from toolcrib.features.clients.transfer.sources import find_sources, known_host, read_file, read_source
from toolcrib.features.clients.transfer.translation import write_entry


def put(file: Path, text: str = "{}") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("host", client_names())
def test_the_file_of_every_host_is_found_on_every_platform(host: str, platform: str, tmp_path: Path) -> None:
    places = UserFolders(home=tmp_path / "home", platform=platform)
    file = put(find_client(host).file(places))

    (found,) = find_sources(places, tmp_path, host)[:1]

    assert (found.host, found.file, found.workspace) == (host, file, None)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("codex", ".codex/config.toml"),
        ("zed", ".zed/settings.json"),
        ("librechat", "librechat.yaml"),
        ("copilot", ".github/mcp.json"),
        ("qwen", ".qwen/settings.json"),
        ("opencode", "opencode.json"),
        ("opencode", ".opencode/opencode.jsonc"),
        ("kiro", ".kiro/settings/mcp.json"),
        ("crush", ".crush.json"),
        ("amp", ".amp/settings.json"),
    ],
)
def test_the_files_of_a_project_are_found(host: str, name: str, tmp_path: Path) -> None:
    file = put(tmp_path / "project" / name, "")

    (found,) = find_sources(UserFolders(home=tmp_path / "home"), tmp_path / "project")

    assert (found.host, found.file, found.workspace) == (host, file, tmp_path / "project")


def test_servers_that_claude_code_keeps_for_a_project_are_found_in_its_own_file(tmp_path: Path) -> None:
    projects = {str(tmp_path): {"mcpServers": {"local": {"command": "run"}}}, "/other": {"mcpServers": {}}}
    put(tmp_path / "home" / ".claude.json", json.dumps({"projects": projects}))

    sources = find_sources(UserFolders(home=tmp_path / "home"), tmp_path)

    assert [[draft.name for draft in read_source(one).drafts] for one in sources] == [[], ["local"]]


def test_a_file_is_found_once_even_from_the_home_folder(tmp_path: Path) -> None:
    put(tmp_path / ".cursor" / "mcp.json")

    assert len(find_sources(UserFolders(home=tmp_path), tmp_path)) == 1


def test_a_host_that_nobody_knows_is_guessed_at() -> None:
    assert known_host("Claude Desktop") == "claude-desktop"
    with pytest.raises(NotFound) as caught:
        known_host("curser")
    assert "cursor" in caught.value.hint


MEMORY = {"command": "npx", "args": ["-y", "server-memory"]}


@pytest.mark.parametrize("name", ["settings.json", "mcp.json", "mcp-config.json"])
@pytest.mark.parametrize(
    "document",
    [
        {"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"memory": MEMORY}}},
        {"mcp.servers": {"memory": MEMORY}},
        {"servers": {"memory": MEMORY}},
        {"mcpServers": {"memory": {"type": "local", **MEMORY}}},
    ],
)
def test_servers_are_found_under_every_key_that_editors_use(
    tmp_path: Path, name: str, document: dict[str, object]
) -> None:
    file = put(tmp_path / name, json.dumps(document))

    (draft,) = read_file(file).drafts

    assert (draft.name, draft.entry["command"]) == ("memory", "npx")


def test_the_older_file_of_a_client_is_found_beside_the_current_one(tmp_path: Path) -> None:
    places = UserFolders(home=tmp_path, platform="linux")
    older = put(tmp_path / ".codeium/windsurf/mcp_config.json", '{"mcpServers": {}}')
    newer = put(tmp_path / ".config/devin/mcp_config.json", '{"mcpServers": {}}')

    assert [one.file for one in find_sources(places, tmp_path / "project", "windsurf")] == [newer, older]


@pytest.mark.parametrize("named", [True, False])
def test_a_transport_in_a_table_of_its_own_is_understood(tmp_path: Path, named: bool) -> None:
    servers = {
        "local": {"transport": {"type": "stdio", "command": "node", "args": ["s.js"], "env": {"K": "v"}}},
        "remote": {"transport": {"type": "streamableHttp", "url": "https://x.example.com/mcp"}},
        "older": {"transport": {"type": "sse", "url": "https://x.example.com/sse"}, "disabled": True},
    }
    name = "cline_mcp_settings.json" if named else "anything.json"
    file = put(tmp_path / name, json.dumps({"mcpServers": servers}))

    reading = read_file(file)

    assert reading.refused == {}
    entries = {draft.name: draft.entry for draft in reading.drafts}
    assert entries["local"] == {"command": "node", "args": ["s.js"], "env": {"K": "v"}}
    assert entries["remote"] == {"type": "http", "url": "https://x.example.com/mcp"}
    assert (entries["older"]["type"], entries["older"]["enabled"]) == ("sse", False)


@pytest.mark.parametrize("host", client_names())
def test_a_file_that_is_named_where_its_host_keeps_it_is_read_in_the_form_of_that_host(
    host: str, tmp_path: Path
) -> None:
    client = find_client(host)
    text = client.syntax.set_entries("", client.table, {"a": {client.dialect.command: "run"}})
    file = put(client.file(UserFolders(home=tmp_path, platform="linux")), text)

    assert read_file(file).source.host == host


def test_servers_of_opencode_are_found_where_either_version_has_them(tmp_path: Path) -> None:
    older = {"type": "local", "command": ["a", "b"], "environment": {"K": "{env:KEY}"}, "enabled": False}
    newer = {"type": "local", "command": ["c"], "cwd": "/srv", "disabled": True}
    document = {"mcp": {"one": older, "servers": {"two": newer}, "timeout": {"catalog": 9000}}}

    found = read_file(put(tmp_path / "opencode.json", json.dumps(document)))

    assert found.refused == {}
    assert {draft.name: draft.entry for draft in found.drafts} == {
        "one": {"command": "a", "args": ["b"], "env": {"K": "${KEY}"}, "enabled": False},
        "two": {"command": "c", "cwd": "/srv", "enabled": False},
    }


def test_an_older_opencode_is_given_no_key_that_it_would_refuse() -> None:
    entry = {"command": "a", "args": ["b"], "cwd": "/srv"}
    client = find_client("opencode")

    written = write_entry("opencode", client.title, client.dialect, "n", entry)

    assert written.entry == {"type": "local", "command": ["a", "b"]}
    assert written.notes == ("opencode does not support cwd.",)
