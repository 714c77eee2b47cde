"""The reference server `mcp-server-fetch`."""

from __future__ import annotations

from mcp_server_fetch.server import extract_content_from_html

TITLE = "mcp-server-fetch"


def extract(html: bytes, url: str) -> str:
    return str(extract_content_from_html(html.decode("utf-8", "replace")))
