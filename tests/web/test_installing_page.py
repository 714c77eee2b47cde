"""Installing from the page goes on in the host: who began it may close the page, and any page can end it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.servers.installers.packages import PROGRAMS
from tests.web.adding import (
    PATIENCE,
    agree,
    asks_for_trust,
    enter_servers,
    open_servers,
    paste,
    row,
    see_plan,
    shows,
)
from tests.web.browsing import Complaints
from tests.web.npm_registry import Package, Registry, npm_registry
from tests.web.running import Crib
from tests.web.waiting import until

pytestmark = pytest.mark.acceptance

NewPage = Callable[[], Page]
TINY = (PROGRAMS / "tiny.js").read_text()
PARTS = tuple(Package(name=f"part-{number}", version="1.0.0") for number in range(4))
SERVER = Package(
    name="@tiny/mcp-server",
    version="2.1.0",
    program="tiny.js",
    files={"tiny.js": TINY},
    needs={part.name: part.version for part in PARTS},
)


@pytest.fixture
def registry() -> Iterator[Registry]:
    """One with a server of five packages, of which it hands out two."""
    with npm_registry(SERVER, *PARTS) as found:
        found.hold([SERVER.name, *(part.name for part in PARTS)], after=2)
        yield found


@pytest.fixture
def begun(crib: Crib, registry: Registry, new_page: NewPage, tmp_path: Path) -> Page:
    """A page in which the server is being installed."""
    asks_for_trust(crib).environment.update(registry.settings(tmp_path / "npm"))
    page = enter_servers(crib, new_page())
    paste(page, "npx -y @tiny/mcp-server")
    asked = see_plan(page, "tiny")
    expect(asked.get_by_text("5 packages, integrity recorded")).to_be_visible()
    agree(page)
    expect(page.get_by_role("dialog", name="Testing tiny")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("dialog").get_by_text("2 of 5 packages")).to_be_visible(timeout=PATIENCE)
    return page


def servers(crib: Crib) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((crib.home / "mcp.json").read_text())["mcpServers"]
    return found


def test_it_goes_on_when_the_page_is_closed_and_another_page_follows_it(
    crib: Crib, registry: Registry, begun: Page, new_page: NewPage
) -> None:
    begun.close()
    page = enter_servers(crib, new_page())

    shows(page, "tiny", "Installing")
    shows(page, "tiny", "2 of 5 packages")
    shows(page, "tiny", "npm · @tiny/mcp-server 2.1.0")
    expect(row(page, "tiny").get_by_role("progressbar")).to_have_attribute("aria-valuenow", "40")
    registry.release()

    shows(page, "tiny", "Running")
    expect(page.get_by_role("status").filter(has_text="tiny works, 1 tool.")).to_be_visible(timeout=PATIENCE)


def test_it_can_be_followed_again_after_a_reload(crib: Crib, registry: Registry, begun: Page) -> None:
    begun.reload()
    begun.goto(f"{crib.base}/servers?setup=tiny")
    dialog = begun.get_by_role("dialog", name="Testing tiny")
    expect(dialog.get_by_text("2 of 5 packages")).to_be_visible(timeout=PATIENCE)
    registry.release()

    done = begun.get_by_role("dialog", name="tiny works, 1 tool")
    expect(done).to_be_visible(timeout=PATIENCE)
    for step in ("Resolve, done", "Install, done", "Start, done", "Handshake, done", "List tools, done"):
        expect(done.get_by_role("listitem").filter(has_text=step)).to_be_visible()
    expect(done.get_by_role("listitem").filter(has_text="Install, done")).to_contain_text("5 packages, ")
    expect(done.get_by_role("listitem").filter(has_text="Resolve, done")).to_contain_text("2.1.0 found")


def test_what_is_looked_up_is_shown_and_can_be_stopped(
    crib: Crib, registry: Registry, new_page: NewPage, tmp_path: Path
) -> None:
    asks_for_trust(crib).environment.update(registry.settings(tmp_path / "npm"))
    registry.keep_back(PARTS[-1].name)
    page = enter_servers(crib, new_page())
    paste(page, "npx -y @tiny/mcp-server")
    review = page.get_by_role("button", name="Review plan")
    review.click()
    looking = page.get_by_role("dialog").get_by_role("status")
    expect(looking).to_have_text("Resolving @tiny/mcp-server: 4 packages", timeout=PATIENCE)
    expect(review).to_be_disabled()

    page.get_by_role("button", name="Stop").click()

    expect(looking).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(review).to_be_enabled()
    until(lambda: not _npm_processes(crib))
    registry.release()
    review.click()
    asked = page.get_by_role("alertdialog")
    expect(asked.get_by_text("5 packages, integrity recorded")).to_be_visible(timeout=PATIENCE)


def _npm_processes(crib: Crib) -> list[str]:
    """The command lines that name this home and npm."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(file.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return [line for line in found if str(crib.home) in line and "package-lock-only" in line]


def test_any_page_can_cancel_it_and_nothing_is_left(
    crib: Crib, registry: Registry, begun: Page, new_page: NewPage
) -> None:
    page = enter_servers(crib, new_page())
    shows(page, "tiny", "Installing")

    row(page, "tiny").get_by_role("button", name="Cancel").click()

    expect(row(page, "tiny")).to_be_hidden(timeout=PATIENCE)
    expect(begun.get_by_role("dialog", name="Stopped testing tiny")).to_be_visible(timeout=PATIENCE)
    assert "tiny" not in servers(crib)
    assert not list((crib.home / "data").rglob("tiny/versions/*/package.json"))


def test_what_could_not_be_installed_stands_in_the_list_until_its_reason_was_seen(
    crib: Crib, registry: Registry, begun: Page, complaints: Complaints
) -> None:
    begun.get_by_role("button", name="Close").click()
    shows(begun, "tiny", "Installing")
    registry.stop_handing_out()

    shows(begun, "tiny", "tiny could not be installed.")
    row(begun, "tiny").get_by_role("button", name="See why").click()
    failed = begun.get_by_role("dialog", name="tiny could not be installed")
    expect(failed.get_by_role("alert")).to_be_visible(timeout=PATIENCE)
    failed.get_by_role("button", name="Close").first.click()

    expect(row(begun, "tiny")).to_be_hidden(timeout=PATIENCE)


def test_it_ends_with_the_host(crib: Crib, registry: Registry, begun: Page, complaints: Complaints) -> None:
    complaints.expect(r"ERR_|Failed to fetch|status of")
    pid = crib.told["pid"]
    crib.stop()

    until(lambda: not Path(f"/proc/{pid}").exists())
    assert not list((crib.home / "data").rglob("tiny/versions/*/package.json"))


def test_a_newer_version_is_known_in_the_list_and_its_plan_is_shown_before_it_is_put_in_place(
    crib: Crib, registry: Registry, begun: Page
) -> None:
    registry.release()
    begun.get_by_role("button", name="Done").click(timeout=PATIENCE)
    registry.publish(replace(SERVER, version="2.2.0"))
    begun.goto(f"{crib.base}/servers/tiny?tab=versions")
    begun.get_by_role("button", name="Check for updates").click()
    begun.get_by_role("button", name="Update to 2.2.0…").wait_for()
    open_servers(crib, begun)
    shows(begun, "tiny", "Update available: 2.2.0.")

    begun.goto(f"{crib.base}/servers/tiny?tab=versions")
    begun.get_by_role("button", name="Update to 2.2.0…").click()
    plan = begun.get_by_role("dialog", name="Update tiny to 2.2.0?")
    expect(plan).to_contain_text("@tiny/mcp-server@2.2.0", timeout=PATIENCE)
    plan.get_by_role("button", name="Update", exact=True).click()

    done = begun.get_by_role("dialog", name="tiny is up to date")
    expect(done).to_be_visible(timeout=PATIENCE)
    done.get_by_role("button", name="Done").click()
    expect(begun.get_by_role("tab", name="Versions 2")).to_be_visible(timeout=PATIENCE)
    assert servers(crib)["tiny"]["version"] == "2.2.0"
