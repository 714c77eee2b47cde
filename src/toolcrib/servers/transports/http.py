"""A remote server over streamable HTTP; the link is in `servers/remote/http_link.py`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolcrib.servers.link import Inbox, Link, LinkContext
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.transport import Traits

TRAITS = Traits(title="streamable HTTP", remote=True, first_word="url", probe=1, second_connection=True)


class Spec(RemoteSpec):
    """The keys of an `http` entry."""


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """A link to the server at `spec.url`."""
    from toolcrib.servers.remote.http_link import open_http  # loads an HTTP client

    async with open_http(spec, inbox, context) as link:
        yield link
