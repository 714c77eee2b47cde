"""A walk through every page of a large crib: load, scroll, type, filter, switch; it stops after each step."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Locator, Page, expect

from tests.web.browsing import DEADLINE_MS
from tests.web.large import LINES, WIDE_SERVER

_WHEELS = 15


def walk(page: Page, base: str, chat: str) -> Iterator[str]:
    """Each step by name, once it is done."""
    yield from _servers(page, base)
    yield from _tools(page, base)
    yield from _server(page, base)
    yield from _chat(page, base, chat)
    yield from _switching(page)


def _servers(page: Page, base: str) -> Iterator[str]:
    page.goto(f"{base}/servers")
    expect(page.locator('[data-server="shelf-01"]')).to_be_visible(timeout=DEADLINE_MS)
    expect(page.locator(f'[data-server="{WIDE_SERVER}"]')).to_contain_text("Running", timeout=DEADLINE_MS)
    yield "servers"
    _roll(page, page.locator("#main"), 600)
    yield "servers scrolled"
    _type(page.get_by_label("Filter servers"), "shelf-1")
    expect(page.locator("[data-server]")).to_have_count(10, timeout=DEADLINE_MS)
    yield "servers filtered"
    page.get_by_label("Filter servers").fill("")
    page.locator("#main").press("Control+k")
    _type(page.get_by_role("combobox", name="Search or run a command"), "tool_1234")
    expect(page.get_by_role("option", name="tool_1234 tool")).to_be_visible(timeout=DEADLINE_MS)
    yield "palette"
    page.keyboard.press("Escape")


def _tools(page: Page, base: str) -> Iterator[str]:
    page.goto(f"{base}/tools")
    expect(page.get_by_text("demo").first).to_be_visible(timeout=DEADLINE_MS)
    yield "tools"
    _roll(page, page.get_by_text("demo").first, 1500)
    yield "tools scrolled"
    _type(page.locator("[data-search]"), "filler number 12")
    expect(page.get_by_text("Ranking for this question")).to_be_visible(timeout=DEADLINE_MS)
    yield "tools searched"


def _server(page: Page, base: str) -> Iterator[str]:
    page.goto(f"{base}/servers/{WIDE_SERVER}")
    expect(page.get_by_text("tool_0000")).to_be_visible(timeout=DEADLINE_MS)
    yield "server"
    page.goto(f"{base}/servers/{WIDE_SERVER}?tab=log")
    expect(page.get_by_text(f"{LINES:,} lines")).to_be_visible(timeout=DEADLINE_MS)
    expect(page.get_by_text(f"row {LINES - 1} was read")).to_be_visible(timeout=DEADLINE_MS)
    yield "log"
    _roll(page, page.get_by_role("log", name="Server log"), -3000)
    yield "log scrolled"
    _type(page.get_by_label("Filter log"), "level:error 12345")
    expect(page.get_by_text("0 lines", exact=True)).to_be_visible(timeout=DEADLINE_MS)
    page.get_by_label("Filter log").fill("level:error 12344")
    expect(page.get_by_text("row 12344 was read")).to_be_visible(timeout=DEADLINE_MS)
    yield "log filtered"


def _chat(page: Page, base: str, chat: str) -> Iterator[str]:
    page.goto(f"{base}/chat/{chat}")
    expect(page.get_by_text("Question 249:").last).to_be_visible(timeout=DEADLINE_MS)
    yield "chat"
    _roll(page, page.get_by_role("log").first, -1200)
    yield "chat scrolled"
    _type(page.get_by_label("Ask something…"), "a question that is typed while all this stands above it")
    yield "chat typed"


def _switching(page: Page) -> Iterator[str]:
    rail = page.get_by_role("navigation", name="Main").first
    for name in ("Servers", "Tools", "Workflows", "Activity", "Connect", "Settings", "Chat"):
        rail.get_by_role("link", name=name).click()
        expect(rail.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
        yield f"to {name}"


def _roll(page: Page, over: Locator, by: int) -> None:
    over.hover()
    for _ in range(_WHEELS):
        page.mouse.wheel(0, by)
        page.wait_for_timeout(30)  # As a hand does; nothing waits for it.


def _type(field: Locator, text: str) -> None:
    field.press_sequentially(text, delay=30)
