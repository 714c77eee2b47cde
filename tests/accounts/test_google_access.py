"""Requests to Google's APIs: tokens are refreshed in time, and what fails for a moment is repeated."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import keyring
import pytest

from tests.accounts.google_service import USER, Answer, GoogleService, google_service
from tests.config.test_secrets import MemoryKeyring
from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.google import GoogleAccess, GoogleCredentials, failure_of
from toolcrib.accounts.google import access as access_module
from toolcrib.errors import AuthRequired, MissingSecret, NetworkRefused, ResultTooLarge, UsageError
from toolcrib.serverkit.context import ToolFailure

PROFILE = "/gmail/v1/users/me/profile"
SEND = "/gmail/v1/users/me/messages/send"
LIMITED = {"error": {"code": 403, "errors": [{"reason": "userRateLimitExceeded"}]}}


@pytest.fixture
async def google(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[GoogleService]:
    monkeypatch.setattr(access_module, "FIRST_PAUSE", 0.001)
    async with google_service() as service:
        yield service


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AccountStore:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    return AccountStore.of_home(tmp_path)


def added(google: GoogleService, store: AccountStore, **credentials: float | str) -> GoogleAccess:
    """Access to an account whose user signed in earlier."""
    account = google.account()
    store.add(account, google.credentials(**credentials).to_secret(), replace=True)  # type: ignore[arg-type]
    return GoogleAccess(store, account)


async def profile(access: GoogleAccess) -> httpx2.Response:
    return await access.request("GET", f"{access.base('gmail')}{PROFILE}")


async def test_an_expired_token_is_refreshed_before_the_request(
    google: GoogleService, store: AccountStore
) -> None:
    access = added(google, store, access_token="old", expires_at=time.time() - 1)

    response = await profile(access)

    assert response.json()["emailAddress"] == USER
    assert [path for _, path in google.asked] == ["/token", PROFILE]


async def test_a_token_of_one_second_is_refreshed_for_every_request(
    google: GoogleService, store: AccountStore
) -> None:
    google.lifetime = 1
    access = added(google, store)

    assert [(await profile(access)).status_code for _ in range(3)] == [200, 200, 200]
    assert google.count("/token") == 3


async def test_a_fresh_token_is_shared_between_objects_and_processes(
    google: GoogleService, store: AccountStore, tmp_path: Path
) -> None:
    access = added(google, store)
    await profile(access)
    await profile(GoogleAccess(store, access.account))
    stored = GoogleCredentials.from_secret(AccountStore.of_home(tmp_path).secret(access.account), "work")

    assert google.count("/token") == 1
    assert stored.access_token in google.tokens


async def test_concurrent_requests_refresh_once(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)

    responses = await asyncio.gather(*(profile(access) for _ in range(20)))

    assert {response.status_code for response in responses} == {200}
    assert google.count("/token") == 1


async def test_a_rejected_token_is_refreshed_once_for_all_requests(
    google: GoogleService, store: AccountStore
) -> None:
    access = added(google, store)
    await profile(access)
    google.expire_access_tokens()

    responses = await asyncio.gather(*(profile(access) for _ in range(10)))

    assert {response.status_code for response in responses} == {200}
    assert google.count("/token") == 2


async def test_a_token_that_is_rejected_again_needs_a_new_sign_in(
    google: GoogleService, store: AccountStore
) -> None:
    access = added(google, store)
    google.planned = [Answer(401), Answer(401)]

    with pytest.raises(AuthRequired) as raised:
        await profile(access)

    assert "toolcrib account add google work --replace" in raised.value.hint
    assert google.count(PROFILE) == 2


async def test_a_revoked_grant_says_how_to_sign_in_again(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)
    google.revoke_everything()

    with pytest.raises(AuthRequired) as raised:
        await profile(access)

    assert "expired or was revoked" in raised.value.message
    assert "toolcrib account add google work --replace" in raised.value.hint


async def test_a_rotated_refresh_token_is_stored_before_it_is_used(
    google: GoogleService, store: AccountStore
) -> None:
    google.rotates = True
    google.lifetime = 1
    access = added(google, store)

    for _ in range(3):
        await profile(access)

    stored = GoogleCredentials.from_secret(store.secret(access.account), "work")
    assert stored.refresh_token == google.grants[0].refresh_token


async def test_with_a_keyring_no_file_holds_a_token(
    google: GoogleService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLCRIB_KEYRING", raising=False)
    before, backend = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(backend)
    try:
        google.rotates = True
        access = added(google, AccountStore.of_home(tmp_path))
        await profile(access)
    finally:
        keyring.set_keyring(before)

    (stored,) = backend.kept.values()
    tokens = [google.grants[0].refresh_token, *google.tokens]
    files = [path.read_bytes().decode() for path in tmp_path.rglob("*") if path.is_file()]
    assert all(token in stored for token in tokens)
    assert not [token for token in tokens for text in files if token in text]


async def test_a_refresh_token_that_another_process_rotated_is_read_again(
    google: GoogleService, store: AccountStore
) -> None:
    google.rotates, google.lifetime = True, 1
    access = added(google, store)
    await profile(access)
    grant = google.grants[0]
    grant.refresh_token = "rotated-elsewhere"
    stored = GoogleCredentials.from_secret(store.secret(access.account), "work")
    store.set_secret(access.account, stored.to_secret().replace(stored.refresh_token, "rotated-elsewhere"))

    assert (await profile(access)).status_code == 200


async def test_an_account_that_was_replaced_uses_its_new_tokens(
    google: GoogleService, store: AccountStore
) -> None:
    await profile(added(google, store))
    account = google.account(signed_in="later")
    store.add(account, google.credentials().to_secret(), replace=True)

    await profile(GoogleAccess(store, account))

    assert google.tokens[list(google.tokens)[-1]].grant is google.grants[1]


async def test_a_limited_request_is_repeated_after_the_time_that_google_names(
    google: GoogleService, store: AccountStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    access = added(google, store)
    await profile(access)
    monkeypatch.setattr(access_module.asyncio, "sleep", note)
    google.planned = [Answer(429, headers={"Retry-After": "7"}), Answer(403, LIMITED)]

    assert (await profile(access)).status_code == 200
    assert waits[0] == 7
    assert len(waits) == 2


async def test_a_long_wait_is_left_to_the_caller(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)
    google.planned = [Answer(429, headers={"Retry-After": "3600"})]

    with pytest.raises(ToolFailure, match="limits the requests"):
        await profile(access)


async def test_a_failing_service_is_asked_again(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)
    google.planned = [Answer(503), Answer(500), None]

    assert (await profile(access)).status_code == 200


async def test_a_service_that_keeps_failing_is_given_up(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)
    google.planned = [Answer(503)] * access_module.ATTEMPTS

    with pytest.raises(ToolFailure, match="HTTP 503"):
        await profile(access)
    assert google.planned == []


@pytest.mark.parametrize("fault", [None, Answer(503)], ids=["dropped", "failed"])
async def test_a_change_that_may_have_been_made_is_not_repeated(
    google: GoogleService, store: AccountStore, fault: Answer | None
) -> None:
    access = added(google, store)
    google.planned = [fault]

    with pytest.raises(ToolFailure):
        await access.request("POST", f"{access.base('gmail')}{SEND}", json={"raw": "eA"})

    assert google.count(SEND) == 1


async def test_a_change_that_was_limited_is_repeated(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)
    google.planned = [Answer(429)]

    response = await access.request("POST", f"{access.base('gmail')}{SEND}", json={"raw": "eA"})

    assert response.json()["id"] == "m1"


async def test_a_token_endpoint_that_fails_for_a_moment_is_asked_again(
    google: GoogleService, store: AccountStore
) -> None:
    access = added(google, store)
    google.planned_tokens = [Answer(500)]

    assert (await profile(access)).status_code == 200


async def test_a_wrong_client_is_named(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)
    google.planned_tokens = [Answer(401, {"error": "invalid_client"})]

    with pytest.raises(AuthRequired, match="invalid_client"):
        await profile(access)


async def test_the_token_goes_nowhere_but_to_the_apis(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)

    for url in (f"https://evil.example{PROFILE}", google.url.replace("127.0.0.1", "127.0.0.2")):
        with pytest.raises(NetworkRefused):
            await access.request("GET", url)
    assert google.asked == []


@pytest.mark.parametrize("address", ["https://evil.example", "http://10.0.0.5", "https://x@127.0.0.1"])
def test_settings_that_lead_elsewhere_are_refused(store: AccountStore, address: str) -> None:
    with pytest.raises(UsageError, match="not an address of Google"):
        GoogleAccess(store, Account(name="work", provider="google", settings={"api": address}))


async def test_a_service_that_does_not_answer_is_given_up_at_the_deadline(
    google: GoogleService, store: AccountStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = added(google, store)
    await profile(access)
    monkeypatch.setattr(access_module, "DEADLINE", 0.2)
    google.planned = [Answer(429, headers={"Retry-After": "30"})]

    with pytest.raises(ToolFailure, match="did not answer within"):
        await profile(access)


async def test_a_redirect_is_returned_and_not_followed(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)
    google.planned = [Answer(307, headers={"Location": "http://127.0.0.1:9/steal"})]

    assert (await profile(access)).status_code == 307


async def test_a_response_over_the_limit_is_not_read(
    google: GoogleService, store: AccountStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = added(google, store)
    monkeypatch.setattr(access_module, "MAX_BYTES", 10)

    with pytest.raises(ResultTooLarge):
        await profile(access)


async def test_a_damaged_secret_says_how_to_sign_in_again(google: GoogleService, store: AccountStore) -> None:
    account = google.account()
    store.add(account, "not json")

    with pytest.raises(MissingSecret) as raised:
        await profile(GoogleAccess(store, account))
    assert "--replace" in raised.value.hint
    assert "not json" not in str(raised.value)


async def test_an_api_that_is_not_enabled_is_named(google: GoogleService, store: AccountStore) -> None:
    access = added(google, store)
    google.planned = [Answer(403, {"error": {"code": 403, "errors": [{"reason": "accessNotConfigured"}]}})]

    error = failure_of(await profile(access), access.account)

    assert "Gmail API is not enabled" in error.message


def test_addresses_are_those_of_google_without_an_emulator(store: AccountStore) -> None:
    access = GoogleAccess(store, Account(name="work", provider="google"))
    emulated = GoogleAccess(store, GoogleService(url="http://127.0.0.1:4002").account())

    assert access.base("gmail") == "https://gmail.googleapis.com"
    assert access.base("calendar") == "https://www.googleapis.com/calendar/v3"
    assert emulated.base("gmail") == "http://127.0.0.1:4002"
    assert emulated.base("calendar") == "http://127.0.0.1:4002/calendar/v3"
