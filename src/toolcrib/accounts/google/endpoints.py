"""The addresses of Google's services, and which others may take their place.

A client file or a setting may name other endpoints only on this machine, where an emulator listens: a file
from a stranger must not lead a sign-in to the stranger's server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from toolcrib.accounts.account import Setting
from toolcrib.errors import UsageError
from toolcrib.serverkit.network import NetworkPolicy, endpoint_of
from toolcrib.serverkit.network.policy import shown

GoogleApi = Literal["gmail", "calendar"]

AUTH_URI = "https://accounts.google.com/o/oauth2/v2/auth"
TOKEN_URI = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
REVOKE_URI = "https://oauth2.googleapis.com/revoke"
ISSUER = "https://accounts.google.com"
KEYS = ("auth_uri", "token_uri", "revoke_uri", "api")
"""Settings that replace an address."""
_GOOGLE = ("accounts.google.com", "oauth2.googleapis.com", "www.googleapis.com")
_BASES: dict[GoogleApi, str] = {
    "gmail": "https://gmail.googleapis.com",
    "calendar": "https://www.googleapis.com/calendar/v3",
}


@dataclass(frozen=True, kw_only=True)
class GoogleEndpoints:
    auth_uri: str = AUTH_URI
    token_uri: str = TOKEN_URI
    revoke_uri: str = REVOKE_URI
    api: str = ""
    """The origin of an emulator of the APIs, such as `http://127.0.0.1:4002`."""

    @classmethod
    def of(cls, settings: Mapping[str, Setting]) -> GoogleEndpoints:
        """The endpoints of an account's settings; raises `UsageError` for addresses that are not allowed."""
        given = {key: str(settings[key]) for key in KEYS if settings.get(key)}
        for key, address in given.items():
            _check(key, address)
        return cls(**given)

    def settings(self) -> dict[str, Setting]:
        """Only what differs from Google's own."""
        usual = GoogleEndpoints()
        return {key: getattr(self, key) for key in KEYS if getattr(self, key) != getattr(usual, key)}

    def base(self, api: GoogleApi) -> str:
        """What comes before a path: `/gmail/v1/users/me/…` of Gmail, `/users/me/calendarList` of Calendar.

        With an emulator these are `{api}/gmail/v1/users/me/…` and `{api}/calendar/v3/users/me/calendarList`.
        """
        if not self.api:
            return _BASES[api]
        return self.api.rstrip("/") + ("/calendar/v3" if api == "calendar" else "")

    def is_ours(self, url: str) -> bool:
        """Whether a URL belongs to one of the APIs, so that it may receive a token."""
        bases = (self.base("gmail"), self.base("calendar"))
        return _origin(url) in [_origin(base) for base in bases]

    @property
    def issuer(self) -> str:
        """Who answers a sign-in, as the `iss` of its redirect says."""
        return (
            ISSUER
            if urlsplit(self.auth_uri).hostname in _GOOGLE
            else "{}://{}".format(*_origin(self.auth_uri))
        )

    @property
    def policy(self) -> NetworkPolicy:
        """Public addresses, and the emulator that the user named."""
        exceptions = [endpoint_of(str(address)) for address in self.settings().values()]
        return NetworkPolicy(allow_private=frozenset(exceptions))


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _check(key: str, address: str) -> None:
    parts = urlsplit(address)
    host = parts.hostname or ""
    local = parts.scheme in ("http", "https") and _is_loopback(host)
    plain = address.isascii() and address.isprintable() and not set(address) & set(" \\?#@")
    if not plain or not (local or _is_google(parts.scheme, host)):
        raise UsageError(
            f"{key} is not an address of Google: {shown(f'{parts.scheme}://{host}')}.",
            hint="Download the client file from the Google Cloud console again.",
        )


def _is_google(scheme: str, host: str) -> bool:
    return scheme == "https" and host in _GOOGLE


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
