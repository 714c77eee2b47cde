"""What holds for every client of the folder, on a file as people have it."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from tests.features.clients.programs.samples import BROKEN, FILES
from toolcrib.errors import ConfigError, NotFound, UsageError
from toolcrib.features.clients.files.client import McpClient, client_names, find_client, snippet
from toolcrib.features.clients.files.file_changes import (
    FileChange,
    backup_of,
    is_ours,
    plan_connection,
    plan_removal,
    read_entries,
    write_change,
)
from toolcrib.features.clients.files.gateway import Address, Program

PROGRAM = Program(command="/opt/tool crib/bin/toolcrib", args=("serve", "--stdio", "--home", 'C:\\a "b" ü'))
ADDRESS = Address(url="http://127.0.0.1:8765/mcp/work", token="s3cret")
NAMES = client_names()
REMOTE = [name for name in NAMES if find_client(name).dialect.remote]


def connect(
    client: McpClient, file: Path, gateway: Program | Address = PROGRAM, name: str = "toolcrib"
) -> FileChange:
    change = plan_connection(client, file, name, client.entry(name, gateway))
    write_change(change)
    return change


def remove(client: McpClient, file: Path, name: str = "toolcrib") -> FileChange:
    change = plan_removal(client, file, name)
    write_change(change)
    return change


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "config"


def sample(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
    return file


def test_every_client_has_a_sample() -> None:
    assert set(NAMES) == set(FILES) == set(BROKEN)


@pytest.mark.parametrize("name", NAMES)
def test_every_line_that_was_there_is_still_there(name: str, file: Path) -> None:
    client, before = find_client(name), FILES[name]
    connect(client, sample(file, before))

    changes = list(difflib.ndiff(before.splitlines(), file.read_text().splitlines()))
    gone = [line[2:] for line in changes if line.startswith("- ")]
    # The line before the new one may get a comma; an object on one line grows on it.
    assert len(gone) <= 1
    for line in gone:
        assert line.replace(",", "").rstrip("}{") in file.read_text().replace(",", "")
    assert read_entries(client, file)["toolcrib"] == client.entry("toolcrib", PROGRAM)


@pytest.mark.parametrize("name", NAMES)
def test_connecting_twice_is_connecting_once(name: str, file: Path) -> None:
    client = find_client(name)
    connect(client, sample(file, FILES[name]))
    once = file.read_bytes()

    assert not connect(client, file).needed
    assert file.read_bytes() == once


@pytest.mark.parametrize("with_copy", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_removing_restores_the_file_to_the_byte(name: str, with_copy: bool, file: Path) -> None:
    client = find_client(name)
    connect(client, sample(file, FILES[name]))
    if not with_copy:
        backup_of(file).unlink()
    remove(client, file)

    restored = file.read_text()
    if not with_copy and name == "gemini":  # The table that we made stays, empty.
        restored = restored.replace('"oauth-personal",', '"oauth-personal"').replace(
            '\n  "mcpServers": {}', ""
        )
    assert restored == FILES[name]


@pytest.mark.parametrize("name", NAMES)
def test_removing_leaves_what_was_written_since(name: str, file: Path) -> None:
    client = find_client(name)
    connect(client, sample(file, FILES[name]))
    connect(client, file, name="second")
    remove(client, file)

    entries = read_entries(client, file)
    assert "toolcrib" not in entries
    assert entries["second"] == client.entry("second", PROGRAM)
    remove(client, file, "second")
    assert list(read_entries(client, file)) == [one for one in entries if one != "second"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_there_is_not_removed(name: str, file: Path) -> None:
    assert not remove(find_client(name), file).needed
    assert not remove(find_client(name), sample(file, FILES[name])).needed
    assert file.read_text() == FILES[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_or_empty_file_becomes_the_snippet(name: str, file: Path) -> None:
    client = find_client(name)
    entry = client.entry("toolcrib", PROGRAM)
    connect(client, file)

    assert file.read_text() == f"{snippet(client, 'toolcrib', entry)}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert not backup_of(file).exists()
    made = file.read_bytes()
    connect(client, sample(file, ""))
    assert file.read_bytes() == made


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_file_is_never_overwritten(name: str, file: Path) -> None:
    client = find_client(name)
    sample(file, BROKEN[name])

    with pytest.raises(ConfigError):
        connect(client, file)
    assert file.read_text() == BROKEN[name]
    sample(file, "").write_bytes(b"\xff\xfe{\x00}\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        connect(client, file)


@pytest.mark.parametrize("name", REMOTE)
def test_an_entry_changes_from_a_program_to_an_address_and_back(name: str, file: Path) -> None:
    client = find_client(name)
    connect(client, sample(file, FILES[name]))
    first = file.read_bytes()

    assert connect(client, file, ADDRESS).replaces
    assert read_entries(client, file)["toolcrib"] == client.entry("toolcrib", ADDRESS)
    assert "/opt/tool crib" not in file.read_text()
    connect(client, file)
    assert read_entries(client, file)["toolcrib"] == client.entry("toolcrib", PROGRAM)
    assert "s3cret" not in file.read_text()
    remove(client, file)
    connect(client, file)
    assert file.read_bytes() == first


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_a_byte_order_mark_are_kept(name: str, file: Path) -> None:
    client = find_client(name)
    before = b"\xef\xbb\xbf" + FILES[name].replace("\n", "\r\n").encode()
    sample(file, "").write_bytes(before)
    connect(client, file)

    after = file.read_bytes()
    assert after.startswith(b"\xef\xbb\xbf")
    assert after.count(b"\n") == after.count(b"\r\n") or name == "cursor"
    remove(client, file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", NAMES)
def test_a_token_is_in_the_file_and_in_nothing_that_is_shown(name: str) -> None:
    client = find_client(name)
    if not client.dialect.remote:
        with pytest.raises(UsageError, match="cannot use servers with an address"):
            client.entry("toolcrib", ADDRESS)
        return
    assert "Bearer s3cret" in str(client.entry("toolcrib", ADDRESS))
    assert "s3cret" not in str(client.entry("toolcrib", ADDRESS.hidden()))
    assert "s3cret" not in repr(ADDRESS)


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_of_ours_is_known_by_any_name(name: str) -> None:
    client = find_client(name)

    assert is_ours("toolcrib", None)
    assert is_ours("crib", client.entry("crib", PROGRAM))
    assert not is_ours("crib", {"command": "npx", "args": ["serve"]})


@pytest.mark.parametrize("word", ["claude-dektop", "Cursr", "vs code", "gemini-cli"])
def test_an_unknown_client_may_have_been_meant_otherwise(word: str) -> None:
    with pytest.raises(NotFound) as caught:
        find_client(word)

    assert caught.value.hint.startswith("Did you mean")
