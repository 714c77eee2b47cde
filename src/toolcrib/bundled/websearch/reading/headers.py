"""The headers of a request: our own name, or those of a current browser when the user chose `--stealth`."""

from __future__ import annotations

import random
from collections.abc import Mapping

PLAIN: Mapping[str, str] = {
    "User-Agent": "Mozilla/5.0 (compatible; toolcrib)",
    "Accept": "text/html,application/xhtml+xml,text/markdown;q=0.9,application/pdf;q=0.8,*/*;q=0.5",
    "Accept-Language": "en;q=0.9,*;q=0.5",
}
_SYSTEMS = (
    ("Windows NT 10.0; Win64; x64", "Windows"),
    ("Macintosh; Intel Mac OS X 10_15_7", "macOS"),
    ("X11; Linux x86_64", "Linux"),
)
_CHROME = (138, 139, 140, 141, 142)
_FIREFOX = (141, 142, 143, 144)
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


def request_headers(stealth: bool) -> dict[str, str]:
    """The headers to send; those of a browser change from one call to the next."""
    return _browser_like() if stealth else dict(PLAIN)


def _browser_like() -> dict[str, str]:
    system, platform = random.choice(_SYSTEMS)  # noqa: S311 - not a secret
    headers = {
        "Accept": _ACCEPT,
        "Accept-Language": "en-US,en;q=0.9",
        "Upgrade-Insecure-Requests": "1",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Site": "none",
        "Sec-Fetch-User": "?1",
    }
    if random.random() < 0.3:  # noqa: S311
        version = random.choice(_FIREFOX)  # noqa: S311
        return {
            **headers,
            "User-Agent": f"Mozilla/5.0 ({system}; rv:{version}.0) Gecko/20100101 Firefox/{version}.0",
        }
    version = random.choice(_CHROME)  # noqa: S311
    agent = (
        f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.0.0 Safari/537.36"
    )
    brands = f'"Chromium";v="{version}", "Google Chrome";v="{version}", "Not?A_Brand";v="24"'
    hints = {"Sec-CH-UA": brands, "Sec-CH-UA-Mobile": "?0", "Sec-CH-UA-Platform": f'"{platform}"'}
    return {**headers, "User-Agent": agent, **hints}
