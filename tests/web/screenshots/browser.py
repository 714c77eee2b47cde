"""A browser whose system fonts are those of the design's pictures, so that the two can be compared."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.web.browsing import check_bundle, find_browser

_ALIASES = {
    "Inter": ("system-ui", "sans-serif", "sans", "ui-sans-serif"),
    "JetBrains Mono": ("ui-monospace", "monospace", "mono"),
}
_ALIAS = """  <match target="pattern">
    <test name="family"><string>{name}</string></test>
    <edit name="family" mode="assign" binding="strong"><string>{font}</string></edit>
  </match>"""


def _fonts(folder: Path) -> Path:
    """A configuration that gives those names these fonts."""
    aliases = [_ALIAS.format(name=name, font=font) for font, names in _ALIASES.items() for name in names]
    lines = [
        "<?xml version='1.0'?>",
        "<!DOCTYPE fontconfig SYSTEM 'fonts.dtd'>",
        "<fontconfig>",
        "  <include ignore_missing='yes'>/etc/fonts/fonts.conf</include>",
        *aliases,
        f"  <cachedir>{folder / 'cache'}</cachedir>",
        "</fontconfig>",
    ]
    file = folder / "fonts.conf"
    file.write_text("\n".join(lines))
    return file


@contextmanager
def photographer(folder: Path) -> Iterator[Browser]:
    """The browser; `folder` keeps what it needs."""
    check_bundle()
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(),
            args=[*arguments, "--disable-dev-shm-usage", "--font-render-hinting=none"],
            env={**os.environ, "FONTCONFIG_FILE": str(_fonts(folder))},
        )
        try:
            yield browser
        finally:
            browser.close()
