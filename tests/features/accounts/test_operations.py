"""Accounts through operations: checked before they are stored, and their servers are turned on."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.accounts.google_service import USER, Answer, GoogleService, google_service
from tests.features.accounts.ledger_package import installed_package
from toolcrib import plugins
from toolcrib.accounts import AccountStore
from toolcrib.errors import AuthRequired, NotFound, UsageError
from toolcrib.features.accounts.operations import AccountParams
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform

DEADLINE = 60.0
VALUES = {"user": "ada@example.org", "password": "open sesame"}
MODULE = "ledgers.server"


@pytest.fixture
def package(tmp_path: Path) -> Iterator[None]:
    with installed_package(tmp_path / "site"):
        yield


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: None) -> AsyncIterator[Host]:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    monkeypatch.delenv("TOOLCRIB_TRUST_CONFIG", raising=False)
    async with open_host(tmp_path / "home", watch=False) as opened:
        yield opened


@pytest.fixture
async def google() -> AsyncIterator[GoogleService]:
    async with google_service() as service:
        yield service


async def ask(host: Host, operation: str, **params: Any) -> Any:
    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation(from_page=True))


async def add(host: Host, name: str = "home", **more: Any) -> Any:
    return await ask(host, "account_add", **{"provider": "ledger", "name": name, "values": VALUES, **more})


def entries(host: Host) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(host.core.config_store.path.read_text())["mcpServers"]
    return found


def store(host: Host) -> AccountStore:
    return AccountStore(host.paths)


async def test_an_added_account_turns_its_server_on(host: Host) -> None:
    added = await add(host)
    await host.ready()

    assert added["servers_added"] == ["ledger"]
    assert added["identity"] == "ada@example.org"
    assert added["remarks"] == ["Found the host.", "The ledger has 3 pages."]
    assert entries(host)["ledger"] == {"type": "inprocess", "module": MODULE}
    assert (await host.call("ledger__pages"))["content"][0]["text"] == "3"


async def test_the_list_shows_everything_but_the_secret(host: Host) -> None:
    await add(host, read_only=True)

    listed = await ask(host, "account_list")

    assert listed == [
        {
            "name": "home",
            "provider": "ledger",
            "title": "Ledger",
            "user": "ada@example.org",
            "read_only": True,
            "services": ["ledger"],
            "servers": ["ledger"],
            "settings": {"host": "example.org", "security": "tls"},
        }
    ]


async def test_a_second_account_adds_no_second_server(host: Host) -> None:
    await add(host, "one")

    assert (await add(host, "two"))["servers_added"] == []


async def test_a_server_that_was_off_is_turned_on(host: Host) -> None:
    kept = {"type": "inprocess", "module": MODULE, "args": ["--kept"]}
    host.core.config_store.add_server("books", {**kept, "disabled": True})

    added = await add(host)

    assert added["servers_added"] == ["books"]
    assert entries(host)["books"] == {
        "type": "inprocess",
        "module": MODULE,
        "args": ["--kept"],
        "enabled": True,
    }


async def test_a_server_that_was_changed_needs_approval_although_it_is_turned_on(host: Host) -> None:
    host.core.config_store.add_server("books", {"module": MODULE, "type": "inprocess", "enabled": False})

    await add(host)

    assert host.servers.status("books").state == "needs-trust"


async def test_a_name_that_is_taken_gets_a_number(host: Host) -> None:
    host.core.config_store.add_server("ledger", {"type": "inprocess", "module": "toolcrib.bundled.demo"})

    assert (await add(host))["servers_added"] == ["ledger-2"]


async def test_nothing_is_stored_if_the_check_fails(host: Host) -> None:
    with pytest.raises(AuthRequired, match="rejected the password"):
        await add(host, values={**VALUES, "password": "wrong one"})

    assert await ask(host, "account_list") == []
    assert "ledger" not in entries(host)
    assert host.core.secrets.names() == ()


async def test_without_a_check_the_account_is_stored_as_given(host: Host) -> None:
    added = await add(host, values={**VALUES, "password": "wrong one"}, check=False)
    tested = await ask(host, "account_test", name="home")

    assert added["identity"] == ""
    assert tested == {
        "name": "home",
        "ok": False,
        "identity": "",
        "remarks": [],
        "error": "The ledger rejected the password.",
        "hint": "Check the password.",
    }


async def test_a_working_account_says_who_the_user_is(host: Host) -> None:
    await add(host)

    tested = await ask(host, "account_test", name="home")

    assert (tested["ok"], tested["identity"]) == (True, "ada@example.org")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": {"user": "ada@example.org"}}, "Password is missing"),
        ({"values": {**VALUES, "colour": "red"}}, "no field 'colour'"),
        ({"values": {**VALUES, "user": "ada"}}, "not an address"),
        ({"name": "../x"}, "cannot be the name"),
        ({"values": {**VALUES, "user": "x" * 70_000}}, "at most"),
    ],
)
async def test_what_cannot_be_an_account_is_refused(host: Host, change: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        await add(host, **change)
    assert await ask(host, "account_list") == []


async def test_an_unknown_provider_is_refused_with_the_known_ones(host: Host) -> None:
    with pytest.raises(NotFound) as raised:
        await add(host, provider="nonsense")
    assert "google" in raised.value.hint


async def test_a_used_name_is_refused_unless_replaced(host: Host) -> None:
    await add(host)
    with pytest.raises(UsageError, match="already an account"):
        await add(host)

    await add(host, replace=True, values={**VALUES, "security": "plain"})

    assert (await ask(host, "account_list"))[0]["settings"]["security"] == "plain"


async def test_a_removed_account_is_forgotten_with_its_secret(host: Host) -> None:
    await add(host)

    removed = await ask(host, "account_remove", name="home")

    assert removed == {"removed": "home", "servers_affected": ["ledger"], "remarks": []}
    assert host.core.secrets.names() == ()
    with pytest.raises(NotFound):
        await ask(host, "account_test", name="home")


async def test_the_providers_say_what_they_ask_for(host: Host) -> None:
    providers = {each["provider"]: each for each in await ask(host, "account_providers")}

    assert providers["ledger"]["fields"][1] == {
        "key": "password",
        "label": "Password",
        "help": "",
        "secret": True,
        "required": True,
        "default": "",
        "choices": [],
    }
    assert not providers["ledger"]["sign_in"]
    assert providers["google"]["sign_in"]
    assert providers["google"]["services"] == ["mail", "calendar"]


async def test_secrets_are_neither_logged_nor_shown(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    params = AccountParams(provider="ledger", name="home", values=VALUES)
    answer = await add(host)
    text = host.paths.accounts_file.read_text() + host.core.config_store.path.read_text()

    assert "open sesame" not in repr(params) + caplog.text + json.dumps(answer) + text
    assert "open sesame" not in host.core.masker.text("the password is open sesame")


async def sign_in(host: Host, google: GoogleService, name: str = "work", **more: Any) -> Any:
    values = {"client_file": google.client_file()}
    return await ask(
        host, "account_sign_in", **{"provider": "google", "name": name, "values": values, **more}
    )


async def result(host: Host, page: dict[str, str]) -> Any:
    return await ask(host, "account_sign_in_result", sign_in=page["sign_in"], wait=30)


async def test_a_sign_in_in_the_browser_adds_the_account(host: Host, google: GoogleService) -> None:
    page = await sign_in(host, google)
    waiting = await ask(host, "account_sign_in_result", sign_in=page["sign_in"])
    await google.agree(page["url"])
    done = await result(host, page)

    bundled = plugins.names("toolcrib.bundled")
    expected = [name for service, name in (("mail", "gmail"), ("calendar", "calendar")) if service in bundled]
    assert waiting["state"] == "waiting"
    assert done["state"] == "done"
    assert done["account"]["user"] == USER
    assert done["servers_added"] == expected
    assert (await ask(host, "account_test", name="work"))["ok"]


async def test_a_refused_sign_in_says_why_and_stores_nothing(host: Host, google: GoogleService) -> None:
    google.denied = "access_denied"
    page = await sign_in(host, google)
    await google.agree(page["url"])

    failed = await result(host, page)

    assert (failed["state"], failed["account"]) == ("failed", None)
    assert "access_denied" in failed["error"]
    assert await ask(host, "account_list") == []


async def test_a_sign_in_whose_check_fails_stores_nothing(host: Host, google: GoogleService) -> None:
    google.planned = [Answer(403, {"error": {"errors": [{"reason": "accessNotConfigured"}]}})]
    page = await sign_in(host, google)
    await google.agree(page["url"])

    failed = await result(host, page)

    assert "Gmail API is not enabled" in failed["error"]
    assert await ask(host, "account_list") == []


async def test_a_cancelled_sign_in_fails_and_is_unknown_to_others(host: Host, google: GoogleService) -> None:
    page = await sign_in(host, google)

    cancelled = await ask(host, "account_sign_in_cancel", sign_in=page["sign_in"])
    again = await ask(host, "account_sign_in_cancel", sign_in=page["sign_in"])

    assert (cancelled["cancelled"], again["cancelled"]) == (True, False)
    assert (await result(host, page))["state"] == "failed"
    with pytest.raises(NotFound):
        await ask(host, "account_sign_in_result", sign_in="guessed")


async def test_a_sign_in_without_a_client_fails_at_once(host: Host, google: GoogleService) -> None:
    with pytest.raises(UsageError, match="OAuth client"):
        await sign_in(host, google, values={})


async def test_a_sign_in_again_needs_no_client(host: Host, google: GoogleService) -> None:
    page = await sign_in(host, google)
    await google.agree(page["url"])
    await result(host, page)
    google.revoke_everything()
    assert not (await ask(host, "account_test", name="work"))["ok"]

    page = await sign_in(host, google, values={}, replace=True)
    await google.agree(page["url"])

    assert (await result(host, page))["state"] == "done"
    assert (await ask(host, "account_test", name="work"))["ok"]


async def test_a_token_that_the_test_rotated_is_stored(host: Host, google: GoogleService) -> None:
    google.rotates, google.lifetime = True, 1
    page = await sign_in(host, google)
    await google.agree(page["url"])
    await result(host, page)

    for _ in range(3):
        assert (await ask(host, "account_test", name="work"))["ok"]


async def test_a_removed_google_account_is_revoked(host: Host, google: GoogleService) -> None:
    page = await sign_in(host, google)
    await google.agree(page["url"])
    await result(host, page)

    await ask(host, "account_remove", name="work")

    assert google.grants[0].revoked


async def test_an_account_is_removed_although_google_cannot_be_reached(host: Host) -> None:
    async with google_service() as google:
        page = await sign_in(host, google)
        await google.agree(page["url"])
        await result(host, page)

    removed = await ask(host, "account_remove", name="work")

    assert removed["removed"] == "work"
    assert "Google did not confirm" in removed["remarks"][0]
    assert await ask(host, "account_list") == []


async def test_a_form_for_google_points_to_the_sign_in(host: Host) -> None:
    with pytest.raises(UsageError, match="signing in on Google's page"):
        await add(host, provider="google", values={})


async def test_a_host_that_closes_ends_its_sign_ins(tmp_path: Path, google: GoogleService) -> None:
    async with open_host(tmp_path / "other", watch=False) as host:
        page = await sign_in(host, google)
    with pytest.raises(httpx2.ConnectError):
        await google.agree(page["url"])
