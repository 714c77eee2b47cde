"""Google accounts: the sign-in in the browser, the tokens, and requests with them.

    access = GoogleAccess(store, account)
    response = await access.request("GET", f"{access.base('gmail')}/gmail/v1/users/me/profile")

`endpoints` has the addresses, `credentials` what is stored as the account's secret, `tokens` the token
endpoint, `access` the requests, `failures` what went wrong in them. The browser flow is in
`features/accounts/google_sign_in.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.loading import lazy_names

if TYPE_CHECKING:
    from toolcrib.accounts.google.access import GoogleAccess
    from toolcrib.accounts.google.credentials import GoogleCredentials
    from toolcrib.accounts.google.failures import failure_of

_MODULES = {"GoogleAccess": "access", "GoogleCredentials": "credentials", "failure_of": "failures"}

__all__ = ["GoogleAccess", "GoogleCredentials", "failure_of"]

__getattr__ = lazy_names(__name__, _MODULES)
