"""YAML as people write it, made plain enough for our reader: texts over several lines become quoted ones."""

from __future__ import annotations

import json
import re
from typing import Any

from toolcrib.config.connecting.client import Table
from toolcrib.config.connecting.yaml_reading import Unreadable, read_block

_OPENS = re.compile(r"^(?P<lead>\s*(?:- )?[^#\n]*?:\s+)(?P<style>[|>])(?P<chomp>[+-]?)\s*(?:#.*)?$")


def fold_blocks(text: str) -> str:
    """The same document with every `|` and `>` text on one line."""
    lines, result, place = text.split("\n"), [], 0
    while place < len(lines):
        found = _OPENS.match(lines[place])
        if found is None:
            result.append(lines[place])
            place += 1
            continue
        depth = len(lines[place]) - len(lines[place].lstrip(" "))
        end = place + 1
        while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > depth):
            end += 1
        result.append(found["lead"] + json.dumps(_joined(lines[place + 1 : end], found["style"])))
        place = end
    return "\n".join(result)


def read_table(text: str, table: Table) -> dict[str, Any] | None:
    """The table, where the whole document is YAML that we read; else None."""
    lines = [line for line in fold_blocks(text).split("\n") if line.rstrip() != "---"]
    try:
        found = read_block(lines)
    except (Unreadable, RecursionError):
        return None
    for key in table:
        found = (found or {}).get(key) if isinstance(found, dict) or found is None else None
    return found if isinstance(found, dict) else {}


def _joined(lines: list[str], style: str) -> str:
    told = [line for line in lines if line.strip()]
    indent = min((_indent(line) for line in told), default=0)
    return ("\n" if style == "|" else " ").join(line[indent:].rstrip() for line in lines).strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
