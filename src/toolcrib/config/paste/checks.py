"""Refuses a server that cannot work on this machine: a malformed address, a missing folder, program or
script; with hints on what to correct.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolcrib.config.aliases import COMMAND_TYPE
from toolcrib.errors import UsageError

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ADDRESS_HINT = "An address looks like https://example.com/mcp."
_LIKE_ADDRESS = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:/\S*)?|localhost:\d+\S*")
SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts")
_INTERPRETER = re.compile(r"python[\d.]*|node|bun|deno")
_DEFERRED = "${"
"""Begins a variable, whose value is known only when the server starts."""


def check_address(url: str) -> None:
    """Raise `UsageError` unless `url` is an http or https address with a host; variables are not checked."""
    if _DEFERRED in url:
        return
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{url[:200]} is not a valid address: {error}.", hint=_ADDRESS_HINT) from None
    if parts.scheme.lower() not in ("http", "https"):
        raise UsageError(
            f"A server cannot be reached over {parts.scheme or 'this'}://, only over http:// or https://.",
            hint=_ADDRESS_HINT,
        )
    if not host:
        raise UsageError(f"The address {url[:200]} has no host.", hint=_ADDRESS_HINT)


def check_local(entry: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> None:
    """Raise `UsageError` when the entry's folder or program does not exist."""
    folder = entry.get("cwd")
    if folder:
        check_folder(str(folder), here)
    if entry.get("type") not in (None, COMMAND_TYPE) or not entry.get("command"):
        return
    program, place = str(entry["command"]), here / Path(str(folder or "")).expanduser()
    check_program(program, _path_of(entry, environ), place)
    _check_script(program, entry.get("args") or (), place)


def check_folder(folder: str, here: Path) -> None:
    """Raise `UsageError` unless the folder exists; variables are not checked."""
    path = here / Path(folder).expanduser()
    if _DEFERRED in folder or path.is_dir():
        return
    why = "is not a folder" if path.exists() else "does not exist"
    raise UsageError(f"The working folder {path} {why}.", hint="Correct --cwd, or create the folder first.")


def check_program(program: str, search_path: str, here: Path) -> None:
    """Raise `UsageError` unless the program can be run; variables are not checked."""
    if _DEFERRED in program:
        return
    if os.sep in program:
        _check_file(here / Path(program).expanduser())
    elif not is_on_path(program, search_path):
        raise UsageError(f"There is no program {program!r} on your PATH.", hint=_program_hint(program))


def is_on_path(program: str, search_path: str) -> bool:
    """Whether a program of this name is found on the search path."""
    return shutil.which(program, path=search_path) is not None


def missing_file(word: str, here: Path) -> UsageError:
    """The error for a file that does not exist."""
    hint = "Check the path."
    if _LIKE_ADDRESS.fullmatch(word):
        hint = f"For an address, put https:// or http:// before it: https://{word}"
    return UsageError(f"There is no file or folder {here / Path(word).expanduser()}.", hint=hint)


def _check_file(path: Path) -> None:
    if not path.exists():
        raise UsageError(f"There is no file {path}.", hint="Check the path; --as-is adds the command anyway.")
    if path.is_dir():
        raise UsageError(f"{path} is a folder, not a program.", hint=f"Type: toolcrib add {path}")
    if not os.access(path, os.X_OK):
        raise UsageError(
            f"{path} is not executable.", hint=f"Type: chmod +x {path}, or put its interpreter before it."
        )


def _check_script(program: str, args: Sequence[Any], here: Path) -> None:
    """`python3 server.py`: the script has to be there too."""
    if not args or not _INTERPRETER.fullmatch(Path(program).name):
        return
    script = str(args[0])
    if _DEFERRED in script or script.startswith("-") or not script.endswith(SCRIPTS):
        return
    path = here / script
    if not path.is_file():
        raise UsageError(f"There is no file {path}.", hint="Check the path; --as-is adds the command anyway.")


def _program_hint(program: str) -> str:
    if program == "python":
        return "Try python3 as the command."
    if _LIKE_ADDRESS.fullmatch(program) and "." in program:
        return f"For an address, put https:// or http:// before it: https://{program}"
    return (
        f"Install it first; for a package, give npm:{program} or pypi:{program}. "
        "--as-is adds the command anyway."
    )


def _path_of(entry: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    own = (entry.get("env") or {}).get("PATH")
    return own if isinstance(own, str) and _DEFERRED not in own else environ.get("PATH", os.defpath)
