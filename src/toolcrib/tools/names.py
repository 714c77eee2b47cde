"""Gives each tool its public name: at most 64 characters of `[A-Za-z0-9_-]`, valid for every vendor. Decides
the `server__tool` format, the `mcp__` prefix, and how a long name is shortened.

A name depends only on the server's and the tool's own names, and is resolved by lookup, never by splitting.
Two tools never share a name: a *clean* name is `{server}__{tool}`, whose server part contains no double
underscore and does not end in an underscore. Any other name is sanitised, cut and ends in `_` and a digest of
both names, which a clean name never does.
"""

from __future__ import annotations

import hashlib
import re

MAX_LENGTH = 64
BORDER = "__"
PREFIX = "mcp__"
"""Prefix that some clients put before every name; names are found with and without it."""
DIGEST_LENGTH = 10
MAX_DIGEST_LENGTH = 24

_CLEAN_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*")
_CLEAN_TOOL = re.compile(r"[A-Za-z0-9_-]+")
_HASHED = re.compile(rf"_[0-9a-f]{{{DIGEST_LENGTH},{MAX_DIGEST_LENGTH}}}\Z")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")
_NATIVE = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9-])*_?")
_RESERVED_SERVER = PREFIX.removesuffix(BORDER)
_SERVER_SHARE = 24
"""Characters kept of a long server name when a name must be cut."""


def public_name(server: str, tool: str, *, prefix: str = "", digest_length: int = DIGEST_LENGTH) -> str:
    """A server's tool under its public name; a longer digest is needed only if two digests collide."""
    room = MAX_LENGTH - len(prefix)
    if digest_length == DIGEST_LENGTH and _is_clean(server, tool, room):
        return f"{prefix}{server}{BORDER}{tool}"
    suffix = "_" + _digest(server, tool)[:digest_length]
    return prefix + _readable(server, tool, room - len(suffix)) + suffix


def is_native_name(name: str) -> bool:
    """Whether a native tool may have this name: valid everywhere, and unlike any server tool's name."""
    return len(name) <= MAX_LENGTH and _NATIVE.fullmatch(name) is not None


def other_spelling(name: str) -> str:
    """The name with the `mcp__` prefix removed or added."""
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else PREFIX + name


def _is_clean(server: str, tool: str, room: int) -> bool:
    # With a server called "mcp", `mcp__x` would mean both its tool x and a prefixed bare name.
    if server == _RESERVED_SERVER or len(server) + len(BORDER) + len(tool) > room:
        return False
    if _CLEAN_SERVER.fullmatch(server) is None or _CLEAN_TOOL.fullmatch(tool) is None:
        return False
    return _HASHED.search(tool) is None


def _readable(server: str, tool: str, room: int) -> str:
    """Both names, forbidden characters replaced, cut to `room`."""
    owner = _sanitise(server) or "server"
    if not owner[0].isalpha():
        owner = f"s_{owner}"
    action = _sanitise(tool) or "tool"
    keep = max(_SERVER_SHARE, room - len(BORDER) - len(action))
    owner = owner[:keep].rstrip("_")
    return f"{owner}{BORDER}{action}"[:room].rstrip("_")


def _sanitise(name: str) -> str:
    return _FORBIDDEN.sub("_", name).strip("_")


def _digest(server: str, tool: str) -> str:
    # The lengths keep ("a", "bc") and ("ab", "c") apart; JSON may contain lone surrogates.
    text = f"{len(server)}:{server}{tool}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
