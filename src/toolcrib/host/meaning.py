"""Opens the embedder that the settings ask for; a wrong setting costs the vectors, never the host."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from toolcrib.config.expansion import expand
from toolcrib.config.settings import EmbedderSettings
from toolcrib.errors import ToolcribError
from toolcrib.retrieval import Meaning, open_embedder
from toolcrib.retrieval.embedding import Chosen


def open_meaning(settings: EmbedderSettings, folder: Path, secret: Callable[[str], str | None]) -> Meaning:
    """The vectors of a host, kept in `folder`; nothing is read before somebody searches."""
    try:
        embedder = open_embedder(
            Chosen(settings.kind, settings.model, settings.url, _filled(settings.api_key, secret))
        )
    except ToolcribError as error:
        meaning = Meaning(None, folder)
        meaning.note = f"Ranked by words alone: {error.message} {error.hint}".strip()
        return meaning
    return Meaning(embedder, folder)


def _filled(text: str, secret: Callable[[str], str | None]) -> str:
    if not text:
        return ""
    filled = expand({"env": {"apiKey": text}}, os.environ, secret)
    return str(filled["env"]["apiKey"])
