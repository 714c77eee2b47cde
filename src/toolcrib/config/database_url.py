"""The setting `database`: a `postgresql://` URL, whose password is stored as a secret and not in the file."""

from __future__ import annotations

import re
from typing import Protocol
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from toolcrib.errors import MissingSecret

SECRET = "database-password"  # noqa: S105 - its name
_PASSWORD_KEY = "password"  # noqa: S105 - of the query
_URL = re.compile(r"postgres(ql)?://\S+")


class Secrets(Protocol):
    def get(self, name: str) -> str | None:
        """The secret of this name, if it is stored."""


def is_database(value: str) -> bool:
    """Whether the setting may have this value: empty, or a URL without a password."""
    return not value or (_URL.fullmatch(value) is not None and split_password(value)[1] is None)


def split_password(url: str) -> tuple[str, str | None]:
    """The URL without its password, and the password."""
    parts = urlsplit(url)
    login, at, place = parts.netloc.rpartition("@")
    user, colon, password = login.partition(":")
    query = parse_qsl(parts.query, keep_blank_values=True)
    inside = dict(query).get(_PASSWORD_KEY)
    if not colon and inside is None:
        return url, None
    rest = [(key, value) for key, value in query if key != _PASSWORD_KEY]
    plain = parts._replace(netloc=f"{user}{at}{place}", query=urlencode(rest, quote_via=quote))
    return urlunsplit(plain), unquote(password) if colon else inside


def without_password(url: str) -> str:
    return split_password(url)[0]


def with_password(url: str, password: str | None) -> str:
    """The URL to connect with; never shown or stored."""
    if not password:
        return url
    parts = urlsplit(without_password(url))
    login, at, place = parts.netloc.rpartition("@")
    if not at:
        extra = urlencode({_PASSWORD_KEY: password}, quote_via=quote)
        return urlunsplit(parts._replace(query=f"{parts.query}&{extra}" if parts.query else extra))
    return urlunsplit(parts._replace(netloc=f"{login}:{quote(password, safe='')}@{place}"))


def connection_url(url: str, secrets: Secrets) -> str:
    """The URL of the setting with its stored password, if there is one; empty for the SQLite file."""
    if not url:
        return ""
    try:
        return with_password(url, secrets.get(SECRET))
    except MissingSecret as error:
        raise MissingSecret(
            "The password of the database is in the system keyring, which did not return it.",
            hint="Unlock the keyring, or set it again with: toolcrib settings set database URL",
        ) from error
