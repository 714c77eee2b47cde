"""What is photographed: how each page is reached and when it is ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.web.screenshots.story import Shown

PATIENCE = 60_000
QUESTION = "rename the release branch and push it"
PASTED = "npx -y @modelcontextprotocol/server-filesystem ~/code/exporter ~/notes"


@dataclass(frozen=True)
class View:
    """One page in one state."""

    name: str
    path: Callable[[Shown], str]
    ready: Callable[[Page], None]
    tall: bool = False


def _servers(page: Page) -> None:
    expect(page.locator('[data-server="github"]')).to_contain_text("Needs sign-in", timeout=PATIENCE)


def _server(page: Page) -> None:
    expect(page.get_by_role("heading", name="fetch")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Definition difference")).to_be_visible(timeout=PATIENCE)


def _chat(page: Page) -> None:
    asking = page.locator("article.question-card")
    expect(asking).to_have_attribute("data-deaf", "false", timeout=PATIENCE)
    asking.get_by_role("radio", name="This project").click()
    asking.scroll_into_view_if_needed()
    page.locator("[role=log]").evaluate(
        "(log) => { const box = log.closest('.scroll') ?? log; box.scrollTop = box.scrollHeight }"
    )


def _tools(page: Page) -> None:
    expect(page.get_by_text("git_branch_rename").first).to_be_visible(timeout=PATIENCE)


def _activity(page: Page) -> None:
    row = page.get_by_text("run_command").first
    expect(row).to_be_visible(timeout=PATIENCE)
    if page.viewport_size and page.viewport_size["width"] > 1000:
        row.click()


def _says(text: str) -> Callable[[Page], None]:
    def ready(page: Page) -> None:
        expect(page.get_by_role("main").get_by_text(text).first).to_be_visible(timeout=PATIENCE)

    return ready


def _palette(page: Page) -> None:
    _servers(page)
    page.locator("body").press("Control+k")
    page.get_by_role("combobox").fill("post")
    expect(page.get_by_role("option").first).to_be_visible(timeout=PATIENCE)


def _add(page: Page) -> None:
    _servers(page)
    page.get_by_label("A command, a package, a link or JSON").fill(PASTED)
    expect(page.get_by_role("button", name="Review plan")).to_be_enabled(timeout=PATIENCE)


def _confirm(page: Page) -> None:
    _add(page)
    page.get_by_role("button", name="Review plan").click()
    _trust(page)


def _dialog(title: str) -> Callable[[Page], None]:
    def ready(page: Page) -> None:
        expect(page.get_by_role("dialog", name=title)).to_be_visible(timeout=PATIENCE)

    return ready


def _log(page: Page) -> None:
    expect(page.get_by_role("log", name="Server log").locator("p").first).to_be_visible(timeout=PATIENCE)


def _trust(page: Page) -> None:
    expect(page.get_by_role("alertdialog")).to_be_visible(timeout=PATIENCE)


def _at(path: str) -> Callable[[Shown], str]:
    return lambda _: path


VIEWS = (
    View("servers", _at("/servers"), _servers),
    View("server", _at("/servers/fetch"), _server),
    View("chat", lambda shown: f"/chat/{shown.chat}", _chat),
    View("chat-tall", lambda shown: f"/chat/{shown.chat}", _chat, tall=True),
    View("tools", _at(f"/tools?q={QUESTION}"), _tools),
    View("activity", _at("/activity"), _activity),
    View("workflows", _at("/workflows"), _says("monthly-bills")),
    View("workflow", _at("/workflows/monthly-bills?step=large"), _says("Over 500?")),
    View("connect", _at("/connect"), _says("Profiles")),
    View("settings", _at("/settings"), _says("Approvals")),
    View("palette", _at("/servers"), _palette),
    View("add-server", _at("/servers?add=1"), _add),
    View("add-confirm", _at("/servers?add=1"), _confirm),
    View("add-test", _at("/servers?setup=sentry"), _dialog("Testing sentry")),
    View("add-done", _at("/servers?setup=filesystem"), _dialog("filesystem works")),
    View("add-failed", _at("/servers?setup=warehouse"), _dialog("warehouse started, then stopped")),
    View("trust", _at("/servers?trust=sqlite"), _trust),
    View("server-log", _at("/servers/fetch?tab=log"), _log),
    View("server-versions", _at("/servers/fetch?tab=versions"), _says("No automatic updates")),
)
WELCOME = View("welcome", _at("/welcome"), _says("Welcome to Toolcrib"))
