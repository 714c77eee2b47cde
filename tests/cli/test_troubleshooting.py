"""The page on troubleshooting quotes messages as the program writes them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
WRITTEN_IN = ("src/toolcrib/**/*.py", "frontend/src/**/*.ts*", "scripts/*.sh")
OF_OTHERS = {"command not found: toolcrib"}


def test_each_message_of_the_page_is_one_that_is_shown() -> None:
    sources = "\n".join(file.read_text() for pattern in WRITTEN_IN for file in ROOT.glob(pattern))
    # A message may be divided over several literals of a statement.
    joined = re.sub(r'"\s*\n\s*f?"', "", sources)
    rows = re.findall(r"^\| `([^`]+)`", PAGE.read_text(), re.MULTILINE)

    fragments = [part.strip(" .") for quoted in rows for part in quoted.split("…") if quoted not in OF_OTHERS]

    assert len(rows) > 25
    assert [part for part in fragments if part not in joined] == []
