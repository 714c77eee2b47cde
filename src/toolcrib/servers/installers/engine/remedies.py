"""Recognizes in the output why an installed server did not start, if reinstalling it with other options would
help: older mcp or pydantic, a missing package, install scripts.

A server's output is not trusted: a remedy only limits the version of an installed package, adds a well-known
one, or allows the install scripts of an installed one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from toolcrib.schema.setups import Remedy
from toolcrib.servers.installers.engine.archives import normal_name
from toolcrib.servers.installers.engine.environments import LOCK_FILE, pinned
from toolcrib.servers.installers.engine.node import packages_with_scripts
from toolcrib.servers.installers.engine.plan import Options
from toolcrib.servers.installers.engine.scripts import DISTRIBUTIONS

_ERRORS = re.compile(r"\b(?:ImportError|ModuleNotFoundError|AttributeError|TypeError|Pydantic\w*Error)\b")
_NO_MODULE = re.compile(r"No module named '(\w+)([\w.]*)'")
_NO_NAME = re.compile(r"cannot import name '\w+' from (?:partially initialized module )?'(\w+)[\w.]*'")
_NO_ATTRIBUTE = re.compile(r"module '(\w+)[\w.]*' has no attribute")
_OF_MCP_1 = re.compile(r"'(?:Server|FastMCP|ServerSession|Context|RequestContext)' object has no attribute")
_OF_PYDANTIC = re.compile(r"\bpydantic|Pydantic\w*Error", re.IGNORECASE)
_NATIVE = re.compile(r"\.node\b|bindings file|native binding|NODE_MODULE_VERSION|prebuild", re.IGNORECASE)
_BOUNDS = {"mcp": "2", "pydantic": "2.12"}
"""Versions that break many older servers."""


def find_remedy(folder: Path, options: Options, said: str) -> Remedy | None:
    """The remedy for an installed server that ended with this output."""
    found = _python(folder, said) if (folder / LOCK_FILE).is_file() else _npm(folder, options, said)
    given = options.also if found and found.option == "also" else options.allow_scripts
    if found is None or set(found.values) <= set(given):
        return None
    return found


def _python(folder: Path, said: str) -> Remedy | None:
    lock = pinned((folder / LOCK_FILE).read_text(encoding="utf-8"))
    if not _ERRORS.search(said):
        return None
    absent = _NO_MODULE.search(said)
    if absent and not absent[2] and normal_name(DISTRIBUTIONS.get(absent[1], absent[1])) not in lock:
        return _forgotten(absent[1])
    name = _blamed(said)
    return _bounded(name, lock) if name else None


def _blamed(said: str) -> str | None:
    """The package with an incompatible interface."""
    for pattern in (_NO_NAME, _NO_ATTRIBUTE, _NO_MODULE):
        if found := pattern.search(said):
            return DISTRIBUTIONS.get(found[1], found[1])
    if _OF_MCP_1.search(said):
        return "mcp"
    return "pydantic" if _OF_PYDANTIC.search(said) else None


def _forgotten(module: str) -> Remedy | None:
    package = DISTRIBUTIONS.get(module)
    if package is None:
        return None
    reason = f"It imports {module} but does not declare {package} as a dependency."
    return Remedy(reason=reason, option="also", values=(package,))


def _bounded(name: str, lock: Mapping[str, str]) -> Remedy | None:
    version = lock.get(normal_name(name))
    if version is None:
        return None
    bound = _BOUNDS.get(normal_name(name)) or _release_before(version)
    if bound is None or _numbers(version) < _numbers(bound):
        return None
    reason = f"It needs an earlier {name} than {version} but does not declare that."
    return Remedy(reason=reason, option="also", values=(f"{name}<{bound}",))


def _release_before(version: str) -> str | None:
    """The start of a version's major release: earlier versions are below it."""
    numbers = _numbers(version)
    if numbers[:1] > (1,):
        return str(numbers[0])
    return f"0.{numbers[1]}" if len(numbers) > 1 and numbers[0] == 0 and numbers[1] else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _npm(folder: Path, options: Options, said: str) -> Remedy | None:
    refused = [name for name in with_scripts(folder) if name not in options.allow_scripts]
    named = [name for name in refused if re.search(rf"(?<![\w@-]){re.escape(name)}(?![\w-])", said)]
    named += [name for name in refused if f"node_modules/{name}/" in said and name not in named]
    blamed = tuple(named or (refused if _NATIVE.search(said) else ()))
    if not blamed or not re.search(r"cannot find|could not|not found|error", said, re.IGNORECASE):
        return None
    listed = ", ".join(blamed)
    reason = f"The install scripts of {listed} did not run; they may be needed."
    return Remedy(reason=reason, option="allow_scripts", values=blamed)


def with_scripts(folder: Path) -> tuple[str, ...]:
    """The packages with install scripts of an npm installation."""
    try:
        lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
        return packages_with_scripts(lock["packages"])
    except (OSError, ValueError, KeyError):
        return ()
