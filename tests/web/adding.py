"""What the tests of servers share: a home where trust is asked for, and the steps that a person takes."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.web.browsing import sign_in
from tests.web.running import Crib

SMALL_SERVER = Path(__file__).parents[1] / "cli" / "small_server.py"
PATIENCE = 60_000
PASTE = "A command, a package, a link or JSON"


def command(*words: str) -> str:
    """A command line that starts a real server."""
    return " ".join([sys.executable, str(SMALL_SERVER), *words])


def at_home(path: str | Path) -> str:
    """A path as the page writes it: the person's own folder is `~`."""
    found = Path(path)
    return f"~/{found.relative_to(Path.home())}" if found.is_relative_to(Path.home()) else str(found)


def asks_for_trust(crib: Crib) -> Crib:
    """A home as people have it: nothing of the config file is trusted by itself."""
    crib.environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    return crib


def open_servers(crib: Crib, page: Page) -> Page:
    """The list."""
    page.goto(f"{crib.base}/servers")
    return _listed(page)


def enter_servers(crib: Crib, page: Page) -> Page:
    """The list, on a page that is signed in with it."""
    return _listed(sign_in(page, crib.sign_in_address(), "/servers"))


def _listed(page: Page) -> Page:
    expect(page.get_by_role("heading", name="Servers", exact=True)).to_be_visible(timeout=PATIENCE)
    return page


def row(page: Page, name: str) -> Locator:
    """One server of the list."""
    return page.locator(f'[data-server="{name}"]')


def shows(page: Page, name: str, word: str) -> None:
    """Wait until a server's row says this."""
    expect(row(page, name)).to_contain_text(word, timeout=PATIENCE)


def choose(page: Page, name: str, entry: str) -> None:
    """An entry of the menu of a row."""
    row(page, name).get_by_role("button", name=f"More for {name}").click()
    page.get_by_role("menuitem", name=entry).click()


def paste(page: Page, text: str) -> None:
    """Open the dialog and put something in."""
    page.get_by_role("button", name="Add server").click()
    page.get_by_label(PASTE).fill(text)


def see_plan(page: Page, name: str = "") -> Locator:
    """Go on to the question; the dialog that asks."""
    expect(page.get_by_role("button", name="Review plan")).to_be_enabled(timeout=PATIENCE)
    if name:
        page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Review plan").click()
    asked = page.get_by_role("alertdialog")
    expect(asked).to_be_visible(timeout=PATIENCE)
    return asked


def agree(page: Page) -> None:
    """Trust it; the question only listens once it has been there for a while."""
    page.wait_for_timeout(600)
    page.get_by_role("alertdialog").get_by_role("button", name="Trust").click()
