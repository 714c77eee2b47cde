"""A long result is shown completely or says what is kept of it, and only the part in view is drawn."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.browsing import sign_in
from tests.web.chatting import ask, card, said
from tests.web.running import Crib
from tests.web.vendor import Say, Vendor, call

pytestmark = pytest.mark.acceptance

SERVER = Path(__file__).parent / "programs" / "long_server.py"
LONGEST = 4_843_750
KEPT = 2_000_000
DRAWN = "(box) => [...box.querySelectorAll('pre')].reduce((sum, part) => sum + part.textContent.length, 0)"


@pytest.fixture
def longer(crib: Crib) -> Crib:
    crib.entry("long", {"command": sys.executable, "args": [str(SERVER)]})
    return crib.setting(approvals={"mode": "off"})


def scroll_to_end(box: Locator) -> None:
    """Parts are measured as they come into view, so that the end moves once."""
    box.evaluate("(box) => { box.scrollTop = box.scrollHeight }")


def check_windowed(page: Page, box: Locator, last: str) -> None:
    assert box.evaluate(DRAWN) < 400_000
    for _ in range(20):
        scroll_to_end(box)
        if last in box.locator("pre").last.inner_text():
            break
        page.wait_for_timeout(50)
    expect(box.locator("pre").last).to_contain_text(last)
    assert box.evaluate(DRAWN) < 400_000


def test_a_chat_says_how_much_of_a_result_is_kept(
    longer: Crib, model: Vendor, new_page: Callable[[], Page]
) -> None:
    model.say(call(("long__lines", {"size": LONGEST})), Say("Read."))
    page = sign_in(new_page(), longer.sign_in_address(), "/chat/new")
    ask(page, "Give me the lines.")
    expect(said(page, "Read.")).to_be_visible()
    found = card(page, "lines")
    found.get_by_role("button", name="Details").click()

    expect(found).to_contain_text("of 4,843,750 characters are shown. The first 2,000,000 are kept.")
    found.get_by_role("button", name="Show what is kept").click()
    expect(found).to_contain_text("The first 2,000,000 of 4,843,750 characters are kept.")
    expect(found.get_by_role("button", name="Show what is kept")).to_have_count(0)
    whole = "".join(f"line {number}\n" for number in range(KEPT // 8))[:KEPT]
    check_windowed(page, found.get_by_role("group", name="Result"), whole[-30:].splitlines()[-2])
    with page.expect_download() as saved:
        found.get_by_role("button", name="Download").click()
    assert Path(saved.value.path()).read_text() == whole


def test_the_tools_page_shows_all_of_a_result(longer: Crib, new_page: Callable[[], Page]) -> None:
    page = sign_in(new_page(), longer.sign_in_address(), "/tools?tool=long__lines")
    page.get_by_label("size").fill(str(LONGEST))
    page.get_by_role("button", name="Run tool").click()
    outcome = page.locator("section[data-outcome=ok]")

    expect(outcome).to_contain_text("The first 20,000 of 4,843,750 characters are shown.")
    outcome.get_by_role("button", name="Show all").click()
    expect(outcome).to_contain_text("All 4,843,750 characters are shown.")
    whole = "".join(f"line {number}\n" for number in range(LONGEST // 8))[:LONGEST]
    check_windowed(page, outcome.get_by_role("group", name="Result"), whole[-30:].splitlines()[-2])
    with page.expect_download() as saved:
        outcome.get_by_role("button", name="Download").click()
    assert Path(saved.value.path()).read_text() == whole


@pytest.mark.parametrize(("many", "button"), [(5_000, ""), (30_000, "Show all")])
def test_a_character_of_two_units_counts_once(
    longer: Crib, model: Vendor, new_page: Callable[[], Page], many: int, button: str
) -> None:
    result = json.dumps({"content": [text("😀" * many)]})
    model.say(call(("long__answer", {"result": result})), Say("Read."))
    page = sign_in(new_page(), longer.sign_in_address(), "/chat/new")
    ask(page, "Give me the faces.")
    expect(said(page, "Read.")).to_be_visible()
    page.reload()
    found = card(page, "answer")
    found.get_by_role("button", name="Details").click()

    if button:
        found.get_by_role("button", name=button).click()
        expect(found).to_contain_text(f"All {many:,} characters are shown.")
    else:
        expect(found.locator("pre")).to_have_text("😀" * many)


def text(content: str) -> dict[str, str]:
    return {"type": "text", "text": content}


_LONG_ID = '{"id": 12345678901234567890}'
_DRAWING = {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zy8+"}
_MATCH = {"rows": 3, "names": ["Ada", "Bob"]}


@pytest.mark.parametrize(
    ("result", "shown", "hidden"),
    [
        (
            {"content": [text("Row 2 failed.")], "structuredContent": {"rows": 3}},
            ["rows: 3", "Row 2 failed."],
            "",
        ),
        ({"content": [text('{"rows":  3}')], "structuredContent": {"rows": 3}}, ["rows: 3"], '"rows"'),
        (
            {"content": [text("Ada"), text("Bob")], "structuredContent": _MATCH},
            ['"Ada"', "rows: 3"],
            "\nAda\n",
        ),
        (
            {"content": [text("It failed.")], "structuredContent": {"code": 7}, "isError": True},
            ["It failed.", "7"],
            "",
        ),
        ({"content": [text(_LONG_ID)], "structuredContent": json.loads(_LONG_ID)}, [_LONG_ID], "id: "),
        ({"content": [_DRAWING]}, ["image/svg+xml"], "Empty result."),
        ({"content": [text("")]}, ["Empty result."], ""),
    ],
)
def test_the_tools_page_shows_each_part_of_a_result(
    longer: Crib, new_page: Callable[[], Page], result: dict[str, Any], shown: list[str], hidden: str
) -> None:
    page = sign_in(new_page(), longer.sign_in_address(), "/tools?tool=long__answer")
    page.get_by_label("result").fill(json.dumps(result))
    page.get_by_role("button", name="Run tool").click()
    outcome = page.locator("section[data-outcome]")

    for part in shown:
        expect(outcome).to_contain_text(part)
    assert not hidden or hidden not in outcome.inner_text()
