"""Turns single tools on and off in the config file, and sets their timeouts."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from toolcrib.config.entries import parse_entry
from toolcrib.config.store import ConfigStore, entries_with
from toolcrib.errors import UsageError

_EXCLUDING = ("excludeTools", "exclude_tools", "disabledTools", "disabled_tools")
_INCLUDING = ("includeTools", "include_tools")
_TIMEOUTS = ("toolTimeouts", "tool_timeouts")


def switch_tool(store: ConfigStore, server: str, tool: str, on: bool) -> None:
    """Turn a tool on or off; `tool` is its own name. Raises `UsageError` if a pattern forbids it."""
    with store.edit() as document:
        entry = entries_with(document, server)[server]
        parse_entry(server, entry)
        if on:
            _put_on(server, entry, tool)
        elif _is_on(server, entry, tool):
            _excluding(entry).append(glob.escape(tool))


def set_tool_timeout(store: ConfigStore, server: str, tool: str, seconds: float | None) -> None:
    """Set the timeout of a tool in seconds; None for that of its server."""
    with store.edit() as document:
        entry = entries_with(document, server)[server]
        known = next((key for key in _TIMEOUTS if key in entry), _TIMEOUTS[0])
        timeouts = {name: value for name, value in (entry.get(known) or {}).items() if name != tool}
        if seconds is not None:
            timeouts[tool] = seconds
        entry.pop(known, None)
        if timeouts:
            entry[known] = timeouts
        parse_entry(server, entry)


def _put_on(server: str, entry: dict[str, Any], tool: str) -> None:
    for names in _lists(entry, "exclude", _EXCLUDING):
        names[:] = [name for name in names if name not in (tool, glob.escape(tool))]
    excluded = [pattern for pattern in parse_entry(server, entry).exclude_tools if fnmatchcase(tool, pattern)]
    if excluded:
        raise UsageError(
            f"The pattern {excluded[0]!r} of {server} turns {tool} off.",
            hint="Change the pattern in the config file.",
        )
    if not _is_on(server, entry, tool):
        next(_lists(entry, "include", _INCLUDING)).append(glob.escape(tool))
    _tidy(entry)


def _is_on(server: str, entry: dict[str, Any], tool: str) -> bool:
    parsed = parse_entry(server, entry)
    if any(fnmatchcase(tool, pattern) for pattern in parsed.exclude_tools):
        return False
    included = parsed.include_tools
    return not included or any(fnmatchcase(tool, pattern) for pattern in included)


def _lists(entry: dict[str, Any], part: str, keys: tuple[str, ...]) -> Iterator[list[str]]:
    """The existing lists."""
    tools = entry.get("tools")
    if isinstance(tools, list) and part == "include":
        yield tools
    if isinstance(tools, dict) and isinstance(tools.get(part), list):
        yield tools[part]
    for key in keys:
        if isinstance(entry.get(key), list):
            yield entry[key]


def _excluding(entry: dict[str, Any]) -> list[str]:
    """A list to add to: an existing one, else a new one."""
    for names in _lists(entry, "exclude", _EXCLUDING):
        return names
    if isinstance(entry.get("tools"), list):
        return entry.setdefault("excludeTools", [])  # type: ignore[no-any-return]
    if not isinstance(entry.get("tools"), dict):
        entry["tools"] = {}
    return entry["tools"].setdefault("exclude", [])  # type: ignore[no-any-return]


def _tidy(entry: dict[str, Any]) -> None:
    """Remove empty lists."""
    tools = entry.get("tools")
    if isinstance(tools, dict) and tools.get("exclude") == []:
        del tools["exclude"]
    if tools == {}:
        del entry["tools"]
