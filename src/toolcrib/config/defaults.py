"""The config file of a new home: two bundled servers, both on, so that there is something to call at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def new_document(files: Path) -> dict[str, Any]:
    """The first content of the file; `files` is all that the filesystem server may touch."""
    return {
        "mcpServers": {
            "demo": {"type": "inprocess", "module": "toolcrib.bundled.demo"},
            "filesystem": {
                "type": "inprocess",
                "module": "toolcrib.bundled.filesystem",
                "args": [_literal(str(files))],
            },
        }
    }


def _literal(text: str) -> str:
    """Text that expansion gives back unchanged, should a folder really be called `${…}`."""
    return text.replace("${", "$${")
