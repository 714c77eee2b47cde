"""The servers of an IMAP account: host, port and encryption of IMAP and of SMTP; how `HOST:PORT` is read, and
the encryption that a port implies.
"""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from typing import Literal, Self, cast

from toolcrib.accounts.account import Account, Setting
from toolcrib.errors import ConfigError, UsageError

Security = Literal["tls", "starttls", "plain"]
SECURITIES: tuple[Security, ...] = ("tls", "starttls", "plain")
_STARTTLS_PORTS = frozenset({143, 25, 587, 2525})
"""Standard ports on which a connection starts unencrypted."""


@dataclass(frozen=True)
class MailServer:
    host: str
    port: int
    security: Security

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True)
class MailServers:
    imap: MailServer
    smtp: MailServer
    login: str
    """The user name for both; often the address."""
    address: str
    """Where mail comes from and replies go."""
    name: str = ""
    """The sender's name."""
    certificate: str = ""
    """A file with a certificate to trust besides those of the system."""

    @classmethod
    def of(cls, account: Account) -> Self:
        """From an account's settings."""
        return cls(
            imap=_stored(account, "imap"),
            smtp=_stored(account, "smtp"),
            login=account.text("login") or account.user,
            address=account.text("address") or account.user,
            name=account.text("name"),
            certificate=account.text("certificate"),
        )

    def settings(self) -> dict[str, Setting]:
        """The form in which an account stores them."""
        stored: dict[str, Setting] = {}
        for key, server in (("imap", self.imap), ("smtp", self.smtp)):
            stored |= {f"{key}_host": server.host, f"{key}_port": server.port}
            stored[f"{key}_security"] = server.security
        extra = {"name": self.name, "certificate": self.certificate}
        return {
            **stored,
            "login": self.login,
            "address": self.address,
            **{k: v for k, v in extra.items() if v},
        }

    def tls(self) -> ssl.SSLContext:
        """Checks certificates and host names."""
        context = ssl.create_default_context()
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.certificate:
            try:
                context.load_verify_locations(self.certificate)
            except (OSError, ssl.SSLError) as error:
                raise ConfigError(
                    f"The certificate {self.certificate} cannot be read.",
                    hint="Name a PEM file, or add the account again without it.",
                ) from error
        return context


def read_endpoint(text: str, *, default_port: int, security: str = "") -> MailServer:
    """From `HOST:PORT`, `HOST` or `[::1]:PORT`; raises `UsageError`."""
    host, port = _split(text.strip(), default_port)
    if security and security not in SECURITIES:
        raise UsageError(f"{security!r} is not a kind of encryption.", hint="Use tls, starttls or plain.")
    usual: Security = "starttls" if port in _STARTTLS_PORTS else "tls"
    chosen = usual if security in ("", "tls") else cast("Security", security)
    return MailServer(host, port, chosen)


def is_local(host: str) -> bool:
    """Whether the host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _split(text: str, default_port: int) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if text.endswith("]") or not colon or (":" in host and not host.startswith("[")):
        host, port = text, str(default_port)
    host = host.removeprefix("[").removesuffix("]")
    valid = host and not any(character.isspace() or character in "/@" for character in host)
    if not valid or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise UsageError(f"{text[:100]!r} is not HOST:PORT.", hint="For example imap.example.org:993.")
    return host, int(port)


def _stored(account: Account, key: str) -> MailServer:
    host, port = account.text(f"{key}_host"), account.number(f"{key}_port")
    security = account.text(f"{key}_security", "tls")
    if not host or not port or security not in SECURITIES:
        raise ConfigError(
            f"The account {account.name} has no {key.upper()} server.",
            hint=f"Add it again: toolcrib account add imap {account.name} --replace",
        )
    return MailServer(host, port, security)
