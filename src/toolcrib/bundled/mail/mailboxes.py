"""The mailbox of the account that a call uses; opened once, and again after the account was changed. Has the
errors for read-only accounts and for calls that must name one of several accounts."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import NamedTuple

from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.selection import choose, usable_accounts
from toolcrib.bundled.mail.gmail import GmailMailbox
from toolcrib.bundled.mail.imap import ImapMailbox
from toolcrib.bundled.mail.mailbox import Mailbox
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.extras import ensure

SERVICE = "mail"


class Chosen(NamedTuple):
    account: Account
    mailbox: Mailbox


class Mailboxes:
    def __init__(self, store: AccountStore, allowed: Collection[str] = ()) -> None:
        self._store = store
        self._allowed = frozenset(allowed)
        self._imap: dict[str, tuple[Account, str, ImapMailbox]] = {}
        self._gmail: dict[str, tuple[Account, GmailMailbox]] = {}

    async def choose(
        self, name: str | None, *, change: bool = False, context: ToolContext | None = None
    ) -> Chosen:
        """The mailbox of the named account, or of the only one; raises `ToolFailure`."""
        account = await asyncio.to_thread(self._choose, name)
        if change and account.read_only:
            raise ToolFailure(
                f"The account {account.name} is read-only in Toolcrib.",
                f"To allow changes: toolcrib account add {account.provider} {account.name} --replace",
            )
        if account.provider == "google":
            return Chosen(account, await self._open_gmail(account))
        await ensure(SERVICE, context)
        return Chosen(account, await asyncio.to_thread(self._open_imap, account))

    def close(self) -> None:
        """End all connections."""
        for _, _, mailbox in self._imap.values():
            mailbox.close()
        self._imap.clear()

    def _choose(self, name: str | None) -> Account:
        if not self._allowed:
            return choose(self._store, SERVICE, name)
        if name is None:
            there = [
                account.name
                for account in usable_accounts(self._store, SERVICE)
                if account.name in self._allowed
            ]
            name = there[0] if len(there) == 1 else None
        if name is None or name not in self._allowed:
            known = ", ".join(sorted(self._allowed))
            said = (
                f"The account {name!r} is not enabled for this server."
                if name
                else "There are several accounts."
            )
            raise ToolFailure(said, f"Name one of these as `account`: {known}.")
        return choose(self._store, SERVICE, name)

    async def _open_gmail(self, account: Account) -> GmailMailbox:
        known = self._gmail.get(account.name)
        if known is None or known[0] != account:
            known = self._gmail[account.name] = (account, GmailMailbox(self._store, account))
        await known[1].identify()
        return known[1]

    def _open_imap(self, account: Account) -> ImapMailbox:
        secret = self._store.secret(account)
        known = self._imap.get(account.name)
        if known is not None and known[:2] == (account, secret):
            return known[2]
        if known is not None:
            known[2].close()
        mailbox = ImapMailbox(account, secret)
        self._imap[account.name] = (account, secret, mailbox)
        return mailbox
