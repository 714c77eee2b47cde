"""Single tools are switched on and off in the file, whichever of its spellings it uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib.config.store import ConfigStore
from toolcrib.config.tool_switches import switch_tool
from toolcrib.errors import UnknownServer, UsageError


def entry_after(tmp_path: Path, keys: dict[str, Any], tool: str, on: bool) -> dict[str, Any]:
    """The entry once the tool was switched."""
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"x": {"command": "y", **keys}}, "other": 1}))
    switch_tool(ConfigStore(path), "x", tool, on)
    document = json.loads(path.read_text())
    assert document["other"] == 1
    found: dict[str, Any] = document["mcpServers"]["x"]
    return {key: value for key, value in found.items() if key != "command"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"tools": {"exclude": ["a"]}}),
        ({"tools": {"include": ["a", "b"]}}, {"tools": {"include": ["a", "b"], "exclude": ["a"]}}),
        ({"tools": ["a", "b"]}, {"tools": ["a", "b"], "excludeTools": ["a"]}),
        ({"excludeTools": ["b"]}, {"excludeTools": ["b", "a"]}),
        ({"disabledTools": ["b"]}, {"disabledTools": ["b", "a"]}),
        ({"excludeTools": ["a*"]}, {"excludeTools": ["a*"]}),
        ({"tools": ["b"]}, {"tools": ["b"]}),
    ],
)
def test_a_tool_is_switched_off(tmp_path: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    assert entry_after(tmp_path, before, "a", False) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"tools": {"exclude": ["a"]}}, {}),
        ({"tools": {"exclude": ["a", "b"]}}, {"tools": {"exclude": ["b"]}}),
        ({"disabledTools": ["a"]}, {"disabledTools": []}),
        ({"tools": ["b"]}, {"tools": ["b", "a"]}),
        ({"includeTools": ["b"]}, {"includeTools": ["b", "a"]}),
        ({}, {}),
    ],
)
def test_a_tool_is_switched_on(tmp_path: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    assert entry_after(tmp_path, before, "a", True) == after


def test_a_name_is_meant_to_the_letter(tmp_path: Path) -> None:
    after = entry_after(tmp_path, {}, "a[b]*", False)

    assert after == {"tools": {"exclude": ["a[[]b][*]"]}}


def test_what_a_pattern_keeps_off_is_not_switched_on(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"pattern 'a\*' of x turns abc off"):
        entry_after(tmp_path, {"excludeTools": ["a*"]}, "abc", True)


def test_a_server_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {}}')
    with pytest.raises(UnknownServer):
        switch_tool(ConfigStore(tmp_path / "mcp.json"), "x", "a", False)
