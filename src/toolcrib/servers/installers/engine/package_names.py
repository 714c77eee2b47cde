"""Package names: a default server name, warnings about lookalike names of well-known packages, and about
releases that are only a few days old.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from toolcrib.catalog import listing

_SUFFIXES = (".tar.gz", ".tgz", ".whl", ".mcpb", ".dxt", ".json")
_NOISE = re.compile(r"^(mcp[-_.])?(server[-_.])?|([-_.]mcp)?([-_.]server)?([-_.]mcp)?$", re.IGNORECASE)


def propose_name(reference: str) -> str:
    """A short name: `memory` for `npm:@modelcontextprotocol/server-memory@1`, `time` for a wheel of it."""
    bare = _bare(reference)
    telling = _NOISE.sub("", bare)
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", telling if re.search(r"[A-Za-z0-9]", telling) else bare).strip(
        "-_"
    )
    return name[:60] or "server"


def _bare(reference: str) -> str:
    if reference.startswith("npm:"):
        return reference[4:].rpartition("/")[2].lstrip("@").partition("@")[0]
    if reference.startswith("pypi:"):
        return re.split(r"[=@\[]", reference[5:], maxsplit=1)[0]
    path = urlsplit(reference).path if reference.startswith(("http://", "https://")) else reference
    name = PurePosixPath(path.rstrip("/")).name
    if name == "server.json":
        return PurePosixPath(path).parent.name
    suffix = next((ending for ending in _SUFFIXES if name.endswith(ending)), None)
    if suffix is None:
        return name.partition(".")[0] or name
    # `name-1.2.3-py3-none-any.whl`, `scope-name-1.2.3.tgz`
    return re.split(r"-v?\d", name.removesuffix(suffix), maxsplit=1)[0]


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
"""Well-known packages besides those in the catalog."""
_LOOKS_LIKE = str.maketrans({"0": "o", "1": "l", "5": "s", "3": "e"})
SHORTEST = 6
"""Shorter names resemble too many others."""


def looks_like(kind: str, name: str) -> str | None:
    """The well-known package with a similar name, a common trick; None if there is none."""
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
    prefix = f"{kind}:"
    listed = [entry.reference for entry in listing.servers() if entry.reference.startswith(prefix)]
    return (*(reference.removeprefix(prefix) for reference in listed), *_ALSO[kind])


def distance(one: str, other: str, most: int) -> int:
    """The edit distance with swaps (Damerau-Levenshtein); `most` + 1 if larger."""
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


COOLING = timedelta(days=3)
"""Most malicious releases are found and removed within this time."""


def freshness(published: str | None, now: datetime | None = None) -> tuple[str, ...]:
    """A warning about a very new release, if it is one."""
    if published is None:
        return ()
    try:
        moment = datetime.fromisoformat(published)
    except ValueError:
        return ()
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    age = (now or datetime.now(UTC)) - moment
    if age > COOLING:
        return ()
    hours = max(0, int(age.total_seconds() // 3600))
    return (f"This version was released only {hours} hour{'' if hours == 1 else 's'} ago.",)
