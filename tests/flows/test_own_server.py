"""A server of one's own: laid down, taken in, edited, and picked up again by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import UsageError
from toolcrib.serverkit.starter import lay_down


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A new server."""
    lay_down(tmp_path / "notes", "notes")
    return tmp_path / "notes"


def entry_of(folder: Path) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads((folder / "toolcrib.json").read_text())
    del entry["name"]
    return {**entry, "cwd": str(folder)}


def test_its_own_test_passes(notes: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=notes, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "Ran 3 tests" in done.stderr


async def test_nothing_about_it_is_unclear_to_a_model(crib: Any, notes: Path) -> None:
    crib.entry("notes", entry_of(notes))
    async with crib.open() as host:
        trial, remarks = await host.try_server("notes")

    assert trial.ok
    assert remarks == []


async def test_an_edit_is_picked_up_by_itself(crib: Any, notes: Path, until: Any) -> None:
    crib.entry("notes", entry_of(notes))
    async with crib.open() as host:
        await host.ready()
        words = notes / "descriptions.toml"
        words.write_text(words.read_text().replace("Convert a temperature", "Turn a temperature"))

        def turned() -> bool:
            found = {tool.name: tool.definition.description for tool in host.tools("notes")}
            return found.get("notes__convert", "").startswith("Turn a temperature")

        await until(host, turned, 60.0)


async def test_a_server_that_is_off_stays_off_whatever_is_edited(crib: Any, notes: Path) -> None:
    from toolcrib.host.lifecycle import file_states

    crib.entry("notes", {**entry_of(notes), "enabled": False})
    async with crib.open() as host:
        entry = host.config.servers["notes"]
        before = file_states(entry)
        assert set(before) == {"server.py", "test_server.py", "descriptions.toml"}
        (notes / "server.py").write_text("broken")
        assert file_states(entry) != before
        assert host.servers.status("notes").state == "disabled"


def test_nothing_is_written_over(notes: Path) -> None:
    with pytest.raises(UsageError, match="already exists"):
        lay_down(notes, "notes")


@pytest.mark.parametrize("name", ["", "Notes", "../notes", "a b", "-x", "1x", "x" * 51])
def test_a_name_that_would_not_do_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        lay_down(tmp_path / "folder", name)
    assert not (tmp_path / "folder").exists()
