"""A remote server over streamable HTTP; the link is in `servers/remote/http_link.py`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from toolcrib.config.kinds import flag
from toolcrib.servers.link import Inbox, Link, LinkContext
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.transport import Traits

TRAITS = Traits(title="streamable HTTP", remote=True, first_word="url", probe=1, second_connection=True)


@dataclass(frozen=True, kw_only=True)
class Spec(RemoteSpec):
    """The keys of an `http` entry."""

    sse_fallback: bool = flag(True)
    """Speak the older SSE to a server that refuses streamable HTTP."""


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """A link to the server at `spec.url`."""
    from toolcrib.servers.remote.http_link import open_http  # loads an HTTP client

    async with open_http(spec, inbox, context, sse_fallback=spec.sse_fallback) as link:
        yield link
