"""The grammar of package references: what does not fit is never handed to a package manager."""

from __future__ import annotations

import re

_NPM = re.compile(
    r"(?P<name>(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@(?P<version>[A-Za-z0-9.^~+_-]+))?"
)
_PYPI = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?P<extras>\[[A-Za-z0-9,._ -]+\])?"
    r"(?:(?:==|@)(?P<version>[A-Za-z0-9.!+_-]+))?"
)
_FLOATING = frozenset({"latest", "*", "next"})


def npm_reference(spec: str) -> str | None:
    """`npm:NAME[@VERSION]`, or None for what is no package of a registry."""
    found = _NPM.fullmatch(spec)
    if found is None or found["name"].startswith("-"):
        return None
    version = found["version"]
    return f"npm:{found['name']}" + (f"@{version}" if version and version not in _FLOATING else "")


def pypi_reference(spec: str) -> str | None:
    """`pypi:NAME[==VERSION]`, or None for what is no package of an index."""
    found = _PYPI.fullmatch(spec.strip())
    if found is None:
        return None
    version = found["version"]
    name = f"{found['name']}{found['extras'] or ''}"
    return f"pypi:{name}" + (f"=={version}" if version and version not in _FLOATING else "")
