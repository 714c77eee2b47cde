"""Accounts over HTTP, as the page uses them: the answers are as declared, and hold no secret."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.accounts.google_service import CLIENT_SECRET, USER, google_service
from tests.web.running import Crib, Failed

DEADLINE = 60.0


async def test_a_page_signs_in_to_google_and_removes_the_account(crib: Crib) -> None:
    async def run(operation: str, **params: Any) -> Any:
        return await asyncio.to_thread(crib.run, operation, **params)

    async with google_service() as google, asyncio.timeout(DEADLINE):
        providers = await run("account_providers")
        values = {"client_file": google.client_file()}
        page = await run("account_sign_in", provider="google", name="work", values=values)
        waiting = await run("account_sign_in_result", sign_in=page["sign_in"])
        await google.agree(page["url"])
        done = await run("account_sign_in_result", sign_in=page["sign_in"], wait=30)
        listed = await run("account_list")
        tested = await run("account_test", name="work")
        removed = await run("account_remove", name="work")

        answers = str([page, waiting, done, listed, tested, removed])
        secrets = [CLIENT_SECRET, *google.tokens, google.grants[0].refresh_token]
        assert "google" in [provider["provider"] for provider in providers]
        assert (waiting["state"], done["state"]) == ("waiting", "done")
        assert listed == [done["account"]]
        assert tested["identity"] == USER
        assert removed["removed"] == "work"
        assert google.grants[0].revoked
        assert not [secret for secret in secrets if secret in answers]
        assert not [secret for secret in secrets if secret in crib.stop()]


def test_a_page_is_told_what_is_wrong_and_sees_no_value(crib: Crib) -> None:
    with pytest.raises(Failed) as refused:
        crib.run("account_add", provider="google", name="x", values={"client_secret": "hunter22", "pin": "1"})

    assert refused.value.status == 400
    assert "hunter22" not in str(refused.value)


def test_a_sign_in_is_cancelled_once(crib: Crib) -> None:
    values = {"client_id": "x.apps.googleusercontent.com"}
    page = crib.run("account_sign_in", provider="google", name="work", values=values)

    assert crib.run("account_sign_in_cancel", sign_in=page["sign_in"])["cancelled"]
    assert not crib.run("account_sign_in_cancel", sign_in=page["sign_in"])["cancelled"]
    assert crib.run("account_sign_in_result", sign_in=page["sign_in"])["state"] == "failed"
