"""The contract of an account provider: a module of `features/accounts/providers`, one a kind of account."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from toolcrib import plugins
from toolcrib.accounts.account import Account, Setting

PROVIDERS = "toolcrib.features.accounts.providers"


@dataclass(frozen=True, kw_only=True)
class AccountField:
    """What a form or a command asks for."""

    key: str
    label: str
    help: str = ""
    secret: bool = False
    required: bool = True
    default: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AccountDraft:
    """What an account would be; not checked yet."""

    user: str
    settings: Mapping[str, Setting]
    secret: str = field(repr=False)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AccountCheck:
    """The account works."""

    identity: str
    """Who the service says the user is."""
    remarks: tuple[str, ...] = ()
    """What works, or what to know, one sentence each."""
    secret: str = field(default="", repr=False)
    """The secret as the service changed it during the check, such as a rotated token; else empty."""


@dataclass(frozen=True, kw_only=True)
class EarlierAccount:
    """The account that a sign-in replaces."""

    account: Account
    secret: str = field(repr=False)


OpenPage = Callable[[str], Awaitable[None]]
"""Shows the user a page to sign in on."""


class SignIn(Protocol):
    """`sign_in` of a provider whose users sign in on a page instead of filling in a form."""

    async def __call__(
        self,
        name: str,
        given: Mapping[str, str],
        show: OpenPage,
        *,
        read_only: bool = False,
        earlier: EarlierAccount | None = None,
    ) -> AccountDraft:
        """Show the page and wait for the user; raises `AuthRequired` or `UsageError`."""


Revoke = Callable[[Account, str], Awaitable[bool]]
"""`revoke` of a provider that can end an access at the service; returns whether it did."""


class AccountProvider(Protocol):
    TITLE: str
    ABOUT: str
    SERVICES: tuple[str, ...]
    """The bundled servers that can use it."""
    FIELDS: tuple[AccountField, ...]

    async def prepare(self, name: str, given: Mapping[str, str]) -> AccountDraft:
        """Complete what the user gave, finding servers by the address; raises `UsageError`."""

    async def check(self, account: Account, secret: str) -> AccountCheck:
        """Connect, change nothing; raises `ToolcribError` saying what to do."""


def find_provider(name: str) -> AccountProvider:
    """The module of a provider; raises `NotFound` with the known names."""
    return cast("AccountProvider", plugins.find(PROVIDERS, name))


def sign_in_of(provider: AccountProvider) -> SignIn | None:
    """Its sign-in on a page; None if it has a form."""
    return cast("SignIn | None", getattr(provider, "sign_in", None))


def revoke_of(provider: AccountProvider) -> Revoke | None:
    return cast("Revoke | None", getattr(provider, "revoke", None))


def server_name(provider: AccountProvider, service: str) -> str:
    """What a new entry of a bundled server is called; a provider's `SERVER_NAMES` may rename it."""
    names: Mapping[str, str] = getattr(provider, "SERVER_NAMES", {})
    return names.get(service, service)


def providers_for(service: str) -> tuple[str, ...]:
    """The providers that a bundled server can use."""
    return tuple(name for name in plugins.names(PROVIDERS) if service in find_provider(name).SERVICES)
