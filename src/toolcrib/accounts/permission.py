"""Read-only accounts refuse every change."""

from __future__ import annotations

from toolcrib.accounts.account import Account
from toolcrib.serverkit.context import ToolFailure


def check_writable(account: Account) -> None:
    """Raise `ToolFailure` if the user added the account as read-only."""
    if account.read_only:
        raise ToolFailure(
            f"The account {account.name} is read-only.",
            f"The user can add it again without --read-only: toolcrib account add {account.provider} "
            f"{account.name} --replace",
        )
