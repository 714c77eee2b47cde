"""Gives each tool its one public name: at most 64 characters of `[A-Za-z0-9_-]`, valid for every vendor.

The name depends on the server's and the tool's own names alone, never on what else is registered. It is
turned back into them by lookup in the registry, never by splitting.

Two different tools never share a name. A *clean* name is `{server}__{tool}` as it stands: its server part
has no double underscore and does not end in one, so the first `__` is the border. Everything else is
sanitised, cut, and ends in `_` and a digest of both names; a clean name never looks like that.
"""

from __future__ import annotations

import hashlib
import re

MAX_LENGTH = 64
BORDER = "__"
PREFIX = "mcp__"
"""What some clients put in front of every name; a name is found with and without it."""
DIGEST_LENGTH = 10
MAX_DIGEST_LENGTH = 24

_CLEAN_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*")
_CLEAN_TOOL = re.compile(r"[A-Za-z0-9_-]+")
_HASHED = re.compile(rf"_[0-9a-f]{{{DIGEST_LENGTH},{MAX_DIGEST_LENGTH}}}\Z")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")
_NATIVE = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9-])*_?")
_RESERVED_SERVER = PREFIX.removesuffix(BORDER)
_SERVER_SHARE = 24
"""How much of a long server name is kept when a name must be cut."""


def public_name(server: str, tool: str, *, prefix: str = "", digest_length: int = DIGEST_LENGTH) -> str:
    """The public name of a server's tool; a longer digest is asked for only when two digests collide."""
    room = MAX_LENGTH - len(prefix)
    if digest_length == DIGEST_LENGTH and _is_clean(server, tool, room):
        return f"{prefix}{server}{BORDER}{tool}"
    suffix = "_" + _digest(server, tool)[:digest_length]
    return prefix + _readable(server, tool, room - len(suffix)) + suffix


def is_shortened(server: str, tool: str, name: str) -> bool:
    """True when the public name is not simply both names joined."""
    return not name.endswith(f"{server}{BORDER}{tool}")


def is_native_name(name: str) -> bool:
    """True when a native tool may have this bare name: valid everywhere, and like no server tool's name."""
    return len(name) <= MAX_LENGTH and _NATIVE.fullmatch(name) is not None


def other_spelling(name: str) -> str:
    """The same name without the `mcp__` prefix where it has one, with it where it has not."""
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else PREFIX + name


def _is_clean(server: str, tool: str, room: int) -> bool:
    # A server called "mcp" would make `mcp__x` mean two things: its tool x, and a prefixed bare name.
    if server == _RESERVED_SERVER or len(server) + len(BORDER) + len(tool) > room:
        return False
    if _CLEAN_SERVER.fullmatch(server) is None or _CLEAN_TOOL.fullmatch(tool) is None:
        return False
    return _HASHED.search(tool) is None


def _readable(server: str, tool: str, room: int) -> str:
    """Both names, forbidden characters replaced, cut to `room`; keeps the border, begins with a letter."""
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
    # The lengths keep ("a", "bc") and ("ab", "c") apart; surrogates can come out of JSON.
    text = f"{len(server)}:{server}{tool}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
