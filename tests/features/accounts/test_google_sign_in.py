"""The sign-in to Google: PKCE, one redirect with the right state, and no more permissions than needed."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest

from tests.accounts.google_service import USER, Answer, GoogleService, google_service
from toolcrib.accounts import Account
from toolcrib.accounts.google import GoogleCredentials
from toolcrib.accounts.provider import AccountDraft, EarlierAccount
from toolcrib.errors import AuthRequired, UsageError
from toolcrib.features.accounts.providers import google as provider

SCOPES = "https://www.googleapis.com/auth/"
DEADLINE = 30.0


@pytest.fixture
async def google() -> AsyncIterator[GoogleService]:
    async with google_service() as service:
        yield service


class Browser:
    """Opens the page that a sign-in shows, and notes it."""

    def __init__(self, google: GoogleService) -> None:
        self.google = google
        self.address = ""
        self.page: httpx2.Response | None = None
        self.shown = asyncio.Event()

    async def agree(self, address: str) -> None:
        self.address = address
        self.page = await self.google.agree(address)

    async def wait(self, address: str) -> None:
        self.address = address
        self.shown.set()

    @property
    def query(self) -> dict[str, str]:
        return {key: values[0] for key, values in parse_qs(urlsplit(self.address).query).items()}

    def redirect(self, **changes: str) -> str:
        """The address that Google would send the browser to."""
        return f"{self.query['redirect_uri']}?{urlencode({'state': self.query['state'], **changes})}"


async def signed_in(google: GoogleService, browser: Browser, **options: Any) -> AccountDraft:
    given = {"client_file": google.client_file(), **options.pop("given", {})}
    async with asyncio.timeout(DEADLINE):
        return await provider.sign_in("work", given, browser.agree, **options)


def account_of(draft: AccountDraft) -> Account:
    return Account(name="work", provider="google", settings=draft.settings)


async def test_a_user_who_agrees_is_signed_in(google: GoogleService) -> None:
    browser = Browser(google)

    draft = await signed_in(google, browser)
    found = await provider.check(account_of(draft), draft.secret)

    assert found.identity == USER
    assert found.remarks == ("Mail: 3 messages.", "Calendar: 2 calendars.")
    assert browser.page is not None
    assert "Signed in" in browser.page.text


async def test_the_address_asks_for_offline_access_with_pkce_and_a_state(google: GoogleService) -> None:
    first, second = Browser(google), Browser(google)
    await signed_in(google, first)
    await signed_in(google, second)

    query = first.query
    assert query["code_challenge_method"] == "S256"
    assert (query["access_type"], query["prompt"], query["response_type"]) == ("offline", "consent", "code")
    assert urlsplit(query["redirect_uri"]).hostname == "127.0.0.1"
    assert len(query["state"]) >= 40
    for key in ("state", "code_challenge"):
        assert first.query[key] != second.query[key]
    assert "client_secret" not in query


@pytest.mark.parametrize(
    ("services", "read_only", "scopes"),
    [
        ("mail,calendar", False, ["gmail.modify", "calendar"]),
        ("mail,calendar", True, ["gmail.readonly", "calendar.readonly"]),
        ("mail", False, ["gmail.modify"]),
        ("calendar", True, ["calendar.readonly"]),
    ],
)
async def test_only_the_needed_permissions_are_asked_for(
    google: GoogleService, services: str, read_only: bool, scopes: list[str]
) -> None:
    browser = Browser(google)

    draft = await signed_in(google, browser, given={"services": services}, read_only=read_only)

    assert browser.query["scope"].split() == [SCOPES + scope for scope in scopes]
    assert draft.settings["services"] == services


async def test_a_permission_that_was_not_granted_is_named(google: GoogleService) -> None:
    google.granted = f"{SCOPES}calendar"

    with pytest.raises(AuthRequired, match="did not allow access to mail"):
        await signed_in(google, Browser(google))


async def test_a_user_who_does_not_agree_is_not_signed_in(google: GoogleService) -> None:
    google.denied = "access_denied"

    with pytest.raises(AuthRequired, match="access_denied"):
        await signed_in(google, Browser(google))
    assert google.count("/token") == 0


async def test_an_answer_of_another_issuer_is_refused(google: GoogleService) -> None:
    google.iss = "https://evil.example"

    with pytest.raises(AuthRequired, match="another issuer"):
        await signed_in(google, Browser(google))
    assert google.count("/token") == 0


async def test_an_answer_of_this_issuer_is_accepted(google: GoogleService) -> None:
    google.iss = google.url

    assert (await signed_in(google, Browser(google))).secret


async def test_a_redirect_with_another_state_is_refused_and_the_right_one_still_counts(
    google: GoogleService,
) -> None:
    browser = Browser(google)
    given = {"client_file": google.client_file()}
    async with asyncio.timeout(DEADLINE), httpx2.AsyncClient(trust_env=False) as stranger:
        waiting = asyncio.create_task(provider.sign_in("work", given, browser.wait))
        await browser.shown.wait()
        wrong = await stranger.get(browser.redirect(state="guessed", code="stolen"))
        missing = await stranger.get(f"{browser.query['redirect_uri']}?code=stolen")
        right = await google.agree(browser.address)
        draft = await waiting

    assert (wrong.status_code, missing.status_code, right.status_code) == (400, 400, 200)
    assert draft.secret
    assert not any(b"stolen" in body for body in google.bodies)


async def test_a_second_redirect_finds_nobody(google: GoogleService) -> None:
    browser = Browser(google)
    await signed_in(google, browser)

    with pytest.raises(httpx2.ConnectError):
        await google.agree(browser.redirect(code="again"))
    assert google.count("/token") == 1


async def test_an_intercepted_code_is_worthless_without_the_verifier(google: GoogleService) -> None:
    browser = Browser(google)
    given = {"client_file": google.client_file()}
    async with asyncio.timeout(DEADLINE), httpx2.AsyncClient(trust_env=False) as thief:
        waiting = asyncio.create_task(provider.sign_in("work", given, browser.wait))
        await browser.shown.wait()
        location = (await thief.get(browser.address)).headers["location"]
        code = parse_qs(urlsplit(location).query)["code"][0]
        client = json.loads(google.client_file())["installed"]
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": "guess",
            "redirect_uri": browser.query["redirect_uri"],
            "client_id": client["client_id"],
            "client_secret": client["client_secret"],
        }
        refused = await thief.post(f"{google.url}/token", data=form)
        waiting.cancel()

    assert refused.json()["error"] == "invalid_grant"


async def test_the_error_of_a_redirect_is_escaped_on_the_page(google: GoogleService) -> None:
    browser = Browser(google)
    given = {"client_file": google.client_file()}
    async with asyncio.timeout(DEADLINE), httpx2.AsyncClient(trust_env=False) as attacker:
        waiting = asyncio.create_task(provider.sign_in("work", given, browser.wait))
        await browser.shown.wait()
        page = await attacker.get(browser.redirect(error="<script>alert(1)</script>\x1b[31m"))
        with pytest.raises(AuthRequired) as raised:
            await waiting

    assert "<script>" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "\x1b" not in raised.value.message


async def test_a_cancelled_sign_in_closes_its_port(google: GoogleService) -> None:
    browser = Browser(google)
    waiting = asyncio.create_task(
        provider.sign_in("work", {"client_file": google.client_file()}, browser.wait)
    )
    await browser.shown.wait()
    waiting.cancel()
    await asyncio.wait([waiting])

    with pytest.raises(httpx2.ConnectError):
        await google.agree(browser.redirect(code="late"))


async def test_no_secret_is_logged_or_shown(google: GoogleService, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    google.lifetime = 1
    draft = await signed_in(google, Browser(google))
    found = await provider.check(account_of(draft), draft.secret)
    secrets = [*google.tokens, google.grants[0].refresh_token, "GOCSPX-client-secret"]

    said = caplog.text + repr(draft) + repr(found) + repr(GoogleCredentials.from_secret(draft.secret, "work"))
    assert not [secret for secret in secrets if secret in said]


async def test_a_token_that_was_rotated_by_the_check_is_returned(google: GoogleService) -> None:
    google.lifetime, google.rotates = 1, True
    draft = await signed_in(google, Browser(google))

    found = await provider.check(account_of(draft), draft.secret)

    stored = GoogleCredentials.from_secret(found.secret, "work")
    assert stored.refresh_token == google.grants[0].refresh_token


async def test_a_sign_in_again_uses_the_client_and_services_of_the_earlier_one(google: GoogleService) -> None:
    draft = await signed_in(google, Browser(google), given={"services": "calendar"})
    browser = Browser(google)
    earlier = EarlierAccount(account=account_of(draft), secret=draft.secret)

    async with asyncio.timeout(DEADLINE):
        again = await provider.sign_in("work", {}, browser.agree, earlier=earlier)

    assert again.settings["services"] == "calendar"
    assert len(google.grants) == 2


async def test_a_removed_account_is_revoked_at_google(google: GoogleService) -> None:
    draft = await signed_in(google, Browser(google))

    assert await provider.revoke(account_of(draft), draft.secret)
    assert google.grants[0].revoked
    assert not await provider.revoke(account_of(draft), draft.secret)


async def test_a_refused_client_is_named(google: GoogleService) -> None:
    google.planned_tokens = [Answer(401, {"error": "invalid_client"})]

    with pytest.raises(AuthRequired, match="OAuth client of the account work"):
        await signed_in(google, Browser(google))


WEB = json.dumps({"web": {"client_id": "x"}})
STRANGER = {"client_id": "x", "token_uri": "https://evil.example/token"}
PLAIN = {"client_id": "x", "auth_uri": "http://accounts.google.com/o/oauth2/auth"}
PRIVATE = {"client_id": "x", "api": "http://10.0.0.5"}
SCRIPT = {"client_id": "x", "auth_uri": "javascript:alert(1)"}
LOCAL = [
    "javascript://127.0.0.1/%0aalert(1)",
    "file://127.0.0.1/etc/passwd",
    "data://127.0.0.1/x",
    "ftp://[::1]/x",
    "//127.0.0.1/auth",
    "http://127.0.0.1/auth?state=x",
    "http://127.0.0.1/auth#x",
    "http://user@127.0.0.1/auth",
    "http://127.0.0.1\\@evil.test/auth",
    "https://evil.test\t/auth",
]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "needs an OAuth client"),
        ({"client_file": "nonsense"}, "not JSON"),
        ({"client_file": "[]"}, "not JSON"),
        ({"client_file": "{}"}, "not the client file"),
        ({"client_file": WEB}, "Web application"),
        ({"client_file": json.dumps({"installed": STRANGER})}, "token_uri is not an address of Google"),
        ({"client_file": json.dumps({"installed": PLAIN})}, "auth_uri is not an address of Google"),
        ({"client_file": json.dumps({"installed": PRIVATE})}, "api is not an address of Google"),
        ({"client_file": json.dumps({"installed": SCRIPT})}, "auth_uri is not an address of Google"),
        ({"client_id": "x", "services": "drive"}, "not services"),
        *(
            (
                {"client_file": json.dumps({"installed": {"client_id": "x", key: address}})},
                f"{key} is not an address of Google",
            )
            for key in ("auth_uri", "token_uri", "revoke_uri", "api")
            for address in LOCAL
        ),
    ],
)
async def test_a_client_that_cannot_work_is_refused_before_a_page_is_shown(
    given: dict[str, str], said: str
) -> None:
    async def show(address: str) -> None:
        pytest.fail("a page was shown")

    with pytest.raises(UsageError, match=said):
        await provider.sign_in("work", given, show)
