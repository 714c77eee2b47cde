"""A form in Chromium, whose elements are read through accessibility and whose fields only take keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.search import wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector

PAGE = """
<title>Form</title><input aria-label="Full name" id=n>
<button onclick="document.title = 'Sent ' + document.getElementById('n').value">Send it</button>
"""


@pytest.mark.acceptance
async def test_a_web_form_is_filled_in_and_sent(backend: Backend, programs: Programs, tmp_path: Path) -> None:
    page = tmp_path / "form.html"
    page.write_text(PAGE)
    programs.start(
        "chromium", "--no-sandbox", "--disable-gpu", "--force-renderer-accessibility", "--no-first-run",
        "--disable-dev-shm-usage", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=800,600",
        page.as_uri(),
    )  # fmt: skip

    async def titled(start: str) -> Window | None:
        return next((each for each in await backend.windows.list() if each.title.startswith(start)), None)

    window = await eventually(lambda: titled("Form"), 60)
    assert window is not None
    assert window.application is not None
    field = parse_selector({"text": "Full name", "attributes": {"editable": "true"}})
    found = await wait_for(backend, window.application, field, 30)
    written = await acting.write(backend, window.application, found.matches[0], "Jiří 山田")
    assert written.verified is not False
    button = parse_selector({"role": "button", "text": "Send it"})
    sent = await wait_for(backend, window.application, button, 10)
    await acting.click(backend, window.application, sent.matches[0], "single")
    assert await eventually(lambda: titled("Sent Jiří 山田"), 20)
