"""Accounts with other services: add, sign in, list, test, remove. Decides the time limit of a test, which
servers are added or turned on for an account, and the remark if access could not be revoked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from pydantic import Field

from toolcrib import plugins
from toolcrib.accounts.account import Account
from toolcrib.accounts.provider import (
    PROVIDERS,
    AccountCheck,
    AccountDraft,
    AccountProvider,
    EarlierAccount,
    OpenPage,
    find_provider,
    revoke_of,
    server_name,
    sign_in_of,
)
from toolcrib.accounts.selection import services_of
from toolcrib.accounts.store import AccountStore
from toolcrib.config.contents import SERVERS
from toolcrib.config.entries import parse_entry
from toolcrib.config.store import ConfigStore
from toolcrib.errors import CallTimeout, ConfigError, NotFound, ToolcribError, UsageError
from toolcrib.features.accounts.results import (
    AccountAdded,
    AccountProviderShown,
    AccountRemoved,
    AccountShown,
    AccountSignInCancelled,
    AccountSignInPage,
    AccountSignInResult,
    AccountTested,
)
from toolcrib.host import Host
from toolcrib.operations.command import Column, Command
from toolcrib.operations.operation import operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.pastes import free_name

BUNDLED = "toolcrib.bundled"

CHECK_TIMEOUT = 90.0
"""Seconds in which a service must be found and answer."""
NOT_REVOKED = "{title} did not confirm that the access has ended; end it in your account's settings there."
"""A remark for an account that was removed here but not there."""
LONGEST_VALUE = 64 * 1024
T = TypeVar("T")


def servers_for(host: Host, services: Collection[str]) -> list[str]:
    """The configured servers of these services, in the order of the config file."""
    modules = {module_of(service) for service in services}
    return [name for name, entry in host.config.servers.items() if entry.raw.get("module") in modules]


def check_readiness(host: Host, services: Collection[str]) -> None:
    """The accounts changed: have these services tell whether they still have what they need."""
    for name in servers_for(host, services):
        if name in host.servers:
            host.servers[name].check_readiness()


async def turn_on(host: Host, provider: AccountProvider, services: Sequence[str]) -> list[str]:
    """Add or enable a server for each service that has none; returns their names. They need no approval."""
    added, enabled = await asyncio.to_thread(_write, host.core.config_store, provider, services)
    for name, raw in added.items():
        host.core.trust.accept(parse_entry(name, raw))
    if added or enabled:
        await host.reload()
    return [*added, *enabled]


def module_of(service: str) -> str:
    """The module of a bundled server; empty if it is not installed."""
    if service not in plugins.names(BUNDLED):
        return ""
    return plugins.find(BUNDLED, service).__name__


def _write(
    store: ConfigStore, provider: AccountProvider, services: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The new entries, and the names of those that were off."""
    added: dict[str, dict[str, Any]] = {}
    enabled: list[str] = []
    with store.edit() as document:
        servers: dict[str, Any] = document.get(SERVERS) or {}
        document[SERVERS] = servers
        for service in services:
            module = module_of(service)
            found = [name for name, raw in servers.items() if _module(raw) == module]
            if module and not found:
                name = free_name(server_name(provider, service), servers)
                servers[name] = added[name] = {"type": "inprocess", "module": module}
            elif module and all(_is_off(servers[name]) for name in found):
                servers[found[0]].pop("disabled", None)
                servers[found[0]]["enabled"] = True
                enabled.append(found[0])
    return added, enabled


def _module(raw: Any) -> object:
    return raw.get("module") if isinstance(raw, Mapping) else None


def _is_off(raw: Mapping[str, Any]) -> bool:
    return raw.get("enabled") is False or raw.get("disabled") is True


@operation(page=True)
async def account_providers(host: Host) -> list[AccountProviderShown]:
    """List the kinds of accounts and what each asks for."""
    await _load_providers()
    return [_provider_shown(name) for name in plugins.names(PROVIDERS)]


@operation(
    page=True,
    command=Command(
        name="account list",
        help="List the accounts and the servers that can use them; secrets are never shown.",
        columns=(
            Column("NAME", "{name}"),
            Column("PROVIDER", "{provider}"),
            Column("USER", "{user}|-"),
            Column("ACCESS", "{read_only:=read-only}|full"),
            Column("SERVERS", "{servers:list}|-"),
        ),
        empty="No accounts yet. Add one with: toolcrib account add PROVIDER NAME",
    ),
)
async def account_list(host: Host) -> list[AccountShown]:
    """List the accounts, without their secrets, sorted by name."""
    await _load_providers()
    return [_shown(host, account) for account in await asyncio.to_thread(_store(host).all)]


class AccountParams(OperationParams):
    """A new account, and what the user filled in."""

    provider: str
    name: str
    values: dict[str, Annotated[str, Field(max_length=LONGEST_VALUE)]] = Field(
        default_factory=dict, repr=False
    )
    """By the keys of the provider's fields."""
    read_only: bool = False
    replace: bool = False
    """Replace an account of the same name."""
    check: bool = True
    """Connect before it is stored; if that fails, nothing is stored."""


@operation(page=True)
async def account_add(host: Host, params: AccountParams) -> AccountAdded:
    """Add an account: find its servers, check that it works, store it, and turn on the servers that use it.

    Nothing is stored if the check fails.
    """
    provider = await _new_account(host, params)
    draft = await _in_time(provider.prepare(params.name, params.values), params.provider)
    return await _keep(host, provider, params, draft)


@operation(page=True)
async def account_sign_in(host: Host, params: AccountParams) -> AccountSignInPage:
    """Start to add an account by a sign-in in the browser; `account_sign_in_result` has the result."""
    provider = await _new_account(host, params)
    sign_in = sign_in_of(provider)
    if sign_in is None:
        raise UsageError(
            f"{provider.TITLE} has no sign-in in the browser.", hint="Fill in its fields instead."
        )
    earlier = await asyncio.to_thread(_earlier, host, params)

    async def work(show: OpenPage) -> AccountAdded:
        draft = await sign_in(params.name, params.values, show, read_only=params.read_only, earlier=earlier)
        return await _keep(host, provider, params, draft)

    key, url = await host.accounts.begin(work)
    return {"sign_in": key, "url": url}


@operation(page=True)
async def account_sign_in_result(
    host: Host, sign_in: str, *, wait: Annotated[float, Field(ge=0, le=60)] = 0.0
) -> AccountSignInResult:
    """How a sign-in stands; returns early from `wait` seconds when it ends."""
    outcome = await host.accounts.outcome(sign_in, wait)
    answer: AccountSignInResult = {
        "state": "waiting",
        "error": "",
        "hint": "",
        "account": None,
        "servers_added": [],
    }
    if outcome is None:
        return answer
    if outcome.error is not None:
        return {**answer, "state": "failed", "error": outcome.error.message, "hint": outcome.error.hint}
    added: AccountAdded = outcome.result
    return {**answer, "state": "done", "account": added["account"], "servers_added": added["servers_added"]}


@operation(page=True)
async def account_sign_in_cancel(host: Host, sign_in: str) -> AccountSignInCancelled:
    """End a sign-in that waits for the user."""
    return {"sign_in": sign_in, "cancelled": await host.accounts.cancel(sign_in)}


@operation(page=True)
async def account_test(host: Host, name: str) -> AccountTested:
    """Connect to an account's service and change nothing."""
    store = _store(host)
    account = await asyncio.to_thread(store.get, name)
    answer: AccountTested = {
        "name": name,
        "ok": False,
        "identity": "",
        "remarks": [],
        "error": "",
        "hint": "",
    }
    try:
        secret = await asyncio.to_thread(store.secret, account)
        found = await _check(find_provider(account.provider), account, secret)
    except ToolcribError as error:
        return {**answer, "error": error.message, "hint": error.hint}
    if found.secret:
        await asyncio.to_thread(store.set_secret, account, found.secret)
    return {**answer, "ok": True, "identity": found.identity, "remarks": list(found.remarks)}


@operation(page=True)
async def account_remove(host: Host, name: str) -> AccountRemoved:
    """Forget an account and its secret, and end its access at the service where that is possible."""
    store = _store(host)
    account = await asyncio.to_thread(store.get, name)
    affected = servers_for(host, services_of(account))
    revoked = await _revoke(store, account)
    await asyncio.to_thread(store.remove, name)
    check_readiness(host, services_of(account))
    remarks = [] if revoked else [NOT_REVOKED.format(title=_title(account.provider))]
    return {"removed": name, "servers_affected": affected, "remarks": remarks}


async def _new_account(host: Host, params: AccountParams) -> AccountProvider:
    """The provider, after everything was checked that can be checked without connecting."""
    provider = await asyncio.to_thread(find_provider, params.provider)
    await asyncio.to_thread(_store(host).check_name, params.name, replace=params.replace)
    _check_fields(provider, params.values)
    host.core.masker.learn(params.values.get(field.key, "") for field in provider.FIELDS if field.secret)
    return provider


def _check_fields(provider: AccountProvider, values: Mapping[str, str]) -> None:
    known = [field.key for field in provider.FIELDS]
    unknown = sorted(values.keys() - known)
    if unknown:
        raise UsageError(
            f"{provider.TITLE} has no field {unknown[0][:60]!r}.",
            hint=f"Its fields: {', '.join(known)}.",
        )
    for field in provider.FIELDS:
        if field.required and not field.default and not values.get(field.key, "").strip():
            raise UsageError(f"{field.label} is missing.", hint=field.help)


async def _keep(
    host: Host, provider: AccountProvider, params: AccountParams, draft: AccountDraft
) -> AccountAdded:
    account = Account(
        name=params.name,
        provider=params.provider,
        user=draft.user,
        settings=draft.settings,
        read_only=params.read_only,
    )
    secret, identity, remarks = draft.secret, "", draft.remarks
    if params.check:
        found = await _check(provider, account, secret)
        secret, identity = found.secret or secret, found.identity
        remarks = (*remarks, *found.remarks)
    if not account.user:
        account = replace(account, user=identity)
    await asyncio.to_thread(_store(host).add, account, secret, replace=params.replace)
    added = await turn_on(host, provider, services_of(account))
    check_readiness(host, services_of(account))
    return {
        "account": _shown(host, account),
        "servers_added": added,
        "remarks": list(remarks),
        "identity": identity,
    }


async def _check(provider: AccountProvider, account: Account, secret: str) -> AccountCheck:
    return await _in_time(provider.check(account, secret), account.provider)


async def _in_time(work: Awaitable[T], provider: str) -> T:
    try:
        async with asyncio.timeout(CHECK_TIMEOUT):
            return await work
    except TimeoutError:
        raise CallTimeout(
            f"The {provider} service did not answer within {CHECK_TIMEOUT:g} s.",
            hint="Check its address and the network.",
        ) from None


def _earlier(host: Host, params: AccountParams) -> EarlierAccount | None:
    """The account that is replaced, if it is of the same kind and its secret can be read."""
    store = _store(host)
    try:
        account = store.get(params.name)
        if account.provider != params.provider:
            return None
        return EarlierAccount(account=account, secret=store.secret(account))
    except (NotFound, ConfigError):
        return None


async def _revoke(store: AccountStore, account: Account) -> bool:
    """False if the service did not end the access; that does not keep an account from being removed."""
    try:
        revoke = revoke_of(await asyncio.to_thread(find_provider, account.provider))
        if revoke is None:
            return True
        secret = await asyncio.to_thread(store.secret, account)
        return await _in_time(revoke(account, secret), account.provider)
    except ToolcribError:
        return False


async def _load_providers() -> None:
    """In a thread: some of them are slow to import."""
    await asyncio.to_thread(lambda: [find_provider(name) for name in plugins.names(PROVIDERS)])


def _store(host: Host) -> AccountStore:
    return AccountStore(host.paths, host.core.secrets)


def _provider_shown(name: str) -> AccountProviderShown:
    provider = find_provider(name)
    return {
        "provider": name,
        "title": provider.TITLE,
        "about": provider.ABOUT,
        "services": list(provider.SERVICES),
        "fields": list(provider.FIELDS),
        "sign_in": sign_in_of(provider) is not None,
    }


def _shown(host: Host, account: Account) -> AccountShown:
    services = services_of(account)
    return {
        "name": account.name,
        "provider": account.provider,
        "title": _title(account.provider),
        "user": account.user,
        "read_only": account.read_only,
        "services": list(services),
        "servers": servers_for(host, services),
        "settings": dict(account.settings),
    }


def _title(provider: str) -> str:
    try:
        return find_provider(provider).TITLE
    except NotFound:  # an extension that is no longer installed
        return provider
