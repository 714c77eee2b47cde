"""The page of clients has what `toolcrib connect` writes today, for each client."""

from __future__ import annotations

import runpy
from pathlib import Path

from toolcrib.features.clients.files.client import client_names

ROOT = Path(__file__).parents[3]


def test_the_texts_to_paste_are_those_that_connect_writes() -> None:
    made = runpy.run_path(str(ROOT / "scripts/client_pages.py"))["page"]()

    assert (ROOT / "docs/clients.md").read_text(encoding="utf-8") == made, "Run `make generated`."
    assert [name for name in client_names() if f"`toolcrib connect {name}`" not in made] == []
