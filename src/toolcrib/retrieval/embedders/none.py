"""No embedder: tools are found by their words alone."""

from __future__ import annotations

from toolcrib.retrieval.embedding import EmbedderSettings


def open(settings: EmbedderSettings) -> None:  # noqa: A001
    """Nothing."""
