"""Embeddings from OpenAI or any compatible API: default address and model, and texts per request."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from toolcrib.retrieval.embedder import (
    Embedded,
    EmbedderChoice,
    EmbedderUnavailable,
    QueryVectors,
    as_vectors,
    post,
)

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "text-embedding-3-small"
AT_ONCE = 64


def open(settings: EmbedderChoice) -> OpenAiEmbedder:  # noqa: A001
    return OpenAiEmbedder(settings.url or DEFAULT_URL, settings.model or DEFAULT_MODEL, settings.api_key)


class OpenAiEmbedder:
    token_width = 0

    def __init__(self, url: str, model: str, api_key: str = "") -> None:
        self._url, self._model, self._api_key = url.rstrip("/"), model, api_key
        self.dimension = 0

    @property
    def id(self) -> str:
        return "openai-" + hashlib.sha256(f"{self._url} {self._model}".encode()).hexdigest()[:16]

    def embed(self, passages: Sequence[str]) -> list[Embedded]:
        made: list[Embedded] = []
        for at in range(0, len(passages), AT_ONCE):
            made += [Embedded(vector) for vector in self._ask(list(passages[at : at + AT_ONCE]))]
        return made

    def read(self, question: str, spans: Sequence[tuple[int, int]]) -> list[QueryVectors]:
        texts = [question, *(question[start:end] for start, end in spans)]
        return [QueryVectors(vector) for vector in self._ask(texts)]

    def _ask(self, texts: list[str]) -> list[Any]:
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        told = post(f"{self._url}/embeddings", {"model": self._model, "input": texts}, headers)
        rows = told.get("data")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise EmbedderUnavailable(f"{self._url} returned no vectors.", hint="Is it an embedding model?")
        ordered = sorted(rows, key=lambda row: row.get("index", 0))
        vectors = as_vectors([row.get("embedding") for row in ordered], len(texts), self._url)
        self.dimension = vectors.shape[1]
        return list(vectors)
