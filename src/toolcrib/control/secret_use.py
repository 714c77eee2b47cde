"""Which secrets an entry refers to, and which variables, whose values may be stored as secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Container

_VARIABLE = re.compile(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_REFERENCE = re.compile(r"\$\{secret:([A-Za-z0-9_][A-Za-z0-9_.-]*)\}")


def secrets_of(raw: object) -> tuple[str, ...]:
    """The names in `${secret:NAME}` anywhere in an entry, each once."""
    return tuple(dict.fromkeys(_REFERENCE.findall(json.dumps(raw))))


def variables_of(raw: object) -> tuple[str, ...]:
    """The names in `${NAME}`, without a default, anywhere in an entry, each once."""
    return tuple(dict.fromkeys(_VARIABLE.findall(json.dumps(raw))))


def used_by(raw: object) -> tuple[str, ...]:
    """The secrets that an entry may be filled in with: a variable that is not set may be stored as one."""
    return tuple(dict.fromkeys([*secrets_of(raw), *variables_of(raw)]))


def missing_from(raw: object, stored: Container[str], environ: Container[str]) -> list[str]:
    """What an entry refers to and nobody has given."""
    missing = [name for name in secrets_of(raw) if name not in stored]
    return missing + [name for name in variables_of(raw) if name not in environ and name not in stored]
