"""Text that a program shows is read, whether it can be edited or not."""

from __future__ import annotations

from pathlib import Path

from tests.bundled.desktop.conftest import Programs
from tests.bundled.desktop.full_tools import FullTools
from toolcrib.bundled.desktop.elements.outline import shorten
from toolcrib.bundled.desktop.vision.text import find_ranges


def test_a_long_value_keeps_its_start_and_its_end() -> None:
    assert shorten("0123456789", 10) == "0123456789"
    assert shorten("0123456789ab", 10) == "01234…89ab"


def test_a_text_is_found_across_lines_and_case() -> None:
    text = "Net\nTotal:  1036, total: 1036"
    assert [text[start:end] for start, end in find_ranges(text, "total: 1036")] == [
        "Total:  1036",
        "total: 1036",
    ]
    assert list(find_ranges(text, "net total")) == [(0, 9)]


async def test_text_that_cannot_be_edited_is_read_found_and_placed(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    log = tmp_path / "log.txt"
    log.write_text("\n".join(["Ready", "Total: 1036 EUR", *(f"entry {number}" for number in range(4000))]))
    process = programs.start("zenity", "--text-info", f"--filename={log}", "--width=400", "--height=300")
    shown = await full.element(process, role="text")
    assert shown["value"].endswith("entry 3999")
    short = tmp_path / "short.txt"
    short.write_text("Ready\nTotal: 1036 EUR\n")
    process = programs.start("zenity", "--text-info", f"--filename={short}", "--width=400", "--height=300")
    shown = await full.element(process, role="text")
    assert shown["value"] == "Ready\nTotal: 1036 EUR\n"
    found = await full.data("find_text", text="total: 1036", app_name=str(process.pid))
    match = found["matches"][0]
    assert (match["source"], match["text"], match["confidence"]) == ("accessibility", "Total: 1036", 1.0)
    area = shown["bounds"]
    assert area["y"] < match["bounds"]["y"] < area["y"] + 60
    assert match["bounds"]["height"] < 40
