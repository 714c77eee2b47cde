"""The network guard: everything that fetches a URL named by a model, a page or a server goes through it.

    policy = NetworkPolicy(allow_private=frozenset({"nas.local:8080"}))
    page = await fetch("https://example.com/", policy)

`addresses` knows which addresses are public, `policy` decides, `client` connects, `fetching` follows
redirects and enforces limits. Public names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.loading import lazy_names

if TYPE_CHECKING:
    from toolcrib.errors import FetchFailed, NetworkRefused
    from toolcrib.serverkit.network.client import open_client
    from toolcrib.serverkit.network.fetching import Fetched, fetch, read_body
    from toolcrib.serverkit.network.limits import FetchLimits
    from toolcrib.serverkit.network.policy import NetworkPolicy
    from toolcrib.serverkit.network.resolving import Resolver
    from toolcrib.serverkit.network.urls import endpoint_of

_MODULES = {
    "FetchFailed": "policy",
    "FetchLimits": "limits",
    "Fetched": "fetching",
    "NetworkPolicy": "policy",
    "NetworkRefused": "policy",
    "Resolver": "resolving",
    "endpoint_of": "urls",
    "fetch": "fetching",
    "open_client": "client",
    "read_body": "fetching",
}

__all__ = [
    "FetchFailed",
    "FetchLimits",
    "Fetched",
    "NetworkPolicy",
    "NetworkRefused",
    "Resolver",
    "endpoint_of",
    "fetch",
    "open_client",
    "read_body",
]

__getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
