"""Asks a CalDAV server when others are busy (RFC 6638): an iTIP request to the user's own outbox."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from icalendar import Calendar, FreeBusy, vCalAddress

from toolcrib.accounts.dav import DavConnection
from toolcrib.accounts.dav_discovery import DavHome
from toolcrib.accounts.dav_xml import CALDAV, DAV
from toolcrib.bundled.calendar.ics import read_calendar
from toolcrib.bundled.calendar.ics_write import PRODUCT, new_uid
from toolcrib.bundled.calendar.model import Busy, Window

_UNSUPPORTED = "This calendar server cannot look up the time of others."


async def ask_outbox(
    connection: DavConnection, home: DavHome, own: Sequence[str], addresses: Sequence[str], window: Window
) -> dict[str, list[Busy] | str]:
    """When each address is busy, or why that is not known."""
    if not home.outbox or not own:
        return dict.fromkeys(addresses, _UNSUPPORTED)
    answer = await connection.request(
        "POST",
        home.outbox,
        content=_request(own[0], addresses, window),
        headers={"Content-Type": "text/calendar; charset=utf-8; method=REQUEST"},
    )
    found = _read(answer.content)
    return {each: found.get(each.lower(), "The server does not know this address.") for each in addresses}


def _request(organizer: str, addresses: Sequence[str], window: Window) -> bytes:
    question = FreeBusy()
    question.add("uid", new_uid())
    question.add("dtstamp", datetime.now(UTC))
    question.add("dtstart", window.start.astimezone(UTC))
    question.add("dtend", window.end.astimezone(UTC))
    question.add("organizer", vCalAddress(f"mailto:{organizer}"))
    for address in addresses:
        question.add("attendee", vCalAddress(f"mailto:{address}"))
    calendar = Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", "REQUEST")
    calendar.add_component(question)
    data: bytes = calendar.to_ical()
    return data


def _read(content: bytes) -> dict[str, list[Busy] | str]:
    if b"<!DOCTYPE" in content[:4096]:
        return {}
    try:
        root = ET.fromstring(content)  # noqa: S314 - no document type, so no entities
    except ET.ParseError:
        return {}
    found: dict[str, list[Busy] | str] = {}
    for response in root.iter(f"{{{CALDAV}}}response"):
        address = "".join(response.findtext(f".//{{{DAV}}}href") or "").strip().lower()
        data = response.findtext(f"{{{CALDAV}}}calendar-data")
        status = (response.findtext(f"{{{CALDAV}}}request-status") or "2").strip()
        answer = _periods(data) if data and status.startswith("2") else "The server gave no answer."
        found[address.removeprefix("mailto:")] = answer
    return found


def _periods(data: str) -> list[Busy] | str:
    try:
        answers = read_calendar(data).walk("VFREEBUSY")
    except ValueError:
        return "The server's answer cannot be read."
    if not answers or any(answer.errors for answer in answers):
        return "The server's answer is not complete."
    found: list[Busy] = []
    for answer in answers:
        given = answer.get("FREEBUSY", [])
        for prop in given if isinstance(given, list) else [given]:
            if str(prop.params.get("FBTYPE", "BUSY")).upper() != "FREE":
                found.extend(_period(prop))
    return found


def _period(prop: Any) -> list[Busy]:
    start, end = prop.dt if isinstance(prop.dt, tuple) else (prop.start, prop.end)
    return [Busy(start, end if isinstance(end, datetime) else start + end)]
