"""Finds the mail servers for an address: well-known providers (`mail_providers.toml`), then the domain's own
autoconfig file (where it is looked for, timeout, what is refused).

The format of the file is Mozilla's, which many providers publish:
https://wiki.mozilla.org/Thunderbird:Autoconfiguration:ConfigFileFormat
"""

from __future__ import annotations

import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from toolcrib.accounts.mail_servers import MailServer, Security, read_endpoint
from toolcrib.errors import FetchFailed, NetworkRefused
from toolcrib.serverkit.network import FetchLimits, NetworkPolicy, fetch

DATA = Path(__file__).with_name("mail_providers.toml")
LIMITS = FetchLimits(max_bytes=256 * 1024, deadline=15.0)
PLACES = (
    "https://autoconfig.{domain}/mail/config-v1.1.xml?emailaddress={address}",
    "https://{domain}/.well-known/autoconfig/mail/config-v1.1.xml",
)
_SECURITIES: dict[str, Security] = {"ssl": "tls", "starttls": "starttls"}
_DOMAIN = re.compile(r"(?=.{4,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+")


@dataclass(frozen=True)
class Discovered:
    imap: MailServer
    smtp: MailServer
    login: str
    save_sent: bool = True
    remarks: tuple[str, ...] = ()


async def discover(address: str, policy: NetworkPolicy | None = None) -> Discovered | None:
    """The servers for an address; None if they cannot be found."""
    domain = ascii_domain(address)
    if not domain:
        return None
    return well_known(address, domain) or await _from_autoconfig(address, domain, policy or NetworkPolicy())


def ascii_domain(address: str) -> str:
    """The domain of an address in ASCII; empty if it is not one."""
    domain = address.rpartition("@")[2].strip().lower()
    try:
        name = domain.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
    return name if _DOMAIN.fullmatch(name) else ""


def well_known(address: str, domain: str) -> Discovered | None:
    """From the data file; a subdomain such as `x.onmicrosoft.com` belongs to its provider."""
    parts = domain.split(".")
    names = [".".join(parts[start:]) for start in range(len(parts) - 1)]
    found = next((_providers()[name] for name in names if name in _providers()), None)
    if found is None:
        return None
    security = str(found.get("security", ""))
    return Discovered(
        imap=read_endpoint(found["imap"], default_port=993, security=security),
        smtp=read_endpoint(found["smtp"], default_port=465, security=security),
        login=address,
        save_sent=bool(found.get("save_sent", True)),
        remarks=(str(found["hint"]),) if "hint" in found else (),
    )


@cache
def _providers() -> Mapping[str, Mapping[str, Any]]:
    listed = tomllib.loads(DATA.read_text(encoding="utf-8"))["provider"]
    return {domain: provider for provider in listed for domain in provider["domains"]}


async def _from_autoconfig(address: str, domain: str, policy: NetworkPolicy) -> Discovered | None:
    """Only over HTTPS: an attacker who could change this file would receive the password."""
    for place in PLACES:
        try:
            page = await fetch(place.format(domain=domain, address=quote(address)), policy, limits=LIMITS)
        except (FetchFailed, NetworkRefused):
            continue
        if page.status != 200 or not page.url.startswith("https://"):
            continue
        found = read_autoconfig(page.content, address)
        if found is not None and await _are_public(found, policy):
            return found
    return None


async def _are_public(found: Discovered, policy: NetworkPolicy) -> bool:
    """A file of others must not lead to servers of the local network."""
    anywhere = NetworkPolicy(policy.allow_private, ports=None, resolve=policy.resolve)
    try:
        for server in (found.imap, found.smtp):
            await anywhere.addresses(server.host, server.port)
    except (FetchFailed, NetworkRefused):
        return False
    return True


def read_autoconfig(data: bytes, address: str) -> Discovered | None:
    """The first encrypted IMAP and SMTP servers that take a password; None if there are none."""
    root = _parsed(data)
    if root is None:
        return None
    imap = _server(root, "incomingServer", "imap", address)
    smtp = _server(root, "outgoingServer", "smtp", address)
    return Discovered(imap[0], smtp[0], imap[1]) if imap and smtp else None


def _parsed(data: bytes) -> ET.Element | None:
    """Without entities, which could expand to any size or name files."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        return None
    try:
        return ET.fromstring(data)  # noqa: S314 - small, and without entities
    except ET.ParseError:
        return None


def _server(root: ET.Element, tag: str, kind: str, address: str) -> tuple[MailServer, str] | None:
    for server in root.iter(tag):
        security = _SECURITIES.get(_text(server, "socketType").lower())
        ways = [(element.text or "").strip().lower() for element in server.findall("authentication")]
        takes_password = not ways or any("password" in way for way in ways)
        host, port = _text(server, "hostname").lower(), _text(server, "port")
        valid = _DOMAIN.fullmatch(host) and port.isascii() and port.isdigit() and 0 < int(port) < 65536
        if server.get("type") == kind and security and takes_password and valid:
            return MailServer(host, int(port), security), _filled(_text(server, "username"), address)
    return None


def _text(server: ET.Element, name: str) -> str:
    return (server.findtext(name) or "").strip()


def _filled(template: str, address: str) -> str:
    local, _, domain = address.rpartition("@")
    values = {"%EMAILADDRESS%": address, "%EMAILLOCALPART%": local, "%EMAILDOMAIN%": domain}
    for name, value in values.items():
        template = template.replace(name, value)
    return template or address
