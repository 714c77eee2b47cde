"""Google accounts for Gmail and Google Calendar, signed in to in the browser: the form (client file,
services), the check, and revoking access.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from toolcrib.accounts.account import Account
from toolcrib.accounts.google.access import GoogleAccess
from toolcrib.accounts.google.credentials import GoogleCredentials
from toolcrib.accounts.google.endpoints import GoogleEndpoints
from toolcrib.accounts.google.failures import failure_of
from toolcrib.accounts.google.tokens import revoke as revoke_at_google
from toolcrib.accounts.google.tokens import without_tokens
from toolcrib.accounts.provider import AccountCheck, AccountDraft, AccountField, EarlierAccount, OpenPage
from toolcrib.accounts.selection import services_of
from toolcrib.errors import UsageError
from toolcrib.features.accounts.google_sign_in import no_client, read_client
from toolcrib.features.accounts.google_sign_in import sign_in as sign_in_to_google
from toolcrib.serverkit.context import ToolFailure

TITLE = "Google"
ABOUT = "Gmail and Google Calendar. You sign in on Google's page, with an OAuth client of your own."
SERVICES = ("mail", "calendar")
SERVER_NAMES = {"mail": "gmail"}
FIELDS = (
    AccountField(
        key="client_file",
        label="OAuth client file",
        help="The content of the JSON file that the Google Cloud console offers for download.",
        secret=True,
        required=False,
    ),
    AccountField(
        key="client_id",
        label="Client ID",
        help="Instead of the file: ends in .apps.googleusercontent.com.",
        required=False,
    ),
    AccountField(
        key="client_secret", label="Client secret", help="Instead of the file.", secret=True, required=False
    ),
    AccountField(
        key="services",
        label="Services",
        help="What you allow access to.",
        required=False,
        default="mail,calendar",
        choices=("mail,calendar", "mail", "calendar"),
    ),
)


async def prepare(name: str, given: Mapping[str, str]) -> AccountDraft:
    """There is no form for a Google password."""
    raise UsageError(
        "A Google account is added by signing in on Google's page.",
        hint=f"Sign in in your browser: toolcrib account add google {name} --client-file FILE",
    )


async def sign_in(
    name: str,
    given: Mapping[str, str],
    show: OpenPage,
    *,
    read_only: bool = False,
    earlier: EarlierAccount | None = None,
) -> AccountDraft:
    """Sign in in the browser; the client of an earlier sign-in is used again unless another is given."""
    client, endpoints = _client(given, earlier)
    services = _services(given, earlier)
    account = Account(name=name, provider="google", read_only=read_only)
    credentials = await sign_in_to_google(account, client, endpoints, services, show)
    # The time makes the account differ from an earlier one, whose tokens may still be in use.
    settings = {"services": ",".join(services), "signed_in": int(time.time()), **endpoints.settings()}
    return AccountDraft(user="", settings=settings, secret=credentials.to_secret())


async def check(account: Account, secret: str) -> AccountCheck:
    """Read the profile of Gmail and the list of calendars."""
    holder = _SecretInMemory(secret)
    access = GoogleAccess(holder, account)
    identity, remarks = "", []
    services = services_of(account)
    if "mail" in services:
        profile = await _get(access, f"{access.base('gmail')}/gmail/v1/users/me/profile")
        identity = str(profile.get("emailAddress", ""))
        remarks.append(f"Mail: {profile.get('messagesTotal', 0)} messages.")
    if "calendar" in services:
        listed = await _get(access, f"{access.base('calendar')}/users/me/calendarList")
        calendars = [item for item in listed.get("items") or () if isinstance(item, dict)]
        primary = next((str(item.get("id", "")) for item in calendars if item.get("primary")), "")
        identity = identity or primary
        remarks.append(f"Calendar: {len(calendars)} calendar{'' if len(calendars) == 1 else 's'}.")
    return AccountCheck(identity=identity, remarks=tuple(remarks), secret=holder.changed)


async def revoke(account: Account, secret: str) -> bool:
    """End the access at Google."""
    credentials = GoogleCredentials.from_secret(secret, account.name)
    return await revoke_at_google(credentials, GoogleEndpoints.of(account.settings))


class _SecretInMemory:
    """Holds the secret of an account that is not stored yet."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self.changed = ""

    def secret(self, account: Account) -> str:
        return self._secret

    def set_secret(self, account: Account, value: str) -> None:
        self._secret = self.changed = value


async def _get(access: GoogleAccess, url: str) -> dict[str, Any]:
    response = await access.request("GET", url)
    if response.status_code >= 400:
        raise failure_of(response, access.account)
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ToolFailure(
            "Google's answer cannot be read.", "Check that nothing on the way answers in its place."
        )
    return answer


def _client(
    given: Mapping[str, str], earlier: EarlierAccount | None
) -> tuple[GoogleCredentials, GoogleEndpoints]:
    found = read_client(given)
    if found is not None:
        return found
    if earlier is None:
        raise no_client()
    credentials = GoogleCredentials.from_secret(earlier.secret, earlier.account.name)
    return without_tokens(credentials), GoogleEndpoints.of(earlier.account.settings)


def _services(given: Mapping[str, str], earlier: EarlierAccount | None) -> tuple[str, ...]:
    text = (
        given.get("services") or (earlier.account.text("services") if earlier else "") or ",".join(SERVICES)
    )
    chosen = tuple(name.strip() for name in text.split(","))
    if not set(chosen) <= set(SERVICES):
        raise UsageError(
            f"{text[:60]!r} are not services of Google.", hint="Use mail, calendar, or mail,calendar."
        )
    return tuple(service for service in SERVICES if service in chosen)
