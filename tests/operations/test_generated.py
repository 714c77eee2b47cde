"""What is generated from the operations of all features is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.operations.generate import files


@pytest.mark.parametrize(("file", "text"), list(files()), ids=["index", "client"])
def test_what_is_generated_is_up_to_date(file: Path, text: str) -> None:
    assert file.read_text(encoding="utf-8") == text, "Run `make generated`."
