"""Runs axe in a page: its rules of WCAG 2.2 and of good practice."""

from __future__ import annotations

from typing import Any, Literal

from playwright.sync_api import Page, expect

from tests.web.browsing import ROOT

SCRIPT = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_ALL = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_OF_COLOUR = ("color-contrast", "link-in-text-block")
_RUN = """async (only) => {
  const found = await axe.run(document, { resultTypes: ["violations"], runOnly: only });
  return found.violations;
}"""


def look_over(page: Page) -> list[str]:
    """Every fault, in light and in dark: which rule, how grave, and where."""
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(SCRIPT.read_text())
    light = _faults(page, "light", {"type": "tag", "values": _ALL})
    # The same elements once more, so that only what has to do with colours can differ.
    dark = _faults(page, "dark", {"type": "rule", "values": _OF_COLOUR})
    return [*light, *dark]


def _faults(page: Page, theme: Literal["light", "dark"], only: dict[str, Any]) -> list[str]:
    page.emulate_media(color_scheme=theme)
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    found = page.evaluate(_RUN, only)
    return [f"{theme}: {_told(one, node)}" for one in found for node in one["nodes"]]


def _told(fault: dict[str, Any], node: dict[str, Any]) -> str:
    why = " ".join(str(node.get("failureSummary", "")).split())
    return f"{fault['id']} ({fault['impact']}) at {' '.join(map(str, node['target']))}: {why[:300]}"
