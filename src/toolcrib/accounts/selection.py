"""Picks the account that a call uses."""

from __future__ import annotations

from toolcrib.accounts.account import Account
from toolcrib.accounts.provider import find_provider, providers_for
from toolcrib.accounts.store import AccountStore
from toolcrib.errors import NotFound
from toolcrib.serverkit.context import ToolFailure


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
        ways = " or ".join(f"toolcrib account add {provider} NAME" for provider in providers_for(service))
        raise ToolFailure(f"There is no account for {service}.", f"The user can add one: {ways}")
    known = ", ".join(_described(account) for account in accounts)
    said = f"No {service} account is called {name!r}." if name else f"There are several {service} accounts."
    raise ToolFailure(said, f"Name one of these as `account`: {known}.")


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
