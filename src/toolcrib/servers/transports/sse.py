"""A remote server over HTTP with SSE, the transport of 2024-11-05; see `servers/remote/sse_link.py`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.transport import Inbox, Link, LinkContext, Traits

TRAITS = Traits(title="the older SSE", remote=True, first_word="url", probe=2)
Spec = RemoteSpec


def open(spec: RemoteSpec, inbox: Inbox, context: LinkContext) -> AbstractAsyncContextManager[Link]:  # noqa: A001
    """A link to the server at `spec.url`."""
    from toolcrib.servers.remote.sse_link import open_sse  # loads an HTTP client

    return open_sse(spec, inbox, context)
