"""Finds the calendars of a CalDAV account: well-known address, principal, calendar home, collections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from toolcrib.accounts.dav import DavConnection, DavFailed
from toolcrib.accounts.dav_xml import DavItem
from toolcrib.errors import CallFailed

WELL_KNOWN = "/.well-known/caldav"
_PLACE = ("d:current-user-principal", "c:calendar-home-set", "d:resourcetype")
_PRINCIPAL = ("c:calendar-home-set", "c:calendar-user-address-set", "c:schedule-outbox-URL")
_COLLECTION = (
    "d:resourcetype",
    "d:displayname",
    "d:current-user-privilege-set",
    "c:supported-calendar-component-set",
    "c:calendar-description",
    "c:calendar-timezone",
    "a:calendar-order",
)
_TZID = re.compile(r"^TZID(?:;[^:\r\n]*)?:(.+?)\s*$", re.MULTILINE)
_WRITING = ("d:write", "d:write-content", "d:bind", "d:all")


@dataclass(frozen=True, kw_only=True)
class DavHome:
    """Where the calendars of a user are."""

    url: str
    addresses: tuple[str, ...] = ()
    """The addresses under which the user is invited, in lower case."""
    outbox: str = ""
    """Where the free time of others is asked for; empty if the server cannot."""


@dataclass(frozen=True, kw_only=True)
class DavCalendar:
    url: str
    id: str
    """The last part of the URL; the whole path if that is not unique."""
    name: str
    writable: bool
    description: str = ""
    time_zone: str = ""


async def find_home(connection: DavConnection) -> DavHome:
    """Follow the server's own directions; raises `DavFailed`."""
    refused: CallFailed | None = None
    for url in _places(connection.root):
        try:
            items = await connection.propfind(url, _PLACE)
        except CallFailed as error:
            refused = refused or error
            continue
        found = await _home_at(connection, items[0]) if items else None
        if found is not None:
            return found
    raise refused or DavFailed(
        f"No calendars were found at {urlsplit(connection.root).netloc}.",
        404,
        "Give the URL that your provider lists for CalDAV.",
    )


def _places(root: str) -> Iterator[str]:
    yield from dict.fromkeys((root, urljoin(root, WELL_KNOWN), urljoin(root, "/")))


async def _home_at(connection: DavConnection, item: DavItem) -> DavHome | None:
    if item.has("d:resourcetype", "c:calendar"):
        return DavHome(url=item.href)
    principal = item.href_in("d:current-user-principal")
    if not principal:
        home = item.href_in("c:calendar-home-set")
        return DavHome(url=urljoin(item.href, home)) if home else None
    place = urljoin(item.href, principal)
    found = await connection.propfind(place, _PRINCIPAL)
    home = found[0].href_in("c:calendar-home-set") if found else ""
    if not home:
        return None
    return DavHome(
        url=urljoin(place, home),
        addresses=tuple(_addresses(found[0])),
        outbox=_joined(place, found[0].href_in("c:schedule-outbox-URL")),
    )


def _joined(place: str, href: str) -> str:
    return urljoin(place, href) if href else ""


def _addresses(principal: DavItem) -> Iterator[str]:
    element = principal.properties.get("c:calendar-user-address-set")
    for href in element.iter("{DAV:}href") if element is not None else ():
        address = (href.text or "").strip().lower()
        if address.startswith("mailto:"):
            yield unquote(address.removeprefix("mailto:"))


async def list_calendars(connection: DavConnection, home: DavHome) -> list[DavCalendar]:
    """The calendars that hold events, in the server's order."""
    items = await connection.propfind(home.url, _COLLECTION, depth=1)
    calendars = [item for item in items if _holds_events(item)]
    names = [_last_part(item.href) for item in calendars]
    return [
        DavCalendar(
            url=item.href,
            id=name if names.count(name) == 1 else unquote(urlsplit(item.href).path),
            name=item.text("d:displayname") or name,
            writable=_is_writable(item),
            description=item.text("c:calendar-description"),
            time_zone=_zone_of(item),
        )
        for item, name in zip(calendars, names, strict=True)
    ]


def _holds_events(item: DavItem) -> bool:
    if not item.has("d:resourcetype", "c:calendar"):
        return False
    kinds = item.properties.get("c:supported-calendar-component-set")
    return kinds is None or not len(kinds) or any(kind.get("name") == "VEVENT" for kind in kinds)


def _is_writable(item: DavItem) -> bool:
    if "d:current-user-privilege-set" not in item.properties:
        return True
    return any(item.has("d:current-user-privilege-set", name) for name in _WRITING)


def _zone_of(item: DavItem) -> str:
    found = _TZID.search(item.text("c:calendar-timezone"))
    return found[1] if found else ""


def _last_part(url: str) -> str:
    return unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
