"""Embedders and finders to test with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from toolcrib.retrieval import EmbeddingService, Finder
from toolcrib.retrieval.embedder import Embedded, EmbedderUnavailable, QueryVectors
from toolcrib.retrieval.embedders.builtin import BuiltinEmbedder


@pytest.fixture(scope="session")
def builtin() -> BuiltinEmbedder:
    """The shipped model, read once."""
    return BuiltinEmbedder()


@pytest.fixture
async def finder(builtin: BuiltinEmbedder, tmp_path: Path) -> AsyncIterator[Finder]:
    """A finder with the shipped model."""
    meaning = EmbeddingService(builtin, tmp_path)
    yield Finder(meaning)
    await meaning.close()


class Counting:
    """The shipped model, which notes what it was asked."""

    dimension = 384
    token_width = 64

    def __init__(self, inner: BuiltinEmbedder) -> None:
        self._inner = inner
        self.id = inner.id
        self.passages: list[str] = []
        self.broken = False

    def embed(self, passages: Sequence[str]) -> list[Embedded]:
        """The vectors, or a failure."""
        self._check()
        self.passages += passages
        return self._inner.embed(passages)

    def read(self, question: str, spans: Sequence[tuple[int, int]]) -> list[QueryVectors]:
        """The vectors, or a failure."""
        self._check()
        return self._inner.read(question, spans)

    def _check(self) -> None:
        if self.broken:
            raise EmbedderUnavailable("The model is on holiday.", hint="Wait.")


@pytest.fixture
def counting(builtin: BuiltinEmbedder) -> Counting:
    """A model that notes what it was asked."""
    return Counting(builtin)
