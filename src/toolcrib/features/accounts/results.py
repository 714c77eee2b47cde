"""Accounts with other services."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from toolcrib.accounts.provider import AccountField


class AccountProviderShown(TypedDict):
    """A kind of account; `sign_in` if its users sign in in a browser."""

    provider: str
    title: str
    about: str
    services: list[str]
    """The bundled servers that can use it."""
    fields: list[AccountField]
    sign_in: bool


class AccountShown(TypedDict):
    """An account, without its secret, and what can use it."""

    name: str
    provider: str
    title: str
    user: str
    read_only: bool
    services: list[str]
    servers: list[str]
    """The configured servers that can use it."""
    settings: dict[str, str | int | bool]


class AccountAdded(TypedDict):
    account: AccountShown
    servers_added: list[str]
    """The servers that were added or turned on for it."""
    remarks: list[str]
    identity: str
    """Who the service says the user is; empty if it was not asked."""


class AccountSignInPage(TypedDict):
    sign_in: str
    """The id of the sign-in."""
    url: str
    """The page to open in the browser."""


class AccountSignInResult(TypedDict):
    state: Literal["waiting", "done", "failed"]
    error: str
    hint: str
    account: AccountShown | None
    servers_added: list[str]


class AccountSignInCancelled(TypedDict):
    sign_in: str
    cancelled: bool
    """False if it had ended before."""


class AccountTested(TypedDict):
    """Whether an account works; `error` and `hint` if not."""

    name: str
    ok: bool
    identity: str
    remarks: list[str]
    error: str
    hint: str


class AccountRemoved(TypedDict):
    removed: str
    servers_affected: list[str]
    """The configured servers that could use it."""
    remarks: list[str]
    """What is left for the user to do, such as ending the access at the service."""
