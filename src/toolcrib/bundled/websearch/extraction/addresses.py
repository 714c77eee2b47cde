"""Links of pages and results as absolute addresses of the web."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from toolcrib.serverkit.visible_text import visible

_LONGEST = 2000
_UNUSABLE = re.compile(r"[\s<>\"`\\{}|^]")


def web_address(page: str, href: str) -> str:
    """The absolute http(s) address of a link; empty for every other kind."""
    try:
        target = urljoin(page, visible(href).strip())
        parts = urlsplit(target)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        return ""
    if not usable or len(target) > _LONGEST:
        return ""
    return _UNUSABLE.sub(
        lambda found: f"%{ord(found.group()):02X}" if found.group().isascii() else "", target
    )


def without_fragment(url: str) -> str:
    """The address of the page itself."""
    return url.partition("#")[0]
