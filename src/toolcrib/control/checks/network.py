"""Proxies and certificate authorities, as the environment names them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from toolcrib.control.findings import Finding, Place, broken, well

_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR")


async def check(place: Place) -> list[Finding]:
    """A named file that is not there makes every remote server and every install fail."""
    missing = await asyncio.to_thread(_missing, place.environ)
    if missing:
        return missing
    # The addresses stay out of it: a proxy's may hold a password.
    proxies = [name for name in _PROXIES if place.environ.get(name)]
    files = [name for name in _FILES if place.environ.get(name)]
    using = f"Uses {', '.join([*proxies, *files])}." if proxies or files else "Direct, no own authorities."
    return [well("network", using)]


def _missing(environ: Mapping[str, str]) -> list[Finding]:
    return [
        broken("network", f"{name} names {environ[name]}, which is not there.", f"Unset or correct {name}.")
        for name in _FILES
        if environ.get(name) and not Path(environ[name]).exists()
    ]
