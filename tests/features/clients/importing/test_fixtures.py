"""All files of other hosts import, and going out and in again changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.features.clients.programs.samples import FILES
from toolcrib.config.drafts import map_texts
from toolcrib.config.entries import parse_entry
from toolcrib.features.clients.files.client import client_names, find_client
from toolcrib.features.clients.transfer.dialect import Inexpressible, ReferenceWriter
from toolcrib.features.clients.transfer.plan import plan
from toolcrib.features.clients.transfer.sources import PLAIN_DIALECT, read_file
from toolcrib.features.clients.transfer.translation import write_entry

FIXTURES = sorted((Path(__file__).parent / "fixtures").iterdir())
HOSTS = {
    "claude_code.mcp.json": "claude-code",
    "claude_desktop_config.json": "claude-desktop",
    "cline_mcp_settings.json": "cline",
    "codex.config.toml": "codex",
    "cursor.mcp.json": "cursor",
    "gemini.settings.json": "gemini",
    "goose.config.yaml": "goose",
    "librechat.yaml": "librechat",
    "vscode.mcp.json": "vscode",
    "windsurf.mcp_config.json": "windsurf",
    "zed.settings.json": "zed",
    "lm_studio.mcp.json": "lm-studio",
    "copilot.mcp-config.json": "copilot",
    "qwen.settings.json": "qwen",
    "opencode.json": "opencode",
    "kiro.mcp.json": "kiro",
    "crush.json": "crush",
    "amp.settings.json": "amp",
}
TAKEN_FOR = {
    "claude_code.mcp.json": "plain",
    "copilot.mcp-config.json": "plain",
    "lm_studio.mcp.json": "plain",
    "qwen.settings.json": "gemini",
    "kiro.mcp.json": "cline",
}
"""What a file is taken for that has no sign of its own, and is not where its host keeps it."""
COUNTS = {
    **dict.fromkeys(HOSTS, 2),
    "claude_code.mcp.json": 3,
    "claude_desktop_config.json": 1,
    "gemini.settings.json": 3,
    "copilot.mcp-config.json": 3,
    "qwen.settings.json": 3,
    "crush.json": 3,
    "mcpb.manifest.json": 1,
    "registry.server.json": 1,
}


def taken_in(file: Path, knowledge: Any, host: str | None = None) -> dict[str, dict[str, Any]]:
    return {one.as_name: dict(one.entry) for one in plan(read_file(file, host), knowledge())}


def exported(host: str, servers: dict[str, dict[str, Any]]) -> str:
    client, text = find_client(host), ""
    for name, entry in servers.items():
        written = write_entry(host, client.title, client.dialect, name, entry)
        text = client.syntax.set_entries(text, client.table, {name: written.entry})
    return text


def without_secrets(servers: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: map_texts(entry, ReferenceWriter(PLAIN_DIALECT).write) for name, entry in servers.items()}


def test_there_is_a_file_of_every_host() -> None:
    assert set(HOSTS.values()) == set(client_names())
    assert len(FIXTURES) == 20


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.name)
def test_every_server_of_a_file_becomes_an_entry_of_ours(file: Path, knowledge: Any) -> None:
    servers = taken_in(file, knowledge)

    assert len(servers) == COUNTS[file.name]
    for name, entry in servers.items():
        assert parse_entry(name, entry).type in ("stdio", "http", "sse")
        assert "${answer:" not in json.dumps(entry)
        assert "Bearer t" not in json.dumps(entry)


@pytest.mark.parametrize("name", HOSTS)
def test_a_file_is_known_by_its_content(name: str, fixture: Any) -> None:
    assert read_file(fixture(name)).source.host == TAKEN_FOR.get(name, HOSTS[name])


@pytest.mark.parametrize("name", HOSTS)
def test_import_export_and_import_give_the_same_servers(
    name: str, fixture: Any, knowledge: Any, tmp_path: Path
) -> None:
    host = HOSTS[name]
    first = taken_in(fixture(name), knowledge, host)
    text = exported(host, first)
    again = tmp_path / "again"
    again.write_text(text)

    second = taken_in(again, knowledge, host)

    assert without_secrets(second) == without_secrets(first)
    assert exported(host, second) == text


@pytest.mark.parametrize("name", HOSTS)
def test_what_we_wrote_ourselves_is_known_again(
    name: str, fixture: Any, knowledge: Any, tmp_path: Path
) -> None:
    host = HOSTS[name]
    servers = taken_in(fixture(name), knowledge, host)
    (tmp_path / "again").write_text(exported(host, servers))

    found = plan(read_file(tmp_path / "again", host), knowledge(servers))

    assert {one.standing for one in found} == {"same"}
    assert {one.action for one in found} == {"skip"}


@pytest.mark.parametrize("host", client_names())
@pytest.mark.parametrize("name", HOSTS)
def test_a_server_goes_through_any_other_host(
    name: str, host: str, fixture: Any, knowledge: Any, tmp_path: Path
) -> None:
    """Where a host has no form for a server it says so; what it has a form for can be reached as before."""
    client = find_client(host)
    for server, entry in taken_in(fixture(name), knowledge, HOSTS[name]).items():
        try:
            written = write_entry(host, client.title, client.dialect, server, entry)
        except Inexpressible:
            continue
        (tmp_path / "file").write_text(client.syntax.set_entries("", client.table, {server: written.entry}))
        (back,) = taken_in(tmp_path / "file", knowledge, host).values()
        kinds = {parse_entry(server, entry).type, parse_entry(server, back).type}
        assert len(kinds) == 1
        if any("does not support a default" in note for note in written.notes):
            continue
        for key in ("command", "args", "url"):
            assert without_secrets({server: back})[server].get(key) == entry.get(key)


@pytest.mark.parametrize("host", client_names())
def test_no_secret_is_ever_exported(host: str) -> None:
    client = find_client(host)
    local = {"command": "run", "env": {"API_KEY": "${secret:a.API_KEY}", "X": "${secret:b}"}}
    remote = {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${secret:a.t}"}}

    for entry in (local, remote):
        try:
            written = write_entry(host, client.title, client.dialect, "a", entry)
        except Inexpressible:
            continue
        assert "secret:" not in json.dumps(written.entry)
        told = [*(variable.secret for variable in written.variables), *written.notes]
        assert any("a." in text or "b" in text for text in told)


@pytest.mark.parametrize("host", client_names())
def test_files_as_people_have_them_are_read(host: str, tmp_path: Path) -> None:
    """With comments, other settings around, and more of a syntax than the entries need."""
    (tmp_path / "file").write_text(FILES[host])

    reading = read_file(tmp_path / "file", host)

    own = {name: reason for name, reason in reading.refused.items() if "Goose itself" not in reason}
    assert own == {}
    assert bool(reading.drafts) is (host not in ("windsurf", "gemini"))


WRITTEN = {
    "copilot": {"tools": ["*"], "type": "http"},
    "opencode": {"type": "remote", "headers": {"Authorization": "Bearer {env:A_TOKEN}"}},
    "crush": {"type": "http", "headers": {"Authorization": "Bearer ${A_TOKEN}"}},
    "amp": {"url": "https://x/mcp"},
    "kiro": {"url": "https://x/mcp", "headers": {"Authorization": "Bearer ${A_TOKEN}"}},
    "qwen": {"httpUrl": "https://x/mcp"},
    "lm-studio": {"url": "https://x/mcp", "headers": {"Authorization": "Bearer ${A_TOKEN}"}},
}


@pytest.mark.parametrize("host", WRITTEN)
def test_a_server_with_an_address_is_written_under_the_keys_of_its_host(host: str) -> None:
    client = find_client(host)
    remote = {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${A_TOKEN}"}}

    written = write_entry(host, client.title, client.dialect, "a", remote)

    assert {key: written.entry.get(key) for key in WRITTEN[host]} == WRITTEN[host]
    assert ("transport" in written.entry, "type" in written.entry) == (False, bool(client.dialect.types))


@pytest.mark.parametrize(
    ("host", "switch"),
    [("kiro", {"disabled": True}), ("crush", {"disabled": True}), ("opencode", {"enabled": False})],
)
def test_a_disabled_server_stays_disabled(host: str, switch: dict[str, bool]) -> None:
    client = find_client(host)

    entry = write_entry(host, client.title, client.dialect, "a", {"command": "run", "enabled": False}).entry

    assert {key: entry[key] for key in entry.keys() & {"disabled", "enabled"}} == switch


@pytest.mark.parametrize("host", ["copilot", "qwen", "amp", "lm-studio"])
def test_a_disabled_server_is_left_out_where_it_would_be_on(host: str) -> None:
    client = find_client(host)

    with pytest.raises(Inexpressible, match="disabled"):
        write_entry(host, client.title, client.dialect, "a", {"command": "run", "enabled": False})
