"""What an entry would run or reach, as a person agrees to it; pure, and the same however it is written.

Values of the environment are not part of it, save of those variables by which other code can be made to run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from toolcrib.config.address_secrets import MASK, replace_secrets
from toolcrib.config.aliases import IN_PROCESS, canonical
from toolcrib.config.review import makes_code_run

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
        launch["url"] = _address(launch["url"])
    for key in _NAMES:
        values = entry.get(key)
        if isinstance(values, Mapping) and values:
            launch[key] = {name: _shown(name, value) for name, value in sorted(values.items())}
    allowed = entry.get("envAllow") or entry.get("env_allow")
    if isinstance(allowed, list) and allowed:
        launch["envAllow"] = sorted(str(name) for name in allowed)
    return launch


def is_bundled(raw: Mapping[str, Any]) -> bool:
    """Whether the entry runs a server that came with this package: its code is as trusted as ours."""
    entry = canonical(raw)
    return entry.get("type") == IN_PROCESS and str(entry.get("module", "")).startswith(_BUNDLED)


def launch_hash(launch: Mapping[str, Any]) -> str:
    """The same for the same launch."""
    text = json.dumps(launch, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts that are not the same: `{part: {before, now}}`."""
    keys = dict.fromkeys((*before, *now))
    return {
        key: {"before": before.get(key), "now": now.get(key)}
        for key in keys
        if before.get(key) != now.get(key)
    }


def _address(url: str) -> str:
    """The address with a fingerprint in place of each secret: it is stored and shown."""
    return replace_secrets(url, lambda part: f"{MASK}{hashlib.sha256(part.value.encode()).hexdigest()[:12]}")


def _shown(name: str, value: Any) -> Any:
    """A variable by its name; one that can make code run with its value too."""
    return value if makes_code_run(name) else None
