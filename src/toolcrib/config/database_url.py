"""The setting `database`: a `postgresql://` URL, whose passwords are stored as secrets and not in the file.
Decides which URLs are refused, how they are quoted, TLS to other machines, and the warning about weak TLS.

What a user gives is read by libpq, so that it means to us what it means to the connection; the URL that is
stored and shown is written anew from its parameters, every one quoted. A connection to another machine
verifies the server's certificate, unless the URL names a weaker `sslmode`.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from toolcrib.errors import MissingSecret, UsageError

if TYPE_CHECKING:
    from toolcrib.config.secrets import SecretStore

SECRET_KEYS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
"""The parameters of libpq that are secret; each is stored as the secret `database-KEY`."""
SYSTEM_ROOTS = 160_000
"""The first libpq that can use the certificate authorities of the system."""
_PART = r"(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})*"
_PLACE = rf"(?:\[[0-9A-Fa-f:.]+\]|{_PART})(?::[0-9]*)?"
_PAIR = r"[a-z_]+=(?:[^&=\s%@#?]|%[0-9A-Fa-f]{2})*"
_STORED = re.compile(
    rf"postgres(?:ql)?://(?:{_PART}@)?{_PLACE}(?:,{_PLACE})*(?:/{_PART})?(?:\?{_PAIR}(?:&{_PAIR})*)?"
)
"""URLs that can be read in one way only: nothing in them is a separator to one reader and text to another."""
_SECRET_PAIR = re.compile(rf"[?&](?:{'|'.join(SECRET_KEYS)})=")
_SCHEME = re.compile(r"postgres(?:ql)?://")
_PLAIN_HOST = re.compile(r"[A-Za-z0-9._~-]+|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*")
_AUTHORITY = ("user", "host", "port", "dbname")
_QUOTING = "Write # ? / @ : and % in a user name or password as %23 %3F %2F %40 %3A and %25."


def is_database(value: str) -> bool:
    """Whether the setting may have this value: empty, or a URL without a password, quoted."""
    return not value or (_STORED.fullmatch(value) is not None and not _SECRET_PAIR.search(value))


def split_secrets(url: str) -> tuple[str, dict[str, str]]:
    """The URL as it is stored and shown, and its secret parameters; raises `UsageError`."""
    if is_database(url):
        return url, {}
    given = parameters_of(url)
    secret = {key: value for key, value in given.items() if key in SECRET_KEYS}
    return _written({key: value for key, value in given.items() if key not in secret}), secret


def without_secrets(url: str) -> str:
    return split_secrets(url)[0]


def with_secrets(url: str, secrets: Mapping[str, str]) -> str:
    """The URL to connect with; never shown or stored."""
    plain, own = split_secrets(url)
    return _with_query(plain, {**secrets, **own})


def connection_url(url: str, secrets: SecretStore) -> str:
    """The URL of the setting with its stored secrets; empty for the SQLite file."""
    if not url:
        return ""
    try:
        stored = {key: secrets.get(secret_name(key)) for key in SECRET_KEYS}
    except MissingSecret as error:
        raise MissingSecret(
            "The password of the database is in the system keyring, which did not return it.",
            hint="Unlock the keyring, or set it again with: toolcrib settings set database URL",
        ) from error
    return with_secrets(url, {key: value for key, value in stored.items() if value})


def secret_name(key: str) -> str:
    """The name of the secret for a parameter of the URL."""
    return f"database-{key}"


def parameters_of(text: str) -> dict[str, str]:
    """The parameters of a URL or a `key=value` connection string, as libpq reads it; raises `UsageError`.

    No error repeats the text: it may have a password where libpq sees a host or a port.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    if _SCHEME.match(text):
        _check_url(text)
    try:
        given = {key: str(value) for key, value in conninfo_to_dict(text).items()}
    except (psycopg.Error, ValueError):
        raise _unreadable("libpq does not understand it") from None
    _check_parameters(given)
    return given


def _check_url(url: str) -> None:
    """Refuse what libpq divides in another place than its author meant."""
    authority, _, rest = url.partition("://")[2].partition("/")
    user = authority.partition("@")[0].partition(":")[0]
    if "@" in rest or authority.count("@") > 1:
        raise _unreadable("it has an @ where none can be")
    if "@" in authority and re.search(r"[?#&=]", user):
        raise _unreadable("its user name has a ?, #, & or =")


def _check_parameters(given: Mapping[str, str]) -> None:
    if not re.fullmatch(r"[0-9,]*", given.get("port", "")):
        raise _unreadable("its port is not a number")
    if any("@" in host[1:] for host in given.get("host", "").split(",")):
        raise _unreadable("its host has an @")
    if re.search(r"://|=", given.get("dbname", "")):
        raise _unreadable("the name of its database is another connection string")


def _unreadable(reason: str) -> UsageError:
    return UsageError(f"The URL of the database cannot be used: {reason}.", hint=_QUOTING)


def _written(given: Mapping[str, str]) -> str:
    """The same parameters as a URL with every value quoted; one plain host is in its usual place."""
    host, port = given.get("host", ""), given.get("port", "")
    query = {key: value for key, value in given.items() if key not in _AUTHORITY}
    place = ""
    if _PLAIN_HOST.fullmatch(host) and "," not in port:
        place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    else:
        query |= {key: given[key] for key in ("host", "port") if key in given}
    user = f"{quote(given['user'], safe='')}@" if given.get("user") else ""
    name = f"/{quote(given['dbname'], safe='')}" if given.get("dbname") else ""
    return _with_query(f"postgresql://{user}{place}{name}", query)


def _with_query(url: str, more: Mapping[str, str]) -> str:
    if not more:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(more, quote_via=quote, safe='')}"


def secured(given: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The parameters to connect with: verified TLS to another machine, unless a mode is named."""
    if not is_remote(given, environ):
        return dict(given)
    more = {"sslmode": given.get("sslmode") or "verify-full"}
    if more["sslmode"].startswith("verify-"):
        more["gssencmode"] = given.get("gssencmode") or "disable"
    if more["sslmode"] == "verify-full" and not given.get("sslrootcert") and _uses_system_roots(environ):
        more["sslrootcert"] = "system"
    return {**given, **more}


def _uses_system_roots(environ: Mapping[str, str]) -> bool:
    from psycopg import pq

    own = Path(environ.get("HOME") or Path.home()) / ".postgresql" / "root.crt"
    return pq.version() >= SYSTEM_ROOTS and not environ.get("PGSSLROOTCERT") and not own.exists()


def is_remote(given: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> bool:
    """Whether any of the hosts may be another machine.

    libpq takes each parameter that is missing from a service file, which may name any host, or a variable.
    """
    if (given.get("service") or environ.get("PGSERVICE")) and not (
        given.get("host") and given.get("hostaddr")
    ):
        return True
    host = given.get("host") or environ.get("PGHOST", "")
    address = given.get("hostaddr") or environ.get("PGHOSTADDR", "")
    return not all(map(_is_local, [*host.split(","), *address.split(",")]))


def _is_local(host: str) -> bool:
    """This machine: a socket file (also the default, if a list has an empty part), or loopback."""
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def tls_warning(url: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """What is wrong with the URL's TLS, if it names a weak mode for another machine."""
    given = parameters_of(url) if url else {}
    mode = given.get("sslmode", "")
    if not mode or mode.startswith("verify-") or not is_remote(given, environ):
        return None
    return (
        f"sslmode={mode} does not verify the database's certificate: who is between this machine and the "
        "database can read and change everything in it."
    )
