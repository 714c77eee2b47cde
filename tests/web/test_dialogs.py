"""The focus goes into every dialog, and back to where it was opened."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect
from playwright.sync_api import Error as BrowserError

from tests.web.browsing import ROOT, sign_in
from tests.web.dialogs import DIALOG, DIALOGS, FIELD, HANG, NARROW_ONLY, REFUSED, SELECT, WIDE_ONLY, Shown
from tests.web.running import Crib
from tests.web.screenshots.chart import draw_chart
from tests.web.screenshots.person import Person
from tests.web.screenshots.story import Story, story
from tests.web.waiting import until
from tests.web.workflows import mapped

SOURCES = ROOT / "frontend" / "src"
PATIENCE = 20_000
_OPENS = re.compile(r"<(?:Dialog|StepDialog)\b|<(?:Radix|Dialog)\.Content\b")
_FRAMES = ("ui/Dialog.tsx", "pages/add/StepDialog.tsx")
_OPEN = "[role=dialog], [role=alertdialog]"
_REMEMBER = """() => {
  if (!document.querySelector('[role=dialog], [role=alertdialog], [role=menu]'))
    window.opener0 = document.activeElement
}"""
_FOCUS = """() => {
  const now = document.activeElement
  const dialog = [...document.querySelectorAll('[role=dialog], [role=alertdialog]')].at(-1)
  if (now === document.body) return '(nothing)'
  if (now === dialog) return '(the dialog)'
  if (dialog && !dialog.contains(now)) return '(outside)'
  if (now.matches('input, textarea')) return '(a field)'
  if (now.matches('select')) return '(a select)'
  return now.getAttribute('aria-label') ?? now.textContent
}"""


def test_every_dialog_of_the_page_is_listed() -> None:
    found = Counter(
        {
            str(file.relative_to(SOURCES)): len(_OPENS.findall(file.read_text()))
            for file in SOURCES.rglob("*.tsx")
            if _OPENS.search(file.read_text()) and not file.name.endswith(".test.tsx")
        }
    )
    for frame in _FRAMES:
        del found[frame]

    assert found == Counter(shown.source for shown in DIALOGS)


def test_only_the_hook_decides_about_the_focus_of_a_dialog() -> None:
    for file in SOURCES.rglob("*.tsx"):
        text = file.read_text()
        assert "AutoFocus={" not in text, file
        assert text.count(".Content") == 0 or "useDialogFocus" in text or "Dialog as" not in text, file


@pytest.fixture(scope="module")
def told(browser: Browser) -> Iterator[Story]:
    """A crib with servers in every state, an account, an unused secret and two runs of a workflow."""
    room = Path(tempfile.mkdtemp(prefix="tc-"))
    try:
        person = Person(room / "ada")
        draw_chart(browser, person.picture)
        home = room / "crib"
        home.mkdir()
        with story(Crib(home), person) as found:
            furnish(found.crib)
            yield found
    finally:
        shutil.rmtree(room, ignore_errors=True)


def furnish(crib: Crib) -> None:
    values = {"user": "ada@example.org", "password": "sesame", "imap": "127.0.0.1:9", "smtp": "127.0.0.1:9"}
    crib.run("account_add", provider="imap", name="post", values=values, check=False)
    for _ in range(2):
        crib.run("workflow_run", name="monthly-bills")
    until(
        lambda: (
            len([run for run in crib.run("workflow_runs", name="monthly-bills")["runs"] if run["ended"]]) == 2
        )
    )


@pytest.mark.acceptance
@pytest.mark.timeout(900)  # every dialog, one after the other
@pytest.mark.parametrize("width", [1280, 390])
def test_the_focus_goes_in_and_comes_back(browser: Browser, told: Story, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = sign_in(context.new_page(), told.crib.sign_in_address(), "/servers")
    other = NARROW_ONLY if width > 1000 else WIDE_ONLY
    faults = [
        fault
        for shown in DIALOGS
        if shown.only != other
        for fault in faults_of(page, told.crib, told.chat, shown)
    ]
    context.close()

    assert faults == []


@pytest.mark.acceptance
@pytest.mark.parametrize("way", ["its own entry", "another program"])
def test_a_menu_whose_row_is_removed_leaves_the_focus_on_the_page(
    browser: Browser, told: Story, way: str
) -> None:
    told.crib.run("add", name="brief", entry={"command": "true"})
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = sign_in(context.new_page(), told.crib.sign_in_address(), "/servers")
    page.get_by_role("button", name="More for brief").press("Enter")
    entry = page.get_by_role("menuitem", name="Remove")
    expect(entry).to_be_visible()
    if way == "another program":
        told.crib.run("remove", name="brief")
    else:
        entry.press("Enter")
    expect(page.locator('[data-server="brief"]')).to_have_count(0)

    until(lambda: page.evaluate(_FOCUS) == "Servers")
    context.close()


def faults_of(page: Page, crib: Crib, chat: str, shown: Shown) -> Iterator[str]:
    """What is wrong with one dialog, closed in each of the ways it can be."""
    for way, leave in ways_of(shown).items():
        answer(page, shown.answers)
        try:
            [run, *_] = crib.run("workflow_runs", name="monthly-bills")["runs"]
            page.goto(f"{crib.base}{shown.at.replace('CHAT', chat).replace('RUN', run['run'])}")
            for fault in round_trip(page, crib, shown, way, leave):
                yield f"{shown.source} {shown.title!r} by {way}: {fault}"
        except (BrowserError, AssertionError) as error:
            yield f"{shown.source} {shown.title!r} by {way}: {str(error)[:300]}"
        page.unroute_all(behavior="ignoreErrors")


def ways_of(shown: Shown) -> dict[str, Callable[[Page], None]]:
    ways: dict[str, Callable[[Page], None]] = {"Escape": escape, "Close": close}
    if shown.finish:
        ways["finishing"] = lambda page: finish(page, shown.finish)
    return ways


def round_trip(
    page: Page, crib: Crib, shown: Shown, way: str, leave: Callable[[Page], None]
) -> Iterator[str]:
    for step in shown.steps:
        press(page, crib, step)
    dialog = page.locator(_OPEN).last
    expect(page.locator(_OPEN).filter(has_text=shown.title).last).to_be_visible()
    try:
        until(lambda: fits(page.evaluate(_FOCUS), shown.first))
    except AssertionError:
        yield f"opened with the focus on {page.evaluate(_FOCUS)!r}, not {shown.first!r}"
    leave(page)
    expect(dialog).to_have_count(0)
    gone = "!window.opener0.isConnected" if way != "finishing" else "true"
    back = f"() => document.activeElement === window.opener0 || {gone}"
    try:
        until(lambda: page.evaluate(back) and page.evaluate(_FOCUS) != "(nothing)")
    except AssertionError:
        yield f"left with the focus on {page.evaluate(_FOCUS)!r}"


def fits(now: str, wanted: str) -> bool:
    return now == wanted if wanted in (FIELD, SELECT, DIALOG) else now.startswith(wanted)


def press(page: Page, crib: Crib, step: str) -> None:
    """Do one step from the keyboard; what had the focus before the first dialog or menu is remembered."""
    if step == "conflict":
        return make_conflict(page, crib)
    kind, _, rest = step.rpartition("|")[2].partition("=")
    if kind == "key":
        return page.keyboard.press(rest)
    if kind == "fill":
        label, _, text = rest.partition("=")
        return page.locator(_OPEN).last.get_by_label(label).first.fill(text)
    if kind == "check":
        boxes = page.locator("#root").get_by_role("checkbox")
        boxes.first.wait_for()
        for box in boxes.all():
            box.check()
        return None
    role: Any = "button" if kind in ("file", "focus") else kind
    target = within(page, step).get_by_role(role, name=rest).filter(visible=True).first
    target.focus()
    page.evaluate(_REMEMBER)
    if kind == "file":
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Enter")
        graph = json.dumps(
            {
                **mapped("brought"),
                "name": f"brought-{page.viewport_size['width'] if page.viewport_size else 0}",
            }
        )
        return chooser.value.set_files(
            {"name": "brought.json", "mimeType": "application/json", "buffer": graph.encode()}
        )
    if kind != "focus":
        target.press("Space" if kind == "radio" else "Enter")
    return None


def within(page: Page, step: str) -> Page | Locator:
    scope, _, _ = step.rpartition("|")
    if scope:
        return page.locator(scope)
    open_ones = page.locator(f"{_OPEN}, [role=menu]")
    return open_ones.last if open_ones.count() else page.locator("#root")


def make_conflict(page: Page, crib: Crib) -> None:
    """Change the workflow here, and meanwhile elsewhere."""
    page.get_by_label("Description").fill("Mine")
    theirs = {**mapped("monthly-bills"), "description": f"Theirs {time.monotonic()}"}
    crib.run("workflow_save", workflow=theirs, expected_version=None)


def escape(page: Page) -> None:
    leave_all(page, lambda dialog: page.keyboard.press("Escape"))


def close(page: Page) -> None:
    """By the cross; the palette has none, and closes with a click beside it."""

    def press_cross(dialog: Locator) -> None:
        cross = dialog.get_by_role("button", name="Close").first
        cross.click() if cross.count() else page.mouse.click(3, 3)

    leave_all(page, press_cross)


def leave_all(page: Page, leave: Callable[[Locator], None]) -> None:
    """Also the dialogs below it; a question takes no answer in its first half second."""
    for _ in range(20):
        if page.locator(_OPEN).count() == 0:
            return
        leave(page.locator(_OPEN).last)
        page.wait_for_timeout(100)


def finish(page: Page, steps: tuple[str, ...]) -> None:
    for step in steps:
        press(page, Crib(Path()), step)


def answer(page: Page, answers: Any) -> None:
    for operation, value in answers.items():
        page.route(f"**/api/{operation}", partial(respond, value))


def respond(value: Any, route: Route) -> None:
    if value is HANG:
        return None
    if value is REFUSED:
        error = {"kind": "usage", "message": "Not now.", "hint": "", "retryable": False}
        return route.fulfill(status=400, json={"error": error})
    if callable(value):
        value = value(route.fetch().json())
    streamed = "event-stream" in route.request.headers.get("accept", "")
    if not streamed:
        return route.fulfill(json=value)
    events = value if isinstance(value, list) else []
    lines = [f"event: event\ndata: {json.dumps(one)}\n\n" for one in events]
    if not isinstance(value, list):
        lines.append(f"event: result\ndata: {json.dumps(value)}\n\n")
    return route.fulfill(content_type="text/event-stream", body="".join(lines))
