"""Texts of search results and pages as one line without markup."""

from __future__ import annotations

import html
import re

from toolcrib.serverkit.visible_text import visible

_TAGS = re.compile(r"<!--.*?(?:-->|$)|</?[a-zA-Z][^<>]{0,2000}>", re.DOTALL)
_SPACES = re.compile(r"\s+")


def one_line(text: str, limit: int) -> str:
    """Visible text without markup on one line, at most `limit` characters."""
    # Entities are decoded once, before markup is removed, so that they cannot bring in new tags.
    line = _SPACES.sub(" ", visible(_TAGS.sub("", html.unescape(text)))).strip()
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
