"""WebDAV's XML: the bodies of requests, and the items of a multistatus answer."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolcrib.errors import CallFailed

DAV = "DAV:"
CALDAV = "urn:ietf:params:xml:ns:caldav"
APPLE = "http://apple.com/ns/ical/"
CALENDARSERVER = "http://calendarserver.org/ns/"
_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_PREFIXES = {"d": DAV, "c": CALDAV, "a": APPLE, "s": CALENDARSERVER}
for _prefix, _namespace in _PREFIXES.items():
    ET.register_namespace(_prefix, _namespace)


@dataclass(frozen=True)
class DavItem:
    """One resource of a multistatus answer."""

    href: str
    properties: Mapping[str, ET.Element] = field(default_factory=dict)
    """By names such as `d:displayname`; only those that the server has."""
    status: int = 200

    def text(self, name: str) -> str:
        """The text of a property; empty if it has none."""
        element = self.properties.get(name)
        return (element.text or "").strip() if element is not None else ""

    def href_in(self, name: str) -> str:
        """The first address inside a property."""
        element = self.properties.get(name)
        found = element.find(f".//{{{DAV}}}href") if element is not None else None
        return (found.text or "").strip() if found is not None else ""

    def has(self, name: str, child: str) -> bool:
        """Whether a property contains an element, at any depth."""
        element = self.properties.get(name)
        return element is not None and element.find(f".//{qualified(child)}") is not None


def qualified(name: str) -> str:
    """`d:href` as ElementTree writes it."""
    prefix, _, local = name.partition(":")
    return f"{{{_PREFIXES[prefix]}}}{local}"


def element(tag: str, /, *children: ET.Element, text: str = "", **attributes: str) -> ET.Element:
    """An element such as `element("c:filter", element("c:comp-filter", name="VEVENT"))`."""
    made = ET.Element(qualified(tag), {key.replace("_", "-"): value for key, value in attributes.items()})
    made.text = text or None
    made.extend(children)
    return made


def properties(names: Sequence[str]) -> ET.Element:
    """The properties to ask for."""
    return element("d:prop", *(element(name) for name in names))


def body(root: ET.Element) -> bytes:
    """An XML document."""
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def read_multistatus(content: bytes) -> list[DavItem]:
    """The items of an answer; raises `CallFailed` if it is not one."""
    if b"<!DOCTYPE" in content[:4096] or b"<!ENTITY" in content[:4096]:
        raise CallFailed("The calendar server sent XML with a document type, which is not accepted.")
    try:
        root = ET.fromstring(content)  # noqa: S314 - no document type, so no entities
    except ET.ParseError:
        root = _read_damaged(content)
    if root.tag != f"{{{DAV}}}multistatus":
        raise CallFailed("The calendar server's answer is not WebDAV.", hint="Check the URL of the account.")
    return [_read_item(response) for response in root.iter(f"{{{DAV}}}response")]


def _read_damaged(content: bytes) -> ET.Element:
    """XML of a server that copies invalid characters of an event into its answer."""
    text = content.decode("utf-8", "replace")
    allowed = _INVALID.sub("", text)
    try:
        return ET.fromstring(allowed.encode("utf-8", "replace"))  # noqa: S314
    except ET.ParseError as error:
        raise CallFailed("The calendar server sent invalid XML.", hint="Check the URL.") from error


def _read_item(response: ET.Element) -> DavItem:
    href = (response.findtext(f"{{{DAV}}}href") or "").strip()
    status = _code(response.findtext(f"{{{DAV}}}status") or "HTTP/1.1 200 OK")
    found: dict[str, ET.Element] = {}
    for propstat in response.iter(f"{{{DAV}}}propstat"):
        if _code(propstat.findtext(f"{{{DAV}}}status") or "") // 100 != 2:
            continue
        for prop in propstat.find(f"{{{DAV}}}prop") or ():
            found[_short(prop.tag)] = prop
    return DavItem(href, found, status)


def _code(line: str) -> int:
    words = line.split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def _short(tag: str) -> str:
    namespace, _, local = tag.removeprefix("{").partition("}")
    prefix = next((key for key, value in _PREFIXES.items() if value == namespace), "")
    return f"{prefix}:{local}"
