"""Browsers that are signed in to the page: one-time sign-in addresses, the list of browsers, and signing one
out."""

from __future__ import annotations

from typing_extensions import TypedDict

from toolcrib.errors import NoHost, NotFound
from toolcrib.host import Host
from toolcrib.operations.operation import (
    RUNNING,
    operation,
)
from toolcrib.schema.json_values import moment


class PageAddress(TypedDict):
    """A sign-in address for a browser; it works once, and expires soon."""

    url: str


class SignedInPage(TypedDict):
    """A signed-in browser: a `PageKey` without the hash of its key."""

    id: str
    name: str
    """From the browser's User-Agent."""
    made_at: str
    used_at: str


class Revoked(TypedDict):
    id: str
    revoked: bool


@operation(page=True, needs=RUNNING)
async def page_address(host: Host) -> PageAddress:
    """Create an address that signs in one browser, once.

    Raises `NoHost` if the running host serves no page.
    """
    base = host.pages.address
    if base is None:
        raise NoHost(
            "The running host serves no page.", hint="Stop it, then start one that does with: toolcrib up"
        )
    # The token is in the fragment, which no server and no log sees.
    return {"url": f"{base}/#key={host.pages.invite()}"}


@operation(page=True, needs=RUNNING)
async def pages(host: Host) -> list[SignedInPage]:
    """List the signed-in browsers, newest first."""
    return [
        {"id": key.id, "name": key.name, "made_at": moment(key.made_at), "used_at": moment(key.used_at)}
        for key in host.pages.all()
    ]


@operation(page=True, needs=RUNNING)
async def page_revoke(host: Host, id: str) -> Revoked:
    """Sign a browser out; its open pages are disconnected.

    Raises `NotFound`.
    """
    if not host.pages.revoke(id):
        raise NotFound(
            f"No signed-in browser has the id {id!r}.", hint="List them with: toolcrib open --list"
        )
    return {"id": id, "revoked": True}
