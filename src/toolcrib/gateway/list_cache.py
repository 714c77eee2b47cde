"""Remembers what lazy servers offer besides tools, so that it can be listed while they are asleep.

A file for each server; one that is damaged, or of another entry, counts as none.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

Lists = dict[str, list[dict[str, Any]]]
"""Definitions as the server listed them, by kind."""


class KeptLists:
    """The files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, server: str, fingerprint: str) -> Lists:
        """The last lists of a server, if its entry is still the same."""
        try:
            kept = json.loads(self._file(server).read_text())
        except (OSError, ValueError):
            return {}
        if not isinstance(kept, dict) or kept.get("fingerprint") != fingerprint:
            return {}
        lists = kept.get("lists")
        if not isinstance(lists, dict):
            return {}
        return {str(kind): found for kind, found in lists.items() if isinstance(found, list)}

    def save(self, server: str, fingerprint: str, lists: Lists) -> None:
        """Keep these in place of the last; that they cannot be written is no reason to fail."""
        file = self._file(server)
        draft = file.with_suffix(f".{os.getpid()}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.write_text(json.dumps({"fingerprint": fingerprint, "lists": lists}))
            draft.replace(file)
        except OSError as error:
            logger.warning("lists cannot be kept", extra={"server": server, "reason": str(error)})

    def _file(self, server: str) -> Path:
        """A name of its own for every server, whatever its name is made of."""
        digest = hashlib.sha256(server.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{digest[:32]}.json"
