"""Accounts in a real browser: added by a form or a sign-in, tested, changed and removed."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.accounts.google_service import USER, GoogleService, google_service
from tests.features.accounts.ledger_package import write_package
from tests.web.axe import look_over
from tests.web.browsing import NARROW, Complaints, sign_in
from tests.web.layout import faults_of_layout
from tests.web.running import DEADLINE, Crib
from toolcrib.config.safe_files import write_atomic

PASSWORD = "open sesame"
LONG_NAME = "an-account-with-a-name-of-forty-letters0"


@pytest.fixture
def settings(crib: Crib, tmp_path: Path, new_page: Callable[[], Page]) -> Page:
    """The settings of a host that has a package with another kind of account."""
    crib.environment["PYTHONPATH"] = str(write_package(tmp_path / "site"))
    page = sign_in(new_page(), crib.sign_in_address(), "/settings")
    expect(accounts(page)).to_contain_text("No accounts yet.")
    return page


@pytest.fixture
def google() -> Iterator[GoogleService]:
    """Google on loopback, in a thread: Playwright's own loop cannot serve it."""
    started: queue.Queue[tuple[GoogleService, Callable[[], object]]] = queue.Queue()

    async def serve() -> None:
        over = asyncio.Event()
        loop = asyncio.get_running_loop()
        async with google_service() as service:
            started.put((service, lambda: loop.call_soon_threadsafe(over.set)))
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="google", daemon=True)
    thread.start()
    service, stop = started.get(timeout=DEADLINE)
    yield service
    stop()
    thread.join(DEADLINE)


def accounts(page: Page) -> Locator:
    return page.locator("#accounts")


def row(page: Page, name: str) -> Locator:
    return page.locator(f'[data-account="{name}"]')


def open_form(page: Page, provider: str) -> Locator:
    """The form of a new account."""
    accounts(page).get_by_role("button", name="Add account").click()
    page.get_by_role("dialog", name="Add an account").get_by_role("button", name=provider).click()
    return page.get_by_role("dialog", name=f"Add {provider}")


def fill_ledger(form: Locator, name: str, password: str = PASSWORD) -> None:
    form.get_by_label("Name").fill(name)
    form.get_by_label("User").fill("ada@example.org")
    form.get_by_label("Password").fill(password)


def add_ledger(page: Page, name: str) -> None:
    form = open_form(page, "Ledger")
    fill_ledger(form, name)
    form.get_by_role("button", name="Test and save").click()
    page.get_by_role("dialog", name=f"{name} works").get_by_role("button", name="Done").click()
    expect(row(page, name)).to_be_visible()


def stored(crib: Crib) -> dict[str, dict[str, object]]:
    return {account["name"]: account for account in crib.run("account_list")}


def test_an_account_is_added_listed_tested_and_removed(settings: Page, crib: Crib) -> None:
    form = open_form(settings, "Ledger")
    expect(form.get_by_label("Name")).to_have_value("ledger")
    fill_ledger(form, "work")
    form.get_by_role("switch", name="Read only").click()
    form.get_by_role("button", name="Test and save").click()

    added = settings.get_by_role("dialog", name="work works")
    expect(added).to_contain_text("Signed in as ada@example.org.")
    expect(added).to_contain_text("Turned on: ledger.")
    expect(added).to_contain_text("The ledger has 3 pages.")
    added.get_by_role("button", name="Done").click()
    expect(row(settings, "work")).to_contain_text("Ledger · ada@example.org")
    expect(row(settings, "work")).to_contain_text("Read only")
    expect(row(settings, "work").get_by_role("link", name="ledger")).to_be_visible()
    assert stored(crib)["work"]["read_only"] is True
    assert PASSWORD not in (crib.home / "mcp.json").read_text()

    row(settings, "work").get_by_role("button", name="Test").click()
    expect(row(settings, "work")).to_contain_text("Works")
    expect(row(settings, "work")).to_contain_text("tested just now as ada@example.org")

    row(settings, "work").get_by_role("button", name="Remove").click()
    asked = settings.get_by_role("dialog", name="Remove work?")
    expect(asked).to_contain_text("ledger will stop working until you add another account.")
    asked.get_by_role("button", name="Remove").click()
    expect(row(settings, "work")).to_be_hidden()
    expect(accounts(settings)).to_contain_text("No accounts yet.")
    assert stored(crib) == {}


def test_a_rejected_password_says_what_to_do_and_is_not_kept(
    settings: Page, crib: Crib, complaints: Complaints
) -> None:
    complaints.expect("40[0-9]")
    form = open_form(settings, "Ledger")
    fill_ledger(form, "work", "guess")
    form.get_by_role("button", name="Test and save").click()

    expect(form.get_by_role("alert")).to_have_text(
        "The ledger rejected the password. Check the password. Learn more"
    )
    expect(form.get_by_label("Password")).to_have_value("")
    expect(form.get_by_label("User")).to_have_value("ada@example.org")
    assert stored(crib) == {}
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_label("Password").press("Enter")
    expect(settings.get_by_role("dialog", name="work works")).to_be_visible()


def test_what_is_missing_is_said_at_its_field_and_nothing_is_sent(settings: Page) -> None:
    sent: list[str] = []
    settings.on("request", lambda request: sent.append(request.url))
    form = open_form(settings, "Ledger")
    form.get_by_label("Name").fill("a b")
    form.get_by_role("button", name="Test and save").click()

    expect(form.get_by_text("Required.")).to_have_count(2)
    expect(form).to_contain_text("Use up to 40 letters")
    expect(form.get_by_label("User")).to_have_attribute("aria-invalid", "true")
    assert not [address for address in sent if address.endswith("account_add")]


def test_another_password_replaces_the_account(settings: Page, crib: Crib) -> None:
    add_ledger(settings, "work")
    row(settings, "work").get_by_role("button", name="Edit").click()
    form = settings.get_by_role("dialog", name="Edit work")
    expect(form.get_by_label("Name")).to_be_disabled()
    expect(form.get_by_label("User")).to_have_value("ada@example.org")
    form.get_by_label("User").fill("bob@example.org")
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_role("button", name="Test and save").click()
    settings.get_by_role("dialog", name="work works").get_by_role("button", name="Done").click()

    expect(row(settings, "work")).to_contain_text("bob@example.org")
    assert [account["user"] for account in stored(crib).values()] == ["bob@example.org"]


def test_a_server_with_a_second_account_goes_on(settings: Page) -> None:
    add_ledger(settings, "work")
    add_ledger(settings, LONG_NAME)
    row(settings, "work").get_by_role("button", name="Remove").click()
    asked = settings.get_by_role("dialog", name="Remove work?")
    expect(asked).to_contain_text(f"ledger keeps working with {LONG_NAME}.")
    asked.get_by_role("button", name="Keep").click()
    expect(row(settings, "work")).to_be_visible()


def test_a_failed_test_stands_at_its_account(settings: Page, crib: Crib) -> None:
    add_ledger(settings, "work")
    file = next(crib.home.rglob("secrets*"))
    write_atomic(file, file.read_bytes().replace(PASSWORD.encode(), b"changed"))  # the host may be reading it
    row(settings, "work").get_by_role("button", name="Test").click()

    expect(row(settings, "work")).to_contain_text("Failed")
    expect(row(settings, "work").get_by_role("alert")).to_have_text(
        "The ledger rejected the password. Check the password."
    )


def test_a_google_account_is_added_by_signing_in_on_its_page(
    settings: Page, crib: Crib, google: GoogleService
) -> None:
    form = open_form(settings, "Google")
    form.get_by_label("Name").fill("home")
    expect(form.locator("input[type=file]")).to_be_hidden()
    form.locator("input[type=file]").set_input_files(
        {"name": "client.json", "mimeType": "application/json", "buffer": google.client_file().encode()}
    )
    form.get_by_role("button", name="Continue to sign-in").click()
    expect(settings.get_by_text("Waiting for you to sign in")).to_be_visible()
    with settings.context.expect_page() as opened:
        settings.get_by_role("link", name="Open sign-in page").click()
    expect(opened.value.locator("body")).not_to_be_empty()

    expect(settings.get_by_role("dialog", name="home works")).to_contain_text(f"Signed in as {USER}.")
    settings.get_by_role("button", name="Done").click()
    expect(row(settings, "home")).to_contain_text(f"Google · {USER}")
    assert "refresh" not in json.dumps(stored(crib))


def test_a_sign_in_can_be_cancelled_and_a_refused_one_says_why(
    settings: Page, google: GoogleService, crib: Crib
) -> None:
    form = open_form(settings, "Google")
    form.get_by_label("OAuth client file").fill(google.client_file())
    form.get_by_role("button", name="Continue to sign-in").click()
    with settings.expect_response("**/api/account_sign_in_cancel") as cancelled:
        settings.get_by_role("button", name="Cancel").click()
    assert cancelled.value.json()["cancelled"] is True
    expect(settings.get_by_role("dialog")).to_be_hidden()

    google.denied = "access_denied"
    form = open_form(settings, "Google")
    form.get_by_label("OAuth client file").fill(google.client_file())
    form.get_by_role("button", name="Continue to sign-in").click()
    settings.get_by_role("link", name="Open sign-in page").click()
    expect(form.get_by_role("alert")).to_be_visible()
    assert stored(crib) == {}


def test_a_sign_in_cancelled_while_it_opens_is_cancelled_at_the_host(
    settings: Page, google: GoogleService
) -> None:
    opening: list[Route] = []
    settings.route("**/api/account_sign_in", lambda route: opening.append(route))
    form = open_form(settings, "Google")
    form.get_by_label("OAuth client file").fill(google.client_file())
    with settings.expect_request("**/api/account_sign_in"):
        form.get_by_role("button", name="Continue to sign-in").click()
    with settings.expect_response("**/api/account_sign_in_cancel") as cancelled:
        settings.get_by_role("button", name="Cancel").click()
        opening[0].continue_()
    assert cancelled.value.json()["cancelled"] is True
    expect(settings.get_by_role("dialog")).to_be_hidden()


def test_the_accounts_and_their_form_fit_a_phone(settings: Page) -> None:
    add_ledger(settings, LONG_NAME)
    settings.set_viewport_size(NARROW)
    row(settings, LONG_NAME).scroll_into_view_if_needed()
    assert faults_of_layout(settings) == []
    assert look_over(settings) == []
    open_form(settings, "Ledger").get_by_role("button", name="Test and save").click()
    assert faults_of_layout(settings) == []
    assert look_over(settings) == []


def test_the_palette_leads_to_the_form(settings: Page) -> None:
    settings.locator("body").press("Control+k")
    settings.get_by_role("combobox").fill("add account")
    settings.get_by_role("option", name="Add an account").click()
    expect(settings.get_by_role("dialog", name="Add an account")).to_be_visible()
