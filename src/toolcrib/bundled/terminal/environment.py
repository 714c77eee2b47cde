"""The environment that commands see: a fixed PATH, the few variables that are passed on, pagers and password
prompts switched off, so that nothing waits for input."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

SHELL = "/bin/bash"
STANDARD_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
ALLOWED = ("HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CACHE_HOME")
_FIXED = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_OPTIONAL_LOCKS": "0",
    # A repository's own config must not choose a program that runs at every `git status`.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}


def environment(
    folder: str,
    *,
    more: Sequence[str] = (),
    pty: bool = False,
    temporary: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """For a command in this folder; `more` names further variables that it may see."""
    names = (*ALLOWED, *more)
    seen = {name: value for name, value in environ.items() if name in names or name.startswith("LC_")}
    seen |= _FIXED | {"PATH": locked_path(folder, environ), "SHELL": SHELL}
    seen["TERM"] = "xterm-256color" if pty else "dumb"
    if temporary is not None:
        seen["TMPDIR"] = temporary
    if "HOME" not in seen:
        seen["HOME"] = str(Path.home())
    return seen


def locked_path(folder: str, environ: Mapping[str, str] = os.environ) -> str:
    """Our own PATH without what a project could change: relative parts, its own folders, open ones."""
    own = Path(os.path.realpath(folder))
    listed = [*environ.get("PATH", "").split(os.pathsep), *STANDARD_PATH]
    return os.pathsep.join(part for part in dict.fromkeys(listed) if _is_safe(part, own))


def _is_safe(part: str, own: Path) -> bool:
    if not part.startswith("/"):
        return False
    place = Path(os.path.realpath(part))
    try:
        mode = place.stat().st_mode
    except OSError:
        return False
    inside = place.is_relative_to(own) and own != Path("/")
    return stat.S_ISDIR(mode) and not mode & stat.S_IWOTH and not inside
