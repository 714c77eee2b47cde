"""Names that are nearly those of well-known servers: shown as such, for that is how people are tricked."""

from __future__ import annotations

import re

from toolcrib.catalog import listing

_ALSO = {
    "npm": (
        *(f"@modelcontextprotocol/server-{name}" for name in ("github", "postgres", "puppeteer", "slack")),
        "@modelcontextprotocol/server-brave-search",
        "@modelcontextprotocol/inspector",
        "@modelcontextprotocol/sdk",
        "@notionhq/notion-mcp-server",
        "@supabase/mcp-server-supabase",
        "mcp-remote",
    ),
    "pypi": ("mcp", "fastmcp", "mcp-atlassian", "mcp-shell-server", "prometheus-mcp-server", "blender-mcp"),
}
"""Names as well known as those of the catalog, by kind of index."""
_LOOKS_LIKE = str.maketrans({"0": "o", "1": "l", "5": "s", "3": "e"})
SHORTEST = 6
"""Letters below which nearly every name is near some other."""


def looks_like(kind: str, name: str) -> str | None:
    """The well-known package whose name this one nearly has; None for itself and for all others."""
    known = well_known(kind)
    if name.lower() in known:
        return None
    plain = _plain(name)
    if len(plain) < SHORTEST:
        return None
    for other in known:
        target = _plain(other)
        if plain == target or distance(plain, target, most=2) <= (2 if len(target) > 10 else 1):
            return other
    return None


def well_known(kind: str) -> tuple[str, ...]:
    """The names of well-known packages of npm or PyPI."""
    prefix = f"{kind}:"
    listed = [one.reference for one in listing.servers() if one.reference.startswith(prefix)]
    return (*(reference.removeprefix(prefix) for reference in listed), *_ALSO[kind])


def distance(one: str, other: str, most: int) -> int:
    """How many letters were added, left out, changed or swapped with their neighbour; `most` + 1 for more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, match in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != match))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == match:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower().replace("_", "-")).translate(_LOOKS_LIKE)
