"""A browser that forgives nothing: an error in its console fails the test, which leaves a picture behind."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, ViewportSize, expect, sync_playwright

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "toolcrib" / "web" / "static"
LEFT = ROOT / ".cache" / "web-failures"
"""Where pictures of failed tests go."""
DEADLINE_MS = 60_000
WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
_PROGRAMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""The first one draws the same pages with a quarter less work, as it has no windows."""


def find_browser() -> str:
    """The system's Chromium."""
    found = os.environ.get("TOOLCRIB_TEST_BROWSER") or next(filter(None, map(shutil.which, _PROGRAMS)), None)
    assert found, (
        "These tests need Chromium: run `make needs`, or install it (Debian: apt-get install chromium)."
    )
    return found


def check_bundle() -> None:
    """The page must have been built."""
    assert (STATIC / "index.html").is_file(), "The page was not built: run `make page`."


@contextmanager
def browsing(*, scrollbars: bool = False) -> Iterator[Browser]:
    """One browser, whose scrollbars are hidden unless `scrollbars` is set.

    Only where all tests are plain functions: asyncio's own loop cannot run beside it.
    """
    check_bundle()
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(),
            args=[*arguments, "--disable-dev-shm-usage"],
            ignore_default_args=["--hide-scrollbars"] if scrollbars else None,
        )
        try:
            yield browser
        finally:
            browser.close()


class Complaints:
    """What the browser complained of; what a test expects is let pass."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._expected: list[re.Pattern[str]] = []

    def expect(self, pattern: str) -> None:
        """Let complaints pass that match this."""
        self._expected.append(re.compile(pattern))

    @property
    def unexpected(self) -> list[str]:
        """The rest."""
        return [text for text in self.seen if not any(one.search(text) for one in self._expected)]

    def watch(self, page: Page) -> None:
        """Listen to a page."""
        page.on("console", self._take)
        page.on("pageerror", lambda error: self.seen.append(f"uncaught: {error}"))

    def _take(self, message: ConsoleMessage) -> None:
        if message.type == "error" or "Content Security Policy" in message.text:
            self.seen.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")


def sign_in(page: Page, address: str, place: str = "/") -> Page:
    """Open a one-time address, at one place of the page or another, and wait until the page has its key.

    Who is new here is welcomed at `/`, with a call of the demo's `add`. The first page of a context hears the
    events, but none that came before it listens: the test continues once it does.
    """
    # Catches choosers from here on; `expect_file_chooser` begins to when a key may be on its way already.
    page.on("filechooser", lambda _: None)
    with _listening(page) if len(page.context.pages) == 1 else nullcontext():
        _exchange(page, address.replace("/#", f"{place}#"))
    signed_in = "() => !location.hash.includes('key=') && localStorage.getItem('toolcrib.key') !== null"
    # Not `wait_for_function`: it evaluates text inside the page, which the page's own policy forbids.
    for _ in range(DEADLINE_MS // 50):
        if page.evaluate(signed_in):
            return page
        page.wait_for_timeout(50)
    raise AssertionError("The page did not keep its key.")


@contextmanager
def _listening(page: Page) -> Iterator[None]:
    with page.expect_response(lambda answer: answer.url.endswith("/api/live")):
        yield


def _exchange(page: Page, address: str) -> None:
    with page.expect_response(lambda answer: answer.url.endswith("/api/sign_in")) as answered:
        page.goto(address)
    assert answered.value.status == 200, answered.value.text()


def until_at_rest(question: Locator) -> None:
    """Until a question takes presses, and has not moved for a moment: then none is ignored."""
    expect(question).to_have_attribute("data-deaf", "false")
    question.evaluate(
        """card => new Promise((resolve) => {
          let calm = 0;
          const look = () => {
            calm = card.dataset.deaf === "false" ? calm + 1 : 0;
            calm > 10 ? resolve() : requestAnimationFrame(look);
          };
          look();
        })"""
    )


def press(question: Locator, button: str) -> None:
    """Press a button of a question as a user does: again if it says that it had moved just then."""
    ignored = question.get_by_text("Press again.")
    for _ in range(5):
        until_at_rest(question)
        question.get_by_role("button", name=button).click()
        question.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        if ignored.count() == 0:
            return
        expect(ignored).to_have_count(0)


def keep_picture(page: Page, name: str, complaints: Complaints) -> Path:
    """What a failed test saw last."""
    LEFT.mkdir(parents=True, exist_ok=True)
    picture = LEFT / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name)[:120]}.png"
    page.screenshot(path=picture)
    picture.with_suffix(".txt").write_text("\n".join([page.url, *complaints.seen]))
    return picture
