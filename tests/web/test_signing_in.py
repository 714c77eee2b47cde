"""Signing in: an address that works once becomes a key that stays with the page."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from tests.web.browsing import Complaints, sign_in
from tests.web.running import Crib


def test_a_page_that_was_opened_with_its_address_is_signed_in_and_stays_so(crib: Crib, page: Page) -> None:
    assert "key=" not in page.url

    with page.expect_response(lambda answer: "/api/live" in answer.url) as live:
        page.reload()

    assert live.value.status == 200
    assert [one["id"] for one in crib.run("pages")]


def test_an_address_works_once(crib: Crib, new_page: Callable[[], Page], complaints: Complaints) -> None:
    address = crib.sign_in_address()
    sign_in(new_page(), address)
    complaints.expect("401")
    again = crib.post("/api/sign_in", {"token": address.partition("#key=")[2]}, key="")

    assert again.status_code == 401
    assert again.json()["error"]["kind"] == "signed_out"
