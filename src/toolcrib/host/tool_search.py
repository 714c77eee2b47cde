"""What searching the tools needs; nothing of it is loaded before somebody searches."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.config.expansion import expand
from toolcrib.config.settings import EmbedderSettings
from toolcrib.errors import ToolcribError

if TYPE_CHECKING:
    from toolcrib.retrieval import Finder, Meaning


class Searching:
    """The vectors and the finder of a host; `folder` is where vectors are kept."""

    def __init__(self, settings: EmbedderSettings, folder: Path, secret: Callable[[str], str | None]) -> None:
        self._settings = settings
        self._folder = folder
        self._secret = secret

    @cached_property
    def meaning(self) -> Meaning:
        """Vectors of texts, by the embedder that the settings ask for; a wrong setting costs only these."""
        from toolcrib.retrieval import Meaning, open_embedder
        from toolcrib.retrieval.embedding import Chosen

        wanted = self._settings
        try:
            key = _filled(wanted.api_key, self._secret)
            embedder = open_embedder(Chosen(wanted.kind, wanted.model, wanted.url, key))
        except ToolcribError as error:
            meaning = Meaning(None, self._folder)
            meaning.note = f"Ranked by words alone: {error.message} {error.hint}".strip()
            return meaning
        return Meaning(embedder, self._folder)

    @cached_property
    def finder(self) -> Finder:
        """The tools, ready to be searched; whoever searches lets it follow the registry first."""
        from toolcrib.retrieval import Finder

        return Finder(self.meaning)

    async def close(self) -> None:
        """Let go of what was loaded, if anything was."""
        if "meaning" in vars(self):
            await self.meaning.close()


def _filled(text: str, secret: Callable[[str], str | None]) -> str:
    if not text:
        return ""
    filled = expand({"env": {"apiKey": text}}, os.environ, secret)
    return str(filled["env"]["apiKey"])
