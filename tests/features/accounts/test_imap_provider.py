"""IMAP accounts: servers found by the address, and the settings that are stored."""

from __future__ import annotations

import ssl
import tomllib
from pathlib import Path

import pytest

from toolcrib.accounts.account import Account
from toolcrib.accounts.mail_servers import MailServer, MailServers, read_endpoint
from toolcrib.accounts.provider import find_provider
from toolcrib.errors import ConfigError, UsageError
from toolcrib.features.accounts import mail_discovery
from toolcrib.features.accounts.mail_discovery import DATA, discover, read_autoconfig
from toolcrib.serverkit.network import NetworkPolicy

IMAP = find_provider("imap")
AUTOCONFIG = b"""<?xml version="1.0"?>
<clientConfig version="1.1"><emailProvider id="example.org">
  <incomingServer type="pop3"><hostname>pop.example.org</hostname><port>995</port>
    <socketType>SSL</socketType><username>%EMAILADDRESS%</username></incomingServer>
  <incomingServer type="imap"><hostname>plain.example.org</hostname><port>143</port>
    <socketType>plain</socketType><username>%EMAILADDRESS%</username></incomingServer>
  <incomingServer type="imap"><hostname>oauth.example.org</hostname><port>993</port>
    <socketType>SSL</socketType><authentication>OAuth2</authentication></incomingServer>
  <incomingServer type="imap"><hostname>IMAP.example.org</hostname><port>993</port>
    <socketType>SSL</socketType><authentication>password-cleartext</authentication><username>%EMAILLOCALPART%</username></incomingServer>
  <outgoingServer type="smtp"><hostname>smtp.example.org</hostname><port>587</port>
    <socketType>STARTTLS</socketType><username>%EMAILADDRESS%</username></outgoingServer>
</emailProvider></clientConfig>"""


@pytest.mark.parametrize(
    ("address", "imap", "smtp", "security"),
    [
        ("ann@gmail.com", "imap.gmail.com:993", "smtp.gmail.com:465", "tls"),
        ("ann@GMX.de", "imap.gmx.net:993", "mail.gmx.net:465", "tls"),
        ("ann@icloud.com", "imap.mail.me.com:993", "smtp.mail.me.com:587", "starttls"),
        ("ann@contoso.onmicrosoft.com", "outlook.office365.com:993", "smtp.office365.com:587", "starttls"),
        ("ann@proton.me", "127.0.0.1:1143", "127.0.0.1:1025", "starttls"),
    ],
)
async def test_an_address_of_a_well_known_provider_is_enough(
    address: str, imap: str, smtp: str, security: str
) -> None:
    draft = await IMAP.prepare("me", {"user": address, "password": "p"})
    servers = MailServers.of(Account(name="me", provider="imap", user=draft.user, settings=draft.settings))

    assert (str(servers.imap), str(servers.smtp), servers.smtp.security) == (imap, smtp, security)
    assert (servers.login, servers.address, draft.secret) == (address, address, "p")
    assert draft.remarks
    assert "p" not in draft.settings.values()


def test_every_listed_provider_has_encrypted_servers_and_domains_of_its_own() -> None:
    listed = tomllib.loads(DATA.read_text(encoding="utf-8"))["provider"]
    domains = [domain for provider in listed for domain in provider["domains"]]

    assert len(domains) == len(set(domains))
    for provider in listed:
        found = mail_discovery.well_known(f"a@{provider['domains'][0]}", provider["domains"][0])
        assert found is not None
        assert {found.imap.security, found.smtp.security} <= {"tls", "starttls"}


def test_the_domains_own_file_names_encrypted_servers_that_take_a_password() -> None:
    found = read_autoconfig(AUTOCONFIG, "ann@example.org")

    assert found is not None
    assert found.imap == MailServer("imap.example.org", 993, "tls")
    assert found.smtp == MailServer("smtp.example.org", 587, "starttls")
    assert found.login == "ann"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not xml",
        b"<clientConfig/>",
        AUTOCONFIG.replace(b"<clientConfig", b'<!DOCTYPE x [<!ENTITY a "b">]><clientConfig', 1),
        AUTOCONFIG.replace(b"IMAP.example.org", b"127.0.0.1/x"),
        AUTOCONFIG.replace(b"<port>587", b"<port>99999"),
        AUTOCONFIG.replace(b"STARTTLS", b"plain"),
    ],
)
def test_a_file_that_is_damaged_or_dangerous_is_not_used(data: bytes) -> None:
    assert read_autoconfig(data, "ann@example.org") is None


async def test_a_file_is_fetched_only_from_public_addresses() -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    assert await discover("ann@example.org", NetworkPolicy(resolve=resolve)) is None
    assert asked == ["autoconfig.example.org", "example.org"]


async def test_a_file_cannot_lead_to_the_local_network(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_autoconfig(AUTOCONFIG, "ann@example.org")
    assert found is not None

    async def resolve(host: str, port: int) -> list[str]:
        return ["10.0.0.7" if host.startswith("smtp") else "1.1.1.1"]

    assert not await mail_discovery._are_public(found, NetworkPolicy(resolve=resolve))


async def test_named_servers_are_used_as_given() -> None:
    given = {
        "user": "me",
        "password": "p",
        "imap": "127.0.0.1:10143",
        "smtp": "[::1]:10025",
        "security": "plain",
    }

    draft = await IMAP.prepare("lab", given)

    assert draft.settings["imap_host"] == "127.0.0.1"
    assert (draft.settings["smtp_host"], draft.settings["smtp_port"]) == ("::1", 10025)
    assert draft.settings["imap_security"] == draft.settings["smtp_security"] == "plain"
    assert (draft.settings["login"], draft.settings["address"]) == ("me", "me@localhost")
    assert draft.remarks == ()


async def test_an_unencrypted_connection_to_another_machine_is_pointed_out() -> None:
    given = {"user": "a@b.org", "password": "p", "imap": "mail.b.org:143", "smtp": "mail.b.org:25"}

    assert (await IMAP.prepare("x", given)).remarks == ()
    remarks = (await IMAP.prepare("x", {**given, "security": "plain"})).remarks
    assert remarks == ("The password is sent unencrypted to mail.b.org:143 and mail.b.org:25.",)


@pytest.mark.parametrize(
    ("text", "security", "expected"),
    [
        ("mail.example.org", "", MailServer("mail.example.org", 993, "tls")),
        ("mail.example.org:143", "", MailServer("mail.example.org", 143, "starttls")),
        ("mail.example.org:143", "tls", MailServer("mail.example.org", 143, "starttls")),
        ("mail.example.org:143", "plain", MailServer("mail.example.org", 143, "plain")),
        ("[2001:db8::1]:993", "", MailServer("2001:db8::1", 993, "tls")),
        ("2001:db8::1", "", MailServer("2001:db8::1", 993, "tls")),
    ],
)
def test_the_port_tells_the_encryption(text: str, security: str, expected: MailServer) -> None:
    assert read_endpoint(text, default_port=993, security=security) == expected


@pytest.mark.parametrize("text", ["", "host:port", "host:0", "host:70000", "a b:1", "https://x:1", "u@h:1"])
def test_what_is_not_a_server_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not HOST:PORT"):
        read_endpoint(text, default_port=993)


async def test_missing_and_impossible_values_are_refused() -> None:
    with pytest.raises(UsageError, match="needs a user and a password"):
        await IMAP.prepare("x", {"user": "a@b.org"})
    with pytest.raises(UsageError, match="could not be found"):
        await IMAP.prepare("x", {"user": "me", "password": "p"})
    with pytest.raises(UsageError, match="control characters"):
        await IMAP.prepare("x", {"user": "a\nb@c.org", "password": "p"})


def test_a_missing_certificate_file_and_missing_servers_are_named(tmp_path: Path) -> None:
    servers = MailServers(
        MailServer("h", 1, "tls"), MailServer("h", 2, "tls"), "u", "a@b.org", certificate="/none"
    )

    with pytest.raises(ConfigError, match="/none cannot be read"):
        servers.tls()
    with pytest.raises(ConfigError, match="has no IMAP server"):
        MailServers.of(Account(name="x", provider="imap"))
    context = MailServers(MailServer("h", 1, "tls"), MailServer("h", 2, "tls"), "u", "a@b.org").tls()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
