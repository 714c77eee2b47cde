"""Errors of mail servers in words that say what to do next: app password needed, wrong password, mailbox
full, invalid certificate, unknown host.
"""

from __future__ import annotations

import re
import socket
import ssl

from toolcrib.accounts.mail_servers import MailServer
from toolcrib.errors import (
    AuthRequired,
    CallFailed,
    CallTimeout,
    ConnectionLost,
    RemoteUnreachable,
    ToolcribError,
)

_NEEDS_APP_PASSWORD = re.compile(
    r"app(lication)?[- ]specific|app password|invalidsecondfactor|web login required|less secure|"
    r"basic ?auth|account is blocked|not.{0,20}enabled|authorization code",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"overquota|over quota|quota exceeded|mailbox (is )?full|5\.2\.2|insufficient storage", re.IGNORECASE
)


class MailboxFull(CallFailed):
    """The mailbox, or that of a recipient, has no space left."""

    kind = "mailbox_full"


def plain_text(said: object) -> str:
    """What a server said, on one line and shortened."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:300]


def connection_error(server: MailServer, error: Exception) -> ToolcribError:
    """Why a connection could not be made or was lost."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return RemoteUnreachable(
            f"The certificate of {server} is not valid: {error.verify_message}.",
            hint="Check the host name. For a certificate of your own, give its file with the account.",
        )
    if isinstance(error, ssl.SSLError):
        other = "starttls" if server.security == "tls" else "tls"
        return RemoteUnreachable(
            f"An encrypted connection to {server} failed ({error.reason or 'TLS error'}).",
            hint=f"The server may expect {other} on this port: add the account again with --{other}.",
        )
    if isinstance(error, socket.gaierror):
        return RemoteUnreachable(
            f"The host name {server.host} does not resolve.", hint="Check its spelling and the network."
        )
    if isinstance(error, TimeoutError):
        return CallTimeout(
            f"{server} did not answer in time.", hint="Check host, port and network, or try again later."
        )
    if isinstance(error, ConnectionRefusedError):
        return RemoteUnreachable(
            f"{server} refused the connection.", hint="Check host and port, and whether the server runs."
        )
    return ConnectionLost(f"The connection to {server} was lost.", hint="Try again.")


def sign_in_error(server: MailServer, said: object, account: str) -> AuthRequired:
    """The server refused user name or password."""
    text = plain_text(said)
    again = f"toolcrib account add imap {account or 'NAME'} --replace"
    if _NEEDS_APP_PASSWORD.search(text):
        hint = f"The provider wants an app password, created in its security settings; then: {again}"
    else:
        hint = f"Check the password (some providers need an app password), then: {again}"
    return AuthRequired(f"{server} refused the sign-in: {text or 'no reason given'}.", hint=hint)


def is_over_quota(said: object) -> bool:
    return bool(_QUOTA.search(plain_text(said)))


def refused_command(server: MailServer, said: object) -> ToolcribError:
    """The server answered a command with NO or BAD."""
    text = plain_text(said)
    if is_over_quota(text):
        return MailboxFull(
            f"The mailbox on {server.host} is full.",
            hint="The user must delete mail or get more space, then try again.",
        )
    return CallFailed(
        f"{server.host} refused: {text}.", hint="Try again later, or check the folder in a mail program."
    )
