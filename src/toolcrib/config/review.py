"""What an entry would run, and warnings to show the user before it does: variables that make other code run
(`LD_PRELOAD`), secrets in plain text, files open to others. Also which changes of an entry need a new
approval.

Pure, and the same for every spelling of an entry. Values of the environment are not part of it, except those
of variables that can make a program run other code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from toolcrib.config.aliases import IN_PROCESS, canonical
from toolcrib.config.secret_detection import MASK, replace_secrets, secrets_in

_LOADER = {"LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH"}
_SHELL = {"BASH_ENV", "ENV", "GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "IFS", "SHELLOPTS"}
_RUNTIME = {"JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "PERL5OPT", "PYTHONHOME"}
_MORE_RUNTIME = {"PYTHONPATH", "PYTHONSTARTUP", "RUBYLIB", "RUBYOPT", "_JAVA_OPTIONS"}
_CODE_VARIABLES = _LOADER | _SHELL | _RUNTIME | _MORE_RUNTIME
"""Variables by which other code than the named command can be made to run."""
_PRIVATE = re.compile(
    r"api[-_]?key|token|secret|passw|credential|authorization|private[-_]?key", re.IGNORECASE
)


def review_entry(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Warnings about an entry; values are never shown."""
    values = canonical(raw)
    return (
        *_variables(_texts(values, "env")),
        *_arguments([item for item in values.get("args") or () if isinstance(item, str)]),
        *_literals("env", _texts(values, "env")),
        *_literals("headers", _texts(values, "headers")),
        *_address(values.get("url")),
    )


def review_file(path: Path) -> tuple[str, ...]:
    """Warnings about the permissions of the config file."""
    if not path.exists():
        return ()
    mode = path.stat().st_mode
    if mode & 0o002:
        return (f"Anyone on this machine can change {path}, and so run commands as you: chmod 600 it.",)
    if mode & 0o044:
        return (f"Others on this machine can read {path}: chmod 600 it.",)
    return ()


def _texts(values: Mapping[str, Any], key: str) -> dict[str, str]:
    found = values.get(key)
    if not isinstance(found, Mapping):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def makes_code_run(variable: str) -> bool:
    """Whether a variable of this name can make a program run other code than its own."""
    return variable.upper() in _CODE_VARIABLES or variable.upper().startswith("DYLD_")


def _variables(env: Mapping[str, str]) -> Iterator[str]:
    for name in env:
        if makes_code_run(name):
            yield f"env.{name} can make the server run other code than its command."


def _arguments(args: list[str]) -> Iterator[str]:
    for index, argument in enumerate(args):
        option, _, value = argument.partition("=")
        if index and not value and args[index - 1].startswith("-") and _PRIVATE.search(args[index - 1]):
            option, value = args[index - 1], argument
        secret = "${secret:" in argument or (option.startswith("-") and value and _PRIVATE.search(option))
        if secret:
            yield f"args[{index}] exposes a secret to everyone on this machine; use env instead."


def _literals(key: str, values: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        if value and "${" not in value and _PRIVATE.search(name):
            yield f"{key}.{name} is in the file in plain text; use ${{secret:NAME}} instead."


def _address(url: object) -> Iterator[str]:
    if not isinstance(url, str):
        return
    if "${" in url:
        yield "url sends the value of a variable or secret to the remote host."
    for part in secrets_in(url):
        yield f"url contains a secret ({part.key}) in plain text; use ${{secret:NAME}} instead."


_WORDS = (
    "command",
    "package",
    "version",
    "module",
    "url",
    "sourcePath",
    "tarballPath",
    "args",
    "cwd",
    "watch",
)
_BUNDLED = "toolcrib.bundled."
_NAMES = ("env", "headers")


def launch_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of an entry that decide what runs, with whose help and where; secrets stay references."""
    entry = canonical(raw)
    launch = {key: entry[key] for key in ("type", *_WORDS) if entry.get(key) not in (None, "", [])}
    if isinstance(launch.get("url"), str):
        launch["url"] = _masked_address(launch["url"])
    for key in _NAMES:
        values = entry.get(key)
        if isinstance(values, Mapping) and values:
            launch[key] = {name: _shown(name, value) for name, value in sorted(values.items())}
    allowed = entry.get("envAllow") or entry.get("env_allow")
    if isinstance(allowed, list) and allowed:
        launch["envAllow"] = sorted(str(name) for name in allowed)
    if entry.get("sandbox"):  # turning it off or changing it needs approval as well
        launch["sandbox"] = entry["sandbox"]
    return launch


def is_bundled(raw: Mapping[str, Any]) -> bool:
    """Whether the entry runs a server that came with this package: its code is as trusted as ours."""
    entry = canonical(raw)
    return entry.get("type") == IN_PROCESS and str(entry.get("module", "")).startswith(_BUNDLED)


def launch_hash(launch: Mapping[str, Any]) -> str:
    """The same for the same launch."""
    text = json.dumps(launch, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class Difference(TypedDict):
    """A part that differs from what was approved."""

    before: Any
    now: Any


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Difference]:
    """The parts that are not the same."""
    keys = dict.fromkeys((*before, *now))
    return {
        key: {"before": before.get(key), "now": now.get(key)}
        for key in keys
        if before.get(key) != now.get(key)
    }


def _masked_address(url: str) -> str:
    """The address with a fingerprint in place of each secret: it is stored and shown."""
    return replace_secrets(url, lambda part: f"{MASK}{hashlib.sha256(part.value.encode()).hexdigest()[:12]}")


def _shown(name: str, value: Any) -> Any:
    """A variable by its name; one that can make code run with its value too."""
    return value if makes_code_run(name) else None
