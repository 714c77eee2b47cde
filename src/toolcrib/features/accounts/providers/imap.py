"""Mailboxes of any provider: IMAP to read, SMTP to send, signed in to with a password; the form with its help
texts, the ports if none is given, the check with its time limit, and warnings about missing encryption.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from toolcrib.accounts.account import Account
from toolcrib.accounts.mail_servers import SECURITIES, MailServer, MailServers, is_local, read_endpoint
from toolcrib.accounts.provider import AccountCheck, AccountDraft, AccountField
from toolcrib.errors import CallTimeout, UsageError
from toolcrib.features.accounts.mail_discovery import Discovered, discover
from toolcrib.serverkit.extras import ensure
from toolcrib.serverkit.threads import in_thread

TITLE = "IMAP and SMTP"
ABOUT = "Mail of any provider. For well-known ones the address and a password are enough."
SERVICES = ("mail",)
CHECK_DEADLINE = 90.0
FIELDS = (
    AccountField(key="user", label="Email address", help="Or the user name, if it is not the address."),
    AccountField(
        key="password",
        label="Password",
        help="Many providers need an app password, created in their security settings.",
        secret=True,
    ),
    AccountField(
        key="imap", label="IMAP server", help="HOST:PORT; found by the address if empty.", required=False
    ),
    AccountField(
        key="smtp", label="SMTP server", help="HOST:PORT; found by the address if empty.", required=False
    ),
    AccountField(
        key="security",
        label="Encryption",
        help="tls or starttls; plain sends the password unencrypted. Chosen by the port if empty.",
        required=False,
        choices=SECURITIES,
    ),
    AccountField(
        key="address", label="Sender address", help="If the user name is not an address.", required=False
    ),
    AccountField(key="name", label="Sender name", help="Shown to recipients.", required=False),
    AccountField(
        key="certificate",
        label="Certificate file",
        help="A PEM file to trust, for a server with its own certificate.",
        required=False,
    ),
)


async def prepare(name: str, given: Mapping[str, str]) -> AccountDraft:
    """Find the servers that were not given; raises `UsageError`."""
    values = {key: value.strip() for key, value in given.items() if key != "password"}
    user, password = values.get("user", ""), given.get("password", "")
    if not user or not password:
        raise UsageError(
            "An IMAP account needs a user and a password.",
            hint=f"toolcrib account add imap {name} --user you@example.org --password-stdin",
        )
    if any(character in user + values.get("address", "") for character in "\r\n\0"):
        raise UsageError("The user name contains control characters.", hint="Type it again.")
    found = await _found(values, user)
    servers = _servers(values, user, found)
    extra = {} if found is None or found.save_sent else {"save_sent": False}
    return AccountDraft(
        user=user,
        settings={**servers.settings(), **extra},
        secret=password,
        remarks=(*(found.remarks if found else ()), *_warnings(servers)),
    )


async def check(account: Account, secret: str) -> AccountCheck:
    """Sign in to both servers; reads the inbox's size and sends nothing."""
    await ensure("mail")
    from toolcrib.accounts.smtp import check_smtp

    servers = MailServers.of(account)
    try:
        async with asyncio.timeout(CHECK_DEADLINE):
            count, other = await asyncio.gather(
                in_thread(_inbox_size, servers, secret, account.name),
                in_thread(check_smtp, servers, secret, account=account.name),
            )
    except TimeoutError as error:
        raise CallTimeout(
            f"The mail servers did not answer within {CHECK_DEADLINE:g} s.",
            hint="Check hosts, ports and the network.",
        ) from error
    assert other is None
    return AccountCheck(
        identity=servers.address,
        remarks=(
            f"IMAP works: {count} messages in the inbox at {servers.imap}.",
            f"SMTP works at {servers.smtp}; nothing was sent.",
        ),
    )


def _inbox_size(servers: MailServers, password: str, account: str) -> int:
    from toolcrib.accounts.imap import close_quietly, connect_imap, translated

    connection = connect_imap(servers, password, account=account)
    try:
        with translated(servers.imap):
            return int(connection.folder_status("INBOX", ["MESSAGES"])[b"MESSAGES"])
    finally:
        close_quietly(connection)


async def _found(values: Mapping[str, str], user: str) -> Discovered | None:
    if values.get("imap") and values.get("smtp"):
        return None
    address = user if "@" in user else values.get("address", "")
    found = await discover(address)
    if found is None:
        raise UsageError(
            f"The mail servers of {address or user} could not be found.",
            hint="Name them: --imap HOST:PORT --smtp HOST:PORT (ask your provider).",
        )
    return found


def _servers(values: Mapping[str, str], user: str, found: Discovered | None) -> MailServers:
    security = values.get("security", "")
    imap = _endpoint(values.get("imap", ""), 993, security, found.imap if found else None)
    smtp = _endpoint(values.get("smtp", ""), 465, security, found.smtp if found else None)
    return MailServers(
        imap=imap,
        smtp=smtp,
        login=found.login if found else user,
        address=values.get("address") or (user if "@" in user else f"{user}@{_domain(imap.host)}"),
        name=values.get("name", ""),
        certificate=values.get("certificate", ""),
    )


def _endpoint(text: str, default_port: int, security: str, found: MailServer | None) -> MailServer:
    if text:
        return read_endpoint(text, default_port=default_port, security=security)
    assert found is not None
    return found


def _domain(host: str) -> str:
    return "localhost" if is_local(host) else host.removeprefix("imap.").removeprefix("mail.")


def _warnings(servers: MailServers) -> tuple[str, ...]:
    plain = [
        str(endpoint)
        for endpoint in (servers.imap, servers.smtp)
        if endpoint.security == "plain" and not is_local(endpoint.host)
    ]
    return (f"The password is sent unencrypted to {' and '.join(plain)}.",) if plain else ()
