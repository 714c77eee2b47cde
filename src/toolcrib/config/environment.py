"""The environment variables that a server's process gets: which are inherited (path, language, proxy,
certificates), what its entry allows, and its own.

Nothing else passes: a key of ours or of another program is never inherited by a server that merely happens to
be started from the same shell.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from toolcrib.schema.servers import ServerEntry

_PERSON = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
_LANGUAGE = {"LANG", "LANGUAGE"}
_PROXY = {"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"}
_AUTHORITIES = {
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
}
"""Without these, servers behind a proxy that re-signs traffic hang or fail without a reason."""
_MACOS = {"__CF_USER_TEXT_ENCODING"}
_PREFIXES = ("LC_", "XDG_")
_OURS = "TOOLCRIB_"
INHERITED = frozenset(
    {*_PERSON, *_LANGUAGE, *_PROXY, *(name.lower() for name in _PROXY), *_AUTHORITIES, *_MACOS}
)


def entry_environment(entry: ServerEntry, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a server besides its own `env`; a name that is null there is left out."""
    own = entry.raw.get("env")
    removed = {name: None for name, value in own.items() if value is None} if isinstance(own, Mapping) else {}
    return child_environment(environ, allow=entry.env_allow, own=removed)


def child_environment(
    environ: Mapping[str, str] = os.environ,
    *,
    allow: Iterable[str] = (),
    own: Mapping[str, str | None] | None = None,
) -> dict[str, str]:
    """The part of `environ` that a process may see: inherited names and `allow`, then `own` over them.

    A None in `own` takes the name out. Our own variables never pass, unless `own` sets them.
    """
    wanted = frozenset(allow)
    result = {name: value for name, value in environ.items() if _passes(name, value, wanted)}
    for name, value in (own or {}).items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def _passes(name: str, value: str, wanted: frozenset[str]) -> bool:
    if value.startswith("()"):  # An exported shell function: code that an old shell would run.
        return False
    if name.startswith(_OURS):
        return False
    return name in INHERITED or name in wanted or name.startswith(_PREFIXES)
