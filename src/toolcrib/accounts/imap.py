"""An authenticated IMAP connection for an account: timeouts, encryption (TLS, STARTTLS), and ways to sign in.

Imports IMAPClient, which belongs to the extra `mail`: import this module only where it is used.
"""

from __future__ import annotations

import contextlib
import imaplib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from imapclient import IMAPClient, SocketTimeout
from imapclient.exceptions import LoginError

from toolcrib.accounts.mail_errors import connection_error, refused_command, sign_in_error
from toolcrib.accounts.mail_servers import MailServer, MailServers
from toolcrib.errors import RemoteUnreachable, ToolcribError

CONNECT_TIMEOUT = 15.0
READ_TIMEOUT = 60.0


class ImapConnection(IMAPClient):  # type: ignore[misc]
    """IMAPClient with a search whose arguments are quoted by the caller."""

    def find(self, criteria: Sequence[bytes]) -> list[int]:
        """UIDs, ascending. IMAPClient's own search does not quote parentheses, and loses nested charsets."""
        ascii_only = all(word.isascii() for word in criteria)
        words = list(criteria) if ascii_only else [b"CHARSET", b"UTF-8", *criteria]
        return sorted(_numbers(self._raw_command_untagged(b"SEARCH", words)))

    def find_by_date(self, criteria: Sequence[bytes]) -> list[int] | None:
        """UIDs from the oldest to the newest date; None if the server cannot sort (RFC 5256).

        Some servers offer SORT and refuse it, for a folder or always.
        """
        if not self.has_capability("SORT"):
            return None
        charset = b"US-ASCII" if all(word.isascii() for word in criteria) else b"UTF-8"
        try:
            return _numbers(self._raw_command_untagged(b"SORT", [b"(DATE ARRIVAL)", charset, *criteria]))
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            return None

    def answered(self, code: bytes) -> list[bytes]:
        """What the last response said under this code, such as COPYUID; empty if nothing."""
        _, data = self._imap.response(code.decode())
        return [part for part in data or () if isinstance(part, bytes)]


def _numbers(lines: Sequence[bytes | None]) -> list[int]:
    """The numbers of one or more responses, without a MODSEQ at the end."""
    return [int(number) for line in lines for number in (line or b"").partition(b"(")[0].split()]


def connect_imap(servers: MailServers, password: str, *, account: str = "") -> ImapConnection:
    """Connect and sign in; raises `ToolcribError`. Blocking."""
    with translated(servers.imap):
        connection = _open(servers)
    try:
        with translated(servers.imap):
            if servers.imap.security == "starttls":
                _start_tls(connection, servers)
            _sign_in(connection, servers, password)
    except LoginError as error:
        close_quietly(connection)
        raise sign_in_error(servers.imap, _without_command(error), account) from None
    except BaseException:
        close_quietly(connection)
        raise
    return connection


@contextmanager
def translated(server: MailServer) -> Iterator[None]:
    """Errors of the connection as `ToolcribError`."""
    try:
        yield
    except (ToolcribError, LoginError):
        raise
    except (OSError, imaplib.IMAP4.abort) as error:
        raise connection_error(server, error) from error
    except imaplib.IMAP4.error as error:
        raise refused_command(server, _without_command(error)) from error


def close_quietly(connection: ImapConnection) -> None:
    """End a connection whatever state it is in."""
    with contextlib.suppress(Exception):
        connection.shutdown()


def _open(servers: MailServers) -> ImapConnection:
    server = servers.imap
    encrypted = server.security == "tls"
    connection = ImapConnection(
        server.host,
        server.port,
        ssl=encrypted,
        ssl_context=servers.tls() if encrypted else None,
        timeout=SocketTimeout(CONNECT_TIMEOUT, READ_TIMEOUT),
    )
    connection.normalise_times = False
    return connection


def _start_tls(connection: ImapConnection, servers: MailServers) -> None:
    if not connection.has_capability("STARTTLS"):
        raise RemoteUnreachable(
            f"{servers.imap} does not offer encryption (STARTTLS).",
            hint="Use its TLS port (usually 993) with --tls; --plain sends the password unencrypted.",
        )
    connection.starttls(servers.tls())


def _sign_in(connection: ImapConnection, servers: MailServers, password: str) -> None:
    """`LOGIN` is for ASCII only, and some servers turn it off."""
    ascii_only = servers.login.isascii() and password.isascii()
    if connection.has_capability("AUTH=PLAIN") and (
        not ascii_only or connection.has_capability("LOGINDISABLED")
    ):
        connection.plain_login(servers.login, password)
    else:
        connection.login(servers.login, password)


def _without_command(error: Exception) -> str:
    """IMAPClient puts `command failed:` before the server's text, which may be a bytes literal."""
    said: Any = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    text = text.rpartition("failed: ")[2] if "failed: " in text else text
    return text.removeprefix("b'").removeprefix('b"').rstrip("'\"")
