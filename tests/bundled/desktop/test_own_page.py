"""Toolcrib's own page in a browser: a model can see it, and decide nothing there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.full_tools import FullTools

PAGE = """
<title>Toolcrib</title><body onclick="document.title = 'clicked'" onkeydown="document.title = 'typed'">
<button onclick="document.title = 'approved'" style="width: 90%; height: 300px">Allow</button>
"""


@pytest.mark.acceptance
async def test_the_page_in_chromium_takes_no_input_from_the_model(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    process = programs.start(
        "chromium", "--no-sandbox", "--disable-gpu", "--force-renderer-accessibility", "--no-first-run",
        "--disable-dev-shm-usage", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=800,600",
        page.as_uri(),
    )  # fmt: skip

    async def is_open() -> Any:
        listed = (await full.data("list_windows"))["windows"]
        return next((each for each in listed if each["title"].startswith("Toolcrib")), None)

    async def offers_elements() -> bool:
        tree = await full.backend.accessibility.tree(window["application"], 5)
        return any(each.name == "Allow" for each in tree.elements)

    window = await eventually(is_open, 60)
    await eventually(offers_elements, 60)
    parent = str(window["application"])
    found = await full.data("find_elements", parent=parent, selector="text:Allow", wait=1)
    assert found["elements"] == []
    await full.data("focus_window", window_id=window["id"])
    inside = {"x": 300, "y": 300, "space": "window", "reference": window["id"]}
    assert await full.reason("click", **inside) == "PERMISSION_DENIED"
    assert await full.reason("press_key", key="enter") == "PERMISSION_DENIED"
    assert await full.reason("type_text", text="y") == "PERMISSION_DENIED"
    assert (await full.data("get_window", name=str(window["id"])))["title"] == window["title"]
    assert process.poll() is None
