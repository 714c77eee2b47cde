"""Errors of Google's APIs as errors that say what to do next: sign in again, enable an API, allow a
permission, wait for a rate limit.
"""

from __future__ import annotations

import re
from typing import Any

import httpx2

from toolcrib.accounts.account import Account
from toolcrib.errors import AuthRequired, ToolcribError
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.network.policy import shown

RATE_REASONS = frozenset(
    {
        "rateLimitExceeded",
        "userRateLimitExceeded",
        "RATE_LIMIT_EXCEEDED",
        "quotaExceeded",
        "dailyLimitExceeded",
    }
)
_DISABLED = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})
_SCOPES = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
_API_NAMES = {"gmail": "Gmail API", "calendar": "Google Calendar API"}


def sign_in_again(account: Account, why: str) -> AuthRequired:
    """The grant cannot be used any more."""
    return AuthRequired(
        f"The Google account {account.name} needs a new sign-in: {why}.",
        hint=f"The user can sign in again: toolcrib account add google {account.name} --replace",
    )


def failure_of(response: httpx2.Response, account: Account) -> ToolcribError:
    """The error for a response that is not a success."""
    status, reasons = response.status_code, reasons_of(response)
    if status == httpx2.codes.UNAUTHORIZED:
        return sign_in_again(account, "Google rejected the access token")
    if reasons & _DISABLED:
        name = _API_NAMES["calendar" if "/calendar/" in str(response.url) else "gmail"]
        return ToolFailure(
            f"The {name} is not enabled in the Google Cloud project of the account {account.name}.",
            f"The user must enable the {name} in the Google Cloud console (APIs & Services, Library).",
        )
    if reasons & _SCOPES:
        return sign_in_again(account, "the granted permissions do not include this")
    if status == httpx2.codes.TOO_MANY_REQUESTS or reasons & RATE_REASONS:
        return ToolFailure("Google limits the requests of this account now.", "Try again in a few minutes.")
    if status >= 500:
        return ToolFailure(f"Google cannot answer now (HTTP {status}).", "Try again later.")
    return ToolFailure(f"Google refused the request (HTTP {status}): {_message(response)}")


def reasons_of(response: httpx2.Response) -> frozenset[str]:
    """The machine-readable reasons of an error: `rateLimitExceeded`."""
    error = _error(response)
    listed = [*_list(error.get("errors")), *_list(error.get("details"))]
    found = [item.get("reason") for item in listed if isinstance(item, dict)]
    return frozenset(reason for reason in found if isinstance(reason, str))


def error_code(response: httpx2.Response) -> str:
    """The error of a token endpoint: `invalid_grant`."""
    code = _document(response).get("error")
    return code if isinstance(code, str) and re.fullmatch(r"[a-z_]{1,60}", code) else ""


def _message(response: httpx2.Response) -> str:
    message = _error(response).get("message")
    return shown(message, 200) if isinstance(message, str) else "no reason given."


def _error(response: httpx2.Response) -> dict[str, Any]:
    found = _document(response).get("error")
    return found if isinstance(found, dict) else {}


def _document(response: httpx2.Response) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
