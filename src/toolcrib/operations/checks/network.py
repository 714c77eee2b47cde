"""Proxies and certificate authorities set in the environment: which variables are looked at, and files that
do not exist."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from toolcrib.operations.health import CheckContext, CheckResult, broken, ok

_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR")


async def check(context: CheckContext) -> list[CheckResult]:
    """Check that the files exist: a missing one makes every remote server and every install fail."""
    missing = await asyncio.to_thread(_missing, context.environ)
    if missing:
        return missing
    # Values are not shown: a proxy's address may contain a password.
    proxies = [name for name in _PROXIES if context.environ.get(name)]
    files = [name for name in _FILES if context.environ.get(name)]
    using = (
        f"Uses {', '.join([*proxies, *files])}."
        if proxies or files
        else "Direct, with the default certificate authorities."
    )
    return [ok("network", using)]


def _missing(environ: Mapping[str, str]) -> list[CheckResult]:
    return [
        broken(
            "network", f"{name} is set to {environ[name]}, which does not exist.", f"Unset or correct {name}."
        )
        for name in _FILES
        if environ.get(name) and not Path(environ[name]).exists()
    ]
