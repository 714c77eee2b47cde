"""Picks the account that a call uses, and refuses changes in a read-only one; with the error messages if
there is none or several.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from toolcrib.accounts.account import Account
from toolcrib.accounts.provider import find_provider, providers_for
from toolcrib.accounts.store import AccountStore
from toolcrib.errors import NotFound
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.readiness import Lack, Readiness


def choose(store: AccountStore, service: str, name: str | None = None) -> Account:
    """The named account of a service, or the only one; raises `ToolFailure` listing the choices."""
    accounts = usable_accounts(store, service)
    if name is not None:
        found = next((account for account in accounts if account.name == name), None)
        if found is not None:
            return found
    elif len(accounts) == 1:
        return accounts[0]
    if not accounts:
        lack = _no_account(service)
        raise ToolFailure(lack.message, lack.hint)
    known = ", ".join(_described(account) for account in accounts)
    said = f"No {service} account is called {name!r}." if name else f"There are several {service} accounts."
    raise ToolFailure(said, f"Name one of these as `account`: {known}.")


def account_required(store: AccountStore, service: str, allowed: Collection[str] = ()) -> Readiness:
    """For a server that works with one of these accounts, or with any account of its service."""

    def find_lack() -> Lack | None:
        usable = [
            account for account in usable_accounts(store, service) if not allowed or account.name in allowed
        ]
        if not usable:
            return _no_account(service, allowed)
        if not any(store.has_secret(account) for account in usable):
            name, provider = usable[0].name, usable[0].provider
            again = f"Add it again: toolcrib account add {provider} {name} --replace"
            return Lack("account", f"The secret of the account {name} is not stored.", again)
        return None

    return lambda: asyncio.to_thread(find_lack)


def _no_account(service: str, allowed: Collection[str] = ()) -> Lack:
    ways = " or ".join(f"toolcrib account add {provider} NAME" for provider in providers_for(service))
    called = f" called {' or '.join(sorted(allowed))}" if allowed else ""
    return Lack("account", f"There is no account for {service}{called}.", f"Add one: {ways}")


def usable_accounts(store: AccountStore, service: str) -> list[Account]:
    """The accounts that a service can use, sorted by name."""
    return [account for account in store.all() if service in services_of(account)]


def services_of(account: Account) -> tuple[str, ...]:
    """The bundled servers that can use an account; its setting `services` may name only some of them."""
    try:
        possible = find_provider(account.provider).SERVICES
    except NotFound:  # an extension that is no longer installed
        return ()
    chosen = account.text("services").split(",") if account.settings.get("services") else possible
    return tuple(service for service in possible if service in chosen)


def _described(account: Account) -> str:
    return f"{account.name} ({account.user})" if account.user else account.name


def check_writable(account: Account) -> None:
    """Raise `ToolFailure` if the user added the account as read-only."""
    if account.read_only:
        raise ToolFailure(
            f"The account {account.name} is read-only.",
            f"The user can add it again without --read-only: toolcrib account add {account.provider} "
            f"{account.name} --replace",
        )
