"""A remote server over streamable HTTP; the link is in `servers/remote/http_link.py`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from toolcrib.config.sections import flag
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.transport import Inbox, Link, LinkContext, Traits

TRAITS = Traits(title="streamable HTTP", remote=True, first_word="url", probe=1, second_connection=True)


@dataclass(frozen=True, kw_only=True)
class HttpSpec(RemoteSpec):
    """The keys of an `http` entry."""

    sse_fallback: bool = flag(True)
    """Use the older SSE transport if the server refuses streamable HTTP."""


Spec = HttpSpec


def open(spec: HttpSpec, inbox: Inbox, context: LinkContext) -> AbstractAsyncContextManager[Link]:  # noqa: A001
    """A link to the server at `spec.url`."""
    from toolcrib.servers.remote.http_link import open_http  # loads an HTTP client

    return open_http(spec, inbox, context, sse_fallback=spec.sse_fallback)
