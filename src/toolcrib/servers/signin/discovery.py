"""Checks the metadata that a sign-in found, before anything is registered or opened.

The author of an issuer's metadata decides where the user agrees and where the code of that consent is sent. A
code of one issuer must not reach another one, so all addresses have one host, or the user confirms each host.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_plus, urlsplit

import httpx2

from toolcrib.errors import AuthRequired, HostsNotConfirmed
from toolcrib.serverkit.network.policy import is_address
from toolcrib.serverkit.network.resolving import Resolver
from toolcrib.serverkit.network.urls import raw_host
from toolcrib.servers.remote.client import check_named

PKCE = "S256"
_ENDPOINTS = {
    "page": "authorization_endpoint",
    "token": "token_endpoint",
    "registration": "registration_endpoint",
    "revocation": "revocation_endpoint",
}
_RESERVED = frozenset(
    {
        "acr_values",
        "authorization_details",
        "claims",
        "client_assertion",
        "client_assertion_type",
        "client_id",
        "client_secret",
        "code",
        "code_challenge",
        "code_challenge_method",
        "code_verifier",
        "display",
        "dpop_jkt",
        "error",
        "grant_type",
        "id_token_hint",
        "iss",
        "login_hint",
        "max_age",
        "nonce",
        "prompt",
        "redirect_uri",
        "refresh_token",
        "registration",
        "request",
        "request_uri",
        "resource",
        "response_mode",
        "response_type",
        "scope",
        "state",
    }
)
"""Parameters of an authorization request or its answer: an issuer's own query must not set them."""


class Discovery:
    """Follows the requests of one sign-in, and checks what they found.

    `context` is the SDK's: it adopts the metadata that is valid and skips what is not.
    """

    def __init__(self, server: str, context: Any, accepted: Mapping[str, str], resolve: Resolver) -> None:
        self._server = server
        self.context = context
        self._accepted = accepted
        self.resolve = resolve
        self._statuses: list[int] = []
        self._documents = 0
        self._checked = False
        self.confirmed: dict[str, str] = {}
        """The hosts that the user confirmed, by their part in the sign-in."""

    @property
    def issuer(self) -> str:
        """The issuer that the metadata must be of: named by the server, or the server's own origin."""
        parts = urlsplit(self.context.server_url)
        return self.context.auth_server_url or f"{parts.scheme}://{parts.netloc}"

    def took(self, response: httpx2.Response) -> None:
        """Note a response to a request for metadata."""
        self._statuses.append(response.status_code)
        self._documents += response.is_success and _is_object(response.content)

    async def check(self) -> None:
        """Raise `AuthRequired` if what was found must not be used; before the first registration or page."""
        if not self._checked:
            await self._check()
            self._checked = True

    async def _check(self) -> None:
        metadata = self.context.oauth_metadata
        adopted = [self.context.protected_resource_metadata, metadata]
        if self._documents > sum(document is not None for document in adopted):
            raise _stopped("the metadata of the server or its issuer is invalid")
        if metadata is None:
            self._check_absent()
            return
        if PKCE not in (metadata.code_challenge_methods_supported or ()):
            raise _stopped("the issuer does not say that it supports PKCE with S256")
        if metadata.registration_endpoint is None and self.context.client_info is None:
            raise AuthRequired(
                f"The issuer of {self._server} does not allow registration.",
                hint="Register a client there yourself, and set `oauth.clientId` in the entry.",
            )
        _check_query(str(metadata.authorization_endpoint))
        await self._check_hosts(metadata)

    def _check_absent(self) -> None:
        """The default addresses of 2025-03-26 are for servers that have no metadata at all."""
        if self.context.auth_server_url is not None:
            raise _stopped(f"the issuer {_origin(self.issuer)} has no valid metadata")
        if any(status != httpx2.codes.NOT_FOUND for status in self._statuses):
            raise _stopped("the metadata of the server cannot be read")

    async def _check_hosts(self, metadata: Any) -> None:
        named = {part: getattr(metadata, field) for part, field in _ENDPOINTS.items()}
        addresses = {part: str(address) for part, address in named.items() if address is not None}
        for address in {_origin(address): address for address in addresses.values()}.values():
            await check_named(address, self.context.server_url, self.resolve)
        if all(belongs(address, self.issuer) for address in addresses.values()):
            return
        hosts = {part: _origin(address) for part, address in {"issuer": self.issuer, **addresses}.items()}
        if hosts != self._accepted:
            raise _unconfirmed(self._server, self.context.server_url, hosts)
        self.confirmed = hosts


def redirect_path(issuer: str) -> str:
    """A path for each issuer: a client that is registered with one of them is of no use to another."""
    return f"/{hashlib.sha256(issuer.rstrip('/').encode()).hexdigest()[:24]}"


def split_page(address: str, metadata: Any) -> tuple[str, str]:
    """The endpoint and our query in the address of a page: the SDK joins them with `?` in any case."""
    endpoint = address.partition("?")[0] if metadata is None else str(metadata.authorization_endpoint)
    return endpoint, address.removeprefix(endpoint).removeprefix("?")


def with_query(endpoint: str, query: str) -> str:
    """The address of the page, also if it has a query of its own."""
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"


def _is_object(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict)
    except (ValueError, RecursionError):
        return False


def _check_query(endpoint: str) -> None:
    parts = urlsplit(endpoint)
    names = {unquote_plus(pair.partition("=")[0]).strip().lower() for pair in re.split("[&;]", parts.query)}
    if "#" in endpoint or names & _RESERVED:
        raise _stopped("the address of the issuer's page sets parameters of the sign-in itself")


def belongs(address: str, issuer: str) -> bool:
    """Whether it is at the issuer's host or below it.

    Above or beside may be somebody else's: without a list of public suffixes, nobody can tell whether
    `a.example.com` and `b.example.com` are two customers of example.com.
    """
    one, other = httpx2.URL(address), httpx2.URL(issuer)
    if (one.scheme, one.port) != (other.scheme, other.port):
        return False
    host, parent = raw_host(one), raw_host(other)
    return host == parent or ("." in parent and not is_address(parent) and host.endswith(f".{parent}"))


def _origin(address: str) -> str:
    """Scheme, host and port; a host in its ASCII form, in which no letter looks like another."""
    url = httpx2.URL(address)
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _stopped(why: str) -> AuthRequired:
    return AuthRequired(f"The sign-in was stopped: {why}.", hint="Ask the server's operator.")


def _unconfirmed(server: str, url: str, hosts: Mapping[str, str]) -> HostsNotConfirmed:
    others = {part: hosts[part] for part in ("registration", "revocation") if part in hosts}
    more = "".join(f", its {part} address is at {host}" for part, host in others.items())
    return HostsNotConfirmed(
        f"{server} ({_origin(url)}) would sign you in through several hosts: its issuer is {hosts['issuer']},"
        f" you agree at {hosts['page']}, and the code of your consent is sent to {hosts['token']}{more}."
        f" If they do not belong together, {hosts['token']} could use your account at {hosts['page']}.",
        hint=f"If you know that they do, confirm it: `toolcrib login {server}` asks on a terminal.",
        data=dict(hosts),
    )
