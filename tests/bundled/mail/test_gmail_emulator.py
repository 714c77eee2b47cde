"""The tools against an emulator of Gmail that another project maintains."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.accounts.google_emulator import USER, google_emulator
from toolcrib.accounts import Account, AccountStore
from toolcrib.bundled.mail import create
from toolcrib.features.accounts.providers import google as provider

DEADLINE = 200.0


@pytest.mark.acceptance
async def test_mail_is_sent_found_answered_labelled_and_trashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    home = tmp_path / "home"
    async with google_emulator(tmp_path) as google, asyncio.timeout(DEADLINE):

        async def show(address: str) -> None:
            (await google.agree(address)).raise_for_status()

        draft = await provider.sign_in("work", {"client_file": google.client_file()}, show)
        # The emulator lacks the profile, from which the address is read otherwise.
        account = Account(name="work", provider="google", user=USER, settings=draft.settings)
        AccountStore.of_home(home).add(account, draft.secret)
        server = create([], home)

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await server.tools[tool].call(arguments)
            assert result["isError"] is False, (tool, result["content"])
            found: dict[str, Any] = result["structuredContent"]
            return found

        (home / "files" / "mail" / "a.txt").write_text("attached")
        sent = await call("send_email", to=USER, subject="Plan für März", body="Grüße", attachments=["a.txt"])
        found = await call("search_emails", query="subject:Plan")
        read = await call("read_email", id=sent["id"], save_attachments=True)
        reply = await call("create_draft", body="Fine", to="bob@example.com", reply_to_id=sent["id"])
        changed = await call("modify_labels", ids=[sent["id"]], add=["STARRED", "Work"])
        trashed = await call("trash_email", id=sent["id"])
        server.close()

    assert sent["id"] in [each["id"] for each in found["messages"]]
    assert (read["subject"], read["text"]) == ("Plan für März", "Grüße")
    assert Path(read["attachments"][0]["saved_as"]).read_text() == "attached"
    assert (reply["subject"], reply["thread_id"]) == ("Re: Plan für März", sent["thread_id"])
    assert "STARRED" in changed["messages"][0]["labels"]
    assert trashed["id"] == sent["id"]
