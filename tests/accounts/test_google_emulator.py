"""Google as another project emulates it: sign-in, requests, refresh, revocation."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.accounts.google_emulator import USER, google_emulator
from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.google import GoogleAccess, GoogleCredentials
from toolcrib.errors import AuthRequired
from toolcrib.features.accounts.providers import google as provider

DEADLINE = 60.0


@pytest.mark.acceptance
async def test_a_sign_in_lasts_until_it_is_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    store = AccountStore.of_home(tmp_path / "home")
    async with google_emulator(tmp_path) as google, asyncio.timeout(DEADLINE):

        async def show(address: str) -> None:
            (await google.agree(address)).raise_for_status()

        # It lacks the profile of Gmail, which the check reads.
        given = {"client_file": google.client_file(), "services": "calendar"}
        draft = await provider.sign_in("work", given, show)
        account = Account(name="work", provider="google", settings=draft.settings)
        found = await provider.check(account, draft.secret)

        stale = replace(GoogleCredentials.from_secret(draft.secret, "work"), access_token="stale")
        store.add(account, stale.to_secret())
        access = GoogleAccess(store, account)
        labels = await access.request("GET", f"{access.base('gmail')}/gmail/v1/users/me/labels")

        assert (found.identity, found.remarks) == (USER, ("Calendar: 1 calendar.",))
        assert labels.status_code == 200
        assert await provider.revoke(account, store.secret(account))
        expired = replace(GoogleCredentials.from_secret(store.secret(account), "work"), expires_at=0.0)
        later = replace(account, settings={**account.settings, "signed_in": 2})
        store.add(later, expired.to_secret(), replace=True)
        with pytest.raises(AuthRequired, match="expired or was revoked"):
            await GoogleAccess(store, later).request(
                "GET", f"{access.base('calendar')}/users/me/calendarList"
            )
