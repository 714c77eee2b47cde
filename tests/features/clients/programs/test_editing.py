"""Files are replaced as a whole, with a copy, in the mode and at the place they had."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from toolcrib.errors import ConfigError
from toolcrib.features.clients.files.client import find_client
from toolcrib.features.clients.files.file_changes import (
    plan_connection,
    plan_removal,
    read_entries,
    write_change,
)
from toolcrib.features.clients.files.gateway import Program

CURSOR = find_client("cursor")
ENTRY = CURSOR.entry("toolcrib", Program(command="/bin/toolcrib", args=("serve",)))


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_the_mode_is_kept_by_the_file_and_by_its_copy(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")
    file.chmod(mode)

    change = plan_connection(CURSOR, file, "toolcrib", ENTRY)
    write_change(change)

    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(change.backup.stat().st_mode) == mode
    assert change.backup.read_text() == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mcp.json", "mcp.json.bak"]


def test_a_link_to_a_dotfile_elsewhere_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_text('{"mcpServers": {}}')
    link = tmp_path / "mcp.json"
    link.symlink_to(Path("dotfiles") / "cursor.json")

    write_change(plan_connection(CURSOR, link, "toolcrib", ENTRY))

    assert link.is_symlink()
    assert not real.is_symlink()
    assert read_entries(CURSOR, real) == {"toolcrib": ENTRY}


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    change = plan_connection(CURSOR, file, "toolcrib", ENTRY)
    file.write_text('{"new": 1}')

    with pytest.raises(ConfigError, match="in the meantime"):
        write_change(change)
    assert file.read_text() == '{"new": 1}'


def test_keys_that_a_person_added_to_our_entry_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(
        '{"mcpServers": {"toolcrib": {"url": "http://old/mcp", "headers": {}, "env": {"A": "b"}}}}'
    )

    write_change(plan_connection(CURSOR, file, "toolcrib", ENTRY))

    assert read_entries(CURSOR, file)["toolcrib"] == {"env": {"A": "b"}, **ENTRY}


def test_an_old_copy_is_not_brought_back(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {}}')
    write_change(plan_connection(CURSOR, file, "toolcrib", ENTRY))
    file.write_text(file.read_text().replace('{"mcpServers"', '{"mine": 1, "mcpServers"'))

    write_change(plan_removal(CURSOR, file, "toolcrib"))

    assert file.read_text() == '{"mine": 1, "mcpServers": {}}'


def test_a_folder_in_the_way_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        plan_connection(CURSOR, tmp_path, "toolcrib", ENTRY)
