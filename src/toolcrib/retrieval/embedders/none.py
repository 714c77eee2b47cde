"""No embedder: tools are found by words alone."""

from __future__ import annotations

from toolcrib.retrieval.embedder import EmbedderOptions


def open(settings: EmbedderOptions) -> None:  # noqa: A001
    pass
