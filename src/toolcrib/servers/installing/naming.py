"""What a server is called when nobody says: the telling part of its package's name."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

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
    suffix = next((one for one in _SUFFIXES if name.endswith(one)), None)
    if suffix is None:
        return name.partition(".")[0] or name
    # `name-1.2.3-py3-none-any.whl`, `scope-name-1.2.3.tgz`
    return re.split(r"-v?\d", name.removesuffix(suffix), maxsplit=1)[0]
