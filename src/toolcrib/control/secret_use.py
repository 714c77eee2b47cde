"""Which secrets an entry refers to."""

from __future__ import annotations

import json
import re

_REFERENCE = re.compile(r"\$\{secret:([A-Za-z0-9_][A-Za-z0-9_.-]*)\}")


def secrets_of(raw: object) -> tuple[str, ...]:
    """The names in `${secret:NAME}` anywhere in an entry, each once."""
    return tuple(dict.fromkeys(_REFERENCE.findall(json.dumps(raw))))
