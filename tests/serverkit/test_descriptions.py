"""Descriptions from a file reach the tools, and a word that fits nothing is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.errors import UsageError
from toolcrib.serverkit.descriptions import describe
from toolcrib.serverkit.server import ToolServer


def make(file: Path, text: str) -> ToolServer:
    server = ToolServer("words", "1")

    @server.tool()
    def count(text: str) -> int:
        """From the code."""
        return len(text)

    file.write_text(text)
    return describe(server, file)


def test_a_tool_and_its_parameters_are_described(tmp_path: Path) -> None:
    text = '[count]\ndescription = """\nFrom the file.\n"""\nparameters.text = "What to count."\n'
    definition = make(tmp_path / "d.toml", text).tools["count"].definition

    assert definition["description"] == "From the file."
    assert definition["inputSchema"]["properties"]["text"]["description"] == "What to count."


def test_what_the_file_does_not_say_stays(tmp_path: Path) -> None:
    assert make(tmp_path / "d.toml", "").tools["count"].definition["description"] == "From the code."


@pytest.mark.parametrize(
    "text", ["[cout]\n", '[count]\nparameters.txt = "x"\n', "count = 3\n", "[count", "\x00"]
)
def test_what_fits_nothing_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        make(tmp_path / "d.toml", text)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        describe(ToolServer("x", "1"), tmp_path / "absent.toml")
