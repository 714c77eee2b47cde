"""The user's accounts with other services: settings, secrets, sign-in, and authenticated connections.

Bundled servers use accounts by name. `store` keeps them, `selection` picks one for a call; accounts are
added by `features/accounts/`.
"""

from toolcrib.accounts.account import Account
from toolcrib.accounts.selection import choose
from toolcrib.accounts.store import AccountStore

__all__ = ["Account", "AccountStore", "choose"]
