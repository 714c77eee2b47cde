"""The result of a step in one line, for the canvas and the list: which field is shown, longest line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LONGEST = 200
_TELLING = ("text", "choice", "value", "outputs", "keys")
"""Fields of results that say by themselves what came of the step, the first that is there."""


def result_line(trace: Mapping[str, Any]) -> str:
    """Empty for a step without a result, and for one whose values are not to be recorded."""
    value = trace.get("value")
    if value is None or trace.get("inputs") is None:
        return ""
    line = " ".join(_of(value).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _of(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _plain(value)
    if "results" in value and "count" in value:
        failed = f", {value['failed']} failed" if value.get("failed") else ""
        return _counted(value["count"], "item") + failed
    data = value.get("data")
    if isinstance(data, Mapping) and list(data) == ["result"]:
        return _plain(data["result"])
    telling = next((value[name] for name in _TELLING if value.get(name) not in (None, "", {})), None)
    if telling is None:
        telling = {name: part for name, part in value.items() if part not in (None, "", [], {})}
    return _plain(telling)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_part(part)}" for name, part in value.items())
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return json.dumps(value, ensure_ascii=False, default=str)


def _part(value: Any) -> str:
    if isinstance(value, list):
        return _counted(len(value), "item")
    return "{…}" if isinstance(value, Mapping) else _plain(value)


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"
