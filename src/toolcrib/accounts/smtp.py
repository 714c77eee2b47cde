"""Sends mail for an account by SMTP: timeout, encryption, sign-in, and the reasons why a message was not sent
(too large, recipients refused). Blocking: use a thread.
"""

from __future__ import annotations

import smtplib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from toolcrib.accounts.mail_errors import (
    MailboxFull,
    connection_error,
    is_over_quota,
    plain_text,
    sign_in_error,
)
from toolcrib.accounts.mail_servers import MailServer, MailServers, is_local
from toolcrib.errors import CallFailed, ConnectionLost, RemoteUnreachable, ToolcribError

TIMEOUT = 60.0


class NotSent(CallFailed):
    """The SMTP server did not take the message; no one received it."""

    kind = "not_sent"


def send_mail(
    servers: MailServers, password: str, data: bytes, recipients: Sequence[str], *, account: str = ""
) -> dict[str, str]:
    """Send a message to the recipients; returns those refused, with the reason, if others were accepted."""
    with connected(servers, password, account=account) as server:
        _check_size(server, servers.smtp, len(data))
        options = _options(server, servers, recipients)
        try:
            refused = server.sendmail(servers.address, list(recipients), data, options)
        except smtplib.SMTPRecipientsRefused as error:
            raise _all_refused(_reasons(error.recipients)) from None
        except smtplib.SMTPServerDisconnected as error:
            raise ConnectionLost(
                f"The connection to {servers.smtp} was lost while sending.",
                hint="The message may have been sent: check before sending it again.",
            ) from error
        except smtplib.SMTPResponseException as error:
            raise _not_sent(error.smtp_code, error.smtp_error) from None
    return _reasons(refused)


def check_smtp(servers: MailServers, password: str, *, account: str = "") -> None:
    """Sign in and send nothing."""
    with connected(servers, password, account=account) as server:
        server.noop()


@contextmanager
def connected(servers: MailServers, password: str, *, account: str = "") -> Iterator[smtplib.SMTP]:
    """A connection that is signed in; raises `ToolcribError`."""
    endpoint = servers.smtp
    try:
        server = _open(servers)
    except smtplib.SMTPException as error:
        raise RemoteUnreachable(
            f"{endpoint} does not answer as an SMTP server: {plain_text(error)}.", hint="Check host and port."
        ) from error
    except OSError as error:
        raise connection_error(endpoint, error) from error
    try:
        _sign_in(server, servers, password, account)
        yield server
    except ToolcribError:
        raise
    except (OSError, smtplib.SMTPServerDisconnected) as error:
        raise connection_error(endpoint, error) from error
    finally:
        with suppress(OSError, smtplib.SMTPException):
            server.quit()


def _open(servers: MailServers) -> smtplib.SMTP:
    host, port = servers.smtp.host, servers.smtp.port
    name = "localhost" if is_local(host) else None
    if servers.smtp.security == "tls":
        return smtplib.SMTP_SSL(host, port, local_hostname=name, timeout=TIMEOUT, context=servers.tls())
    server = smtplib.SMTP(host, port, local_hostname=name, timeout=TIMEOUT)
    if servers.smtp.security == "starttls":
        server.ehlo_or_helo_if_needed()
        if not server.has_extn("starttls"):
            server.close()
            raise RemoteUnreachable(
                f"{servers.smtp} does not offer encryption (STARTTLS).",
                hint="Use its TLS port (usually 465) with --tls; --plain sends the password unencrypted.",
            )
        server.starttls(context=servers.tls())
    return server


def _sign_in(server: smtplib.SMTP, servers: MailServers, password: str, account: str) -> None:
    server.ehlo_or_helo_if_needed()
    if not server.has_extn("auth"):  # a relay that knows us by our address
        return
    try:
        server.login(servers.login, password)
    except smtplib.SMTPAuthenticationError as error:
        raise sign_in_error(servers.smtp, error.smtp_error, account) from None
    except smtplib.SMTPNotSupportedError as error:
        raise RemoteUnreachable(
            f"{servers.smtp} offers no way to sign in with a password.", hint="Use another port or provider."
        ) from error
    except smtplib.SMTPResponseException as error:
        raise sign_in_error(servers.smtp, error.smtp_error, account) from None
    except smtplib.SMTPException as error:
        raise sign_in_error(servers.smtp, str(error), account) from None


def _check_size(server: smtplib.SMTP, endpoint: MailServer, size: int) -> None:
    limit = server.esmtp_features.get("size", "").strip()
    if limit.isdigit() and 0 < int(limit) < size:
        raise NotSent(
            f"The message has {_megabytes(size)}; {endpoint.host} takes at most {_megabytes(int(limit))}.",
            hint="Send fewer or smaller attachments.",
        )


def _options(server: smtplib.SMTP, servers: MailServers, recipients: Sequence[str]) -> list[str]:
    if all(address.isascii() for address in (servers.address, *recipients)):
        return ["BODY=8BITMIME"] if server.has_extn("8bitmime") else []
    if not server.has_extn("smtputf8"):
        raise NotSent(
            f"{servers.smtp.host} cannot send to addresses with non-ASCII characters.",
            hint="Use an address in ASCII.",
        )
    return ["SMTPUTF8", "BODY=8BITMIME"]


def _reasons(refused: Mapping[str, Any]) -> dict[str, str]:
    return {address: plain_text(said[1]) or f"code {said[0]}" for address, said in refused.items()}


def _all_refused(reasons: Mapping[str, str]) -> NotSent:
    said = "; ".join(f"{address}: {reason}" for address, reason in reasons.items())
    return NotSent(
        f"Not sent: the server refused every recipient ({said}).",
        hint="Check the addresses, and whether this account may send to them.",
    )


def _not_sent(code: int, said: object) -> CallFailed:
    text = plain_text(said)
    if code == 552 or is_over_quota(text):
        return MailboxFull(
            f"Not sent: the message is too large or the mailbox is full ({code} {text}).",
            hint="Send smaller attachments, or free some space in the mailbox.",
        )
    if 400 <= code < 500:
        return NotSent(
            f"Not sent: the server cannot take it now ({code} {text}).", hint="Try again in some minutes."
        )
    return NotSent(
        f"Not sent: the server refused the message ({code} {text}).", hint="Change what it objects to."
    )


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
