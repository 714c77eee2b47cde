"""Embedding models that Ollama runs on this or another machine, such as `nomic-embed-text`: default address
and model, and the prefixes that some models expect.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from toolcrib.retrieval.embedder import Embedded, EmbedderChoice, QueryVectors, as_vectors, post

DEFAULT_URL = "http://127.0.0.1:11434"
DEFAULT_MODEL = "nomic-embed-text"
AT_ONCE = 32
_PREFIXES = {
    "nomic-embed-text": ("search_document: ", "search_query: "),
    "mxbai-embed-large": ("", "Represent this sentence for searching relevant passages: "),
}
"""Prefixes that a model expects before a text and before a question."""


def open(settings: EmbedderChoice) -> OllamaEmbedder:  # noqa: A001
    return OllamaEmbedder(settings.url or DEFAULT_URL, settings.model or DEFAULT_MODEL)


class OllamaEmbedder:
    token_width = 0

    def __init__(self, url: str, model: str) -> None:
        self._url, self._model = url.rstrip("/"), model
        self._for_tools, self._for_questions = _PREFIXES.get(model.partition(":")[0], ("", ""))
        self.dimension = 0

    @property
    def id(self) -> str:
        return "ollama-" + hashlib.sha256(self._model.encode()).hexdigest()[:16]

    def embed(self, passages: Sequence[str]) -> list[Embedded]:
        made: list[Embedded] = []
        for at in range(0, len(passages), AT_ONCE):
            texts = [self._for_tools + text for text in passages[at : at + AT_ONCE]]
            made += [Embedded(vector) for vector in self._ask(texts)]
        return made

    def read(self, question: str, spans: Sequence[tuple[int, int]]) -> list[QueryVectors]:
        texts = [question, *(question[start:end] for start, end in spans)]
        return [QueryVectors(vector) for vector in self._ask([self._for_questions + text for text in texts])]

    def _ask(self, texts: list[str]) -> list[Any]:
        told = post(f"{self._url}/api/embed", {"model": self._model, "input": texts, "truncate": True})
        vectors = as_vectors(told.get("embeddings"), len(texts), self._url)
        self.dimension = vectors.shape[1]
        return list(vectors)
