"""Caches of lists: the encoded `tools/list`, and on disk what lazy servers offer besides tools."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolcrib.gateway.profile import Profile
from toolcrib.gateway.wire import Encoded
from toolcrib.tools.snapshot import Snapshot

logger = logging.getLogger(__name__)

Lists = dict[str, list[dict[str, Any]]]
"""Definitions as the server sent them, by kind."""


class ListFiles:
    """What servers listed when they last ran, one file each, to be listed while a lazy server is stopped.

    A damaged file, or one of another config entry, is ignored.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, server: str, fingerprint: str) -> Lists:
        """The last lists of a server, if its entry is unchanged."""
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
        """Replace the lists of a server; a failure to write is only logged."""
        file = self._file(server)
        draft = file.with_suffix(f".{os.getpid()}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.write_text(json.dumps({"fingerprint": fingerprint, "lists": lists}))
            draft.replace(file)
        except OSError as error:
            logger.warning("lists cannot be saved", extra={"server": server, "reason": str(error)})

    def _file(self, server: str) -> Path:
        """A hash, because a server's name may contain any character."""
        digest = hashlib.sha256(server.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{digest[:32]}.json"


class ToolListCache:
    """The result of `tools/list` in both eras, until the registry or the profile changes.

    A thousand tools take milliseconds to collect and encode, and every client lists them.
    """

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._profile: Profile | None = None
        self._pages: dict[bool, Encoded] = {}
        self._encoding = asyncio.Lock()

    async def page(
        self, snapshot: Snapshot, profile: Profile, make: Callable[[], dict[str, Any]], *, modern: bool
    ) -> Encoded:
        """The result for this era; made again if the snapshot or the profile is another."""
        if snapshot is not self._snapshot or profile is not self._profile:
            self._snapshot, self._profile = snapshot, profile
            self._pages = {}
        page = self._pages.get(modern)
        if page is None:
            page = self._pages[modern] = Encoded(make())
        if not page.is_encoded:
            async with self._encoding:  # many clients may ask at once
                if not page.is_encoded:
                    await page.encode_list("tools")
        return page
