"""The commands of each page run one after the other, in a terminal and on a home of their own, as a reader
types them; what cannot run here is only parsed (`test_documented_commands.py`).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.architecture.documented import SHELL, Block, blocks
from tests.architecture.sessions import Reader

pytestmark = pytest.mark.acceptance

STEPS: dict[str, list[Block]] = {}
for _block in blocks():
    if _block.file or (_block.info in SHELL and not _block.not_run):
        STEPS.setdefault(_block.page, []).append(_block)


@pytest.mark.parametrize("page", STEPS)
def test_a_reader_can_follow_the_commands_of_a_page(page: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="tc-"))  # short: the address of a socket has little room
    reader = Reader(folder)
    try:
        for block in STEPS[page]:
            reader.follow(block)
    finally:
        reader.leave()
        shutil.rmtree(folder, ignore_errors=True)
