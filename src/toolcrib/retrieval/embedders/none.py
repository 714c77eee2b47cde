"""No embedder: tools are found by words alone."""

from __future__ import annotations

from toolcrib.retrieval.embedder import EmbedderChoice


def open(settings: EmbedderChoice) -> None:  # noqa: A001
    pass
