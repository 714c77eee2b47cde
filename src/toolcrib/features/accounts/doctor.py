"""Accounts with other services: whether the file can be read, and each secret is stored."""

from __future__ import annotations

import asyncio

from toolcrib import plugins
from toolcrib.accounts.account import Account
from toolcrib.accounts.provider import PROVIDERS
from toolcrib.accounts.store import AccountStore
from toolcrib.errors import ConfigError, MissingSecret
from toolcrib.operations.health import CheckContext, CheckResult, broken, ok, warning


async def check(context: CheckContext) -> list[CheckResult]:
    """Check without connecting to any service; `toolcrib account test` does that."""
    store = AccountStore(context.paths)
    try:
        accounts = await asyncio.to_thread(store.all)
    except ConfigError as error:
        return [broken("accounts", error.message, error.hint)]
    return [await asyncio.to_thread(_examine, store, account) for account in accounts]


def _examine(store: AccountStore, account: Account) -> CheckResult:
    name = f"account {account.name}"
    if account.provider not in plugins.names(PROVIDERS):
        return warning(
            name, f"Its provider {account.provider} is not installed.", "Install it, or remove the account."
        )
    try:
        store.secret(account)
    except (MissingSecret, ConfigError) as error:
        return broken(name, error.message, error.hint)
    return ok(name, f"{account.provider}, {account.user or 'no user name'}; its secret is stored.")
