"""What a person is shown of a call: differences and commands, whole; odd files hold nothing up."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from toolcrib.host.call_preview import LARGEST_FILE, MOST_LINES, exhibit
from toolcrib.schema.tools import Tool, ToolDefinition


def tool(name: str, server: str | None = None) -> Tool:
    raw = {"name": name, "inputSchema": {"type": "object"}}
    definition = ToolDefinition(name=name, raw=raw)
    return Tool(name=name, server=server, origin="native", definition=definition, hash="0" * 64, tokens=1)


def shown(arguments: dict[str, Any], folder: Path | str = "") -> dict[str, Any]:
    return exhibit(tool("write_file"), arguments, ours=True, folder=str(folder))


def test_a_new_file_is_all_added(tmp_path: Path) -> None:
    found = shown({"path": "a.txt", "content": "one\ntwo\n"}, tmp_path)

    assert (found["kind"], found["new"], found["changed"]) == ("edit", True, 2)
    assert [line["kind"] for line in found["lines"]] == ["added", "added"]


def test_a_difference_that_is_cut_says_so(tmp_path: Path) -> None:
    found = shown({"path": "a.txt", "content": "line\n" * (MOST_LINES + 5)}, tmp_path)

    assert len(found["lines"]) == MOST_LINES + 1
    assert found["lines"][-1] == {"kind": "gap", "number": None, "text": "5 more lines: see the raw call"}


def test_lines_far_apart_stand_with_a_gap_between_them(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(40)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    lines[5], lines[30] = "here", "there"

    found = shown({"path": "a.txt", "content": "\n".join(lines)}, tmp_path)

    assert [line["kind"] for line in found["lines"]].count("gap") == 1
    added = [(line["number"], line["text"]) for line in found["lines"] if line["kind"] == "added"]
    assert added == [(6, "here"), (31, "there")]


def test_the_edits_of_file_servers_are_shown_in_their_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    edits = [{"oldText": "two", "newText": "2"}]

    found = shown({"path": str(tmp_path / "a.txt"), "edits": edits})

    changed = [(line["kind"], line["number"]) for line in found["lines"] if line["kind"] != "same"]
    assert changed == [("removed", 2), ("added", 2)]


def test_an_edit_that_fits_nowhere_is_shown_without_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("something else\n")
    edits = [{"oldText": "two", "newText": "2"}]

    found = shown({"path": str(tmp_path / "a.txt"), "edits": edits})

    assert [(line["kind"], line["number"], line["text"]) for line in found["lines"]] == [
        ("removed", None, "two"),
        ("added", None, "2"),
    ]


@pytest.mark.parametrize("odd", ["fifo", "folder", "binary", "huge"])
def test_what_is_no_plain_text_file_is_not_read(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "odd"
    if odd == "fifo":
        os.mkfifo(path)
    elif odd == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"\xff\xfe" if odd == "binary" else b"x" * (LARGEST_FILE + 1))

    found = shown({"path": "odd", "content": "new\n"}, tmp_path)

    assert [(line["kind"], line["text"]) for line in found["lines"]] == [("added", "new")]


def test_a_command_is_shown_by_its_parts_or_with_what_was_not_understood() -> None:
    terminal = tool("terminal")

    plain = exhibit(terminal, {"command": "ls -l && rm x"}, ours=True, folder="/project")
    odd = exhibit(terminal, {"command": "echo $(date)"}, ours=True, folder="/project")

    assert [(part["text"], bool(part["doubt"])) for part in plain["parts"]] == [
        ("ls -l", False),
        ("rm x", True),
    ]
    assert (odd["parts"], bool(odd["unread"])) == ([], True)


def test_a_tool_of_others_that_is_called_terminal_shows_its_arguments() -> None:
    assert exhibit(tool("terminal"), {"command": "ls"}, ours=False, folder="") == {"kind": "arguments"}


def test_a_command_shows_where_it_would_run_what_holds_it_and_for_how_long() -> None:
    def place(**given: Any) -> tuple[str, list[str]]:
        found = exhibit(
            tool("terminal"), {"command": "make", **given}, ours=True, folder="/home/me/code", sandbox="none"
        )
        return found["folder"], found["limits"]

    assert place() == ("/home/me/code", ["none", "120 s at most"])
    assert place(cwd="../other", timeout=30) == ("/home/me/other", ["none", "30 s at most"])
    assert place(cwd="/etc", timeout=900) == ("/etc", ["none", "120 s at most"])
    assert place(background=True) == ("/home/me/code", ["none", "continues in the background"])
