"""The embeddings and the finder for searching tools, loaded on the first search."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.config.expansion import expand
from toolcrib.config.settings import EmbedderSettings
from toolcrib.errors import ToolcribError
from toolcrib.lazy import Lazy

if TYPE_CHECKING:
    from toolcrib.retrieval import Finder
    from toolcrib.retrieval.embedding_service import EmbeddingService


class Retrieval:
    """The embeddings and the finder of a host; `folder` is the cache of vectors."""

    def __init__(self, settings: EmbedderSettings, folder: Path, secret: Callable[[str], str | None]) -> None:
        self._settings = settings
        self._folder = folder
        self._secret = secret
        self._meaning = Lazy(self._open)

    @property
    def meaning(self) -> EmbeddingService:
        return self._meaning.value

    def _open(self) -> EmbeddingService:
        """Use the configured embedder; if it is not valid, tools are ranked by words alone."""
        from toolcrib.retrieval import open_embedder
        from toolcrib.retrieval.embedder import EmbedderChoice
        from toolcrib.retrieval.embedding_service import EmbeddingService

        wanted = self._settings
        try:
            key = _filled(wanted.api_key, self._secret)
            embedder = open_embedder(EmbedderChoice(wanted.kind, wanted.model, wanted.url, key))
        except ToolcribError as error:
            meaning = EmbeddingService(None, self._folder)
            meaning.note = f"Ranked by words alone: {error.message} {error.hint}".strip()
            return meaning
        return EmbeddingService(embedder, self._folder)

    @cached_property
    def finder(self) -> Finder:
        """Searches the tools; call `follow` first."""
        from toolcrib.retrieval import Finder

        return Finder(self.meaning)

    async def close(self) -> None:
        if self._meaning.opened is not None:
            await self._meaning.opened.close()


def _filled(text: str, secret: Callable[[str], str | None]) -> str:
    if not text:
        return ""
    filled = expand({"env": {"apiKey": text}}, os.environ, secret)
    return str(filled["env"]["apiKey"])
