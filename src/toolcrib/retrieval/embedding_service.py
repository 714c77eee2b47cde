"""Provides vectors: known ones at once, others computed in the background. Sets how many texts are computed
at a time and the pause after an embedder fails.

Computing happens on a low-priority thread in small portions and never delays a call; results are cached on
disk. If the embedder fails, there are no vectors for a while and `note` says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from toolcrib.errors import ToolcribError
from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.embedder import Embedded, Embedder, QueryVectors
from toolcrib.retrieval.vector_cache import VectorCache
from toolcrib.retrieval.word_cache import WordCache
from toolcrib.tasks import cancel_and_wait

logger = logging.getLogger(__name__)

AT_ONCE = 32
"""Texts between two chances for other work."""
BETWEEN_WRITES = 1024
PATIENCE = 30.0
"""Seconds before a failed embedder is tried again."""
_LOW_PRIORITY = 10


class EmbeddingService:
    """An embedder with its cache and background work; belongs to one event loop."""

    def __init__(self, embedder: Embedder | None, folder: Path | None = None) -> None:
        self.embedder = embedder
        self.note = ""
        """Why there are no vectors, if so."""
        self.words = WordCache(folder)
        """Cached words of tools, stored beside the vectors."""
        self._folder = folder
        self._opened: VectorCache | None = None
        self._wanted: dict[bytes, str] = {}
        self._making: asyncio.Task[None] | None = None
        self._keeping: asyncio.Future[None] | None = None
        self._asked = ThreadPoolExecutor(1, "question")
        self._others = ThreadPoolExecutor(1, "embedding", initializer=_yield_to_others)
        self._not_before = 0.0
        self._closed = False

    def get(self, key: bytes) -> Embedded | None:
        """The vectors of a text, if known; see `key_of`."""
        return None if self.embedder is None else self._cache.get(key)

    def want(self, passages: Mapping[bytes, str]) -> None:
        """Compute the vectors of these texts, given by their keys."""
        if self.embedder is None or asyncio.get_running_loop().time() < self._not_before:
            return
        self._wanted |= passages
        if self._wanted and (self._making is None or self._making.done()):
            self._making = asyncio.create_task(self._make(self.embedder), name="embedding")

    def keep_words(self) -> None:
        """Write newly read words of tools soon."""
        if self._closed or not self.words.unkept:
            return
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.get_running_loop().run_in_executor(self._others, self._flush_words)

    async def read(self, question: str, spans: Sequence[tuple[int, int]]) -> list[QueryVectors] | None:
        """The question and its clauses as vectors; None if unavailable."""
        loop = asyncio.get_running_loop()
        if self.embedder is None or loop.time() < self._not_before:
            return None
        try:
            parts = await loop.run_in_executor(self._asked, self.embedder.read, question, spans)
        except ToolcribError as error:
            self._failed(error)
            return None
        self.note = ""
        return parts

    async def settle(self) -> None:
        """Wait until all requested vectors are computed or have failed."""
        if self._making is not None:
            await asyncio.wait([self._making])

    async def close(self) -> None:
        self._closed = True
        await cancel_and_wait(self._making)
        self._asked.shutdown(wait=False, cancel_futures=True)
        self._others.shutdown(wait=False, cancel_futures=True)
        self._flush()
        self._flush_words()

    @property
    def _cache(self) -> VectorCache:
        if self._opened is None:
            assert self.embedder is not None
            self._opened = VectorCache(self._folder, self.embedder.id)
        return self._opened

    async def _make(self, embedder: Embedder) -> None:
        loop = asyncio.get_running_loop()
        unwritten = 0
        while self._wanted:
            portion = dict(islice(self._wanted.items(), AT_ONCE))
            try:
                made = await loop.run_in_executor(self._others, embedder.embed, list(portion.values()))
            except ToolcribError as error:
                self._failed(error)
                break
            self._cache.put(dict(zip(portion, made, strict=True)))
            for key in portion:
                self._wanted.pop(key, None)
            unwritten += len(portion)
            if unwritten >= BETWEEN_WRITES:
                await loop.run_in_executor(self._others, self._flush)
                unwritten = 0
        await loop.run_in_executor(self._others, self._flush)
        arithmetic.give_back()

    def _failed(self, error: ToolcribError) -> None:
        self.note = f"Ranked by words alone: {error.message} {error.hint}".strip()
        self._wanted.clear()
        self._not_before = asyncio.get_running_loop().time() + PATIENCE
        logger.warning("embedder failed", extra={"reason": error.message})

    def _flush(self) -> None:
        if self._opened is None:
            return
        try:
            self._opened.flush()
        except OSError as error:
            logger.warning("vectors not stored", extra={"reason": str(error)})

    def _flush_words(self) -> None:
        try:
            self.words.flush()
        except OSError as error:
            logger.warning("words not stored", extra={"reason": str(error)})


def _yield_to_others() -> None:
    """Lower this thread's priority, if the system supports it."""
    with contextlib.suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOW_PRIORITY)
