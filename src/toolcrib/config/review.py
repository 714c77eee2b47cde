"""What a person should know about an entry before it runs: sentences to show, never a reason to refuse.

The file is the person's own, so nothing here is forbidden; much of it was pasted from somewhere, so it is
said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolcrib.config.address_secrets import secrets_in
from toolcrib.config.aliases import canonical

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
    """What is noteworthy in an entry; values are never shown."""
    values = canonical(raw)
    return (
        *_variables(_texts(values, "env")),
        *_arguments([item for item in values.get("args") or () if isinstance(item, str)]),
        *_literals("env", _texts(values, "env")),
        *_literals("headers", _texts(values, "headers")),
        *_address(values.get("url")),
    )


def review_file(path: Path) -> tuple[str, ...]:
    """What is noteworthy in the permissions of the config file."""
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
            yield f"env.{name} can make the server run other code than its command names."


def _arguments(args: list[str]) -> Iterator[str]:
    for index, argument in enumerate(args):
        option, _, value = argument.partition("=")
        if index and not value and args[index - 1].startswith("-") and _PRIVATE.search(args[index - 1]):
            option, value = args[index - 1], argument
        secret = "${secret:" in argument or (option.startswith("-") and value and _PRIVATE.search(option))
        if secret:
            yield f"args[{index}] puts a secret where everyone on this machine can see it; use env instead."


def _literals(key: str, values: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        if value and "${" not in value and _PRIVATE.search(name):
            yield f"{key}.{name} stands in the file in plain text; use ${{secret:NAME}} instead."


def _address(url: object) -> Iterator[str]:
    if not isinstance(url, str):
        return
    if "${" in url:
        yield "url sends the value of a variable or secret to the remote host."
    for part in secrets_in(url):
        yield f"url holds a secret ({part.key}) in plain text; use ${{secret:NAME}} instead."
