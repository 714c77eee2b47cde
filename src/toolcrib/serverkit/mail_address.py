"""Mail addresses and header text that contain no syntax of headers, of iCalendar or of `mailto:`; which
addresses and domains are valid, and how a name is shown with its address."""

from __future__ import annotations

import json
import re
import unicodedata

_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_UNCLEAR = re.compile(r'[,;:<>@"\\]')
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u00a1-\U0010ffff-]+"
_LOCAL_PART = re.compile(rf"(?=.{{1,128}}$){_ATOM}(?:\.{_ATOM})*")
_DOMAIN = re.compile(r"(?=.{1,253}$)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f.:IPv]{1,60}\]")


def header_text(text: str) -> str:
    """Text on one line: line breaks and control characters become blanks, lone surrogates `?`."""
    return _BREAKS.sub(" ", text.encode("utf-8", "replace").decode("utf-8")).strip()


def shown_address(name: str, address: str) -> str:
    """A name with its address; one that could be taken for an address or for several people is in quotes."""
    if not name:
        return address
    return f"{json.dumps(name, ensure_ascii=False) if _UNCLEAR.search(name) else name} <{address}>"


def mail_address(text: str) -> str:
    """The address with an ASCII domain; empty if it is not valid.

    Quoted local parts are not: no one needs them, and programs read them differently.
    """
    local, _, domain = text.strip().rpartition("@")
    name = ascii_domain(domain)
    if not name or not _LOCAL_PART.fullmatch(local) or "=?" in local or not local.isprintable():
        return ""
    return f"{local}@{name}" if unicodedata.normalize("NFKC", local) == local else ""


def mailto_address(text: str) -> str:
    """An address that can stand in `mailto:`, where `%`, `?` and `#` have a meaning; empty if it cannot."""
    address = mail_address(text)
    return address if "." in address.rpartition("@")[2] and not re.search("[%?#]", address) else ""


def ascii_domain(domain: str) -> str:
    """Empty if it cannot be a domain, or if encoding makes another one of it, as `fass.de` of `faß.de`."""
    try:
        name = domain if domain.isascii() else domain.encode("idna").decode("ascii")
        if not domain.isascii() and name.encode().decode("idna") != domain.lower():
            return ""
    except UnicodeError:
        return ""
    return name if _DOMAIN.fullmatch(name) else ""
