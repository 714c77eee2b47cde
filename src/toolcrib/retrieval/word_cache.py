"""Keeps what was read of tools, by the hash of their definitions, so that a start reads nothing twice.

Files lie under the fingerprint of the code that cuts texts into words: when it changes, all is read anew. A
file that cannot be read is left out: it is a cache.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from toolcrib.retrieval import arithmetic, documents, stemming, words
from toolcrib.retrieval.word_blocks import KEY_BYTES, Block, build, merge, read, write
from toolcrib.schema.tools import Tool

_MOST_FILES = 8
_MOST_TOOLS = 200_000
"""More is mostly of tools long gone: the files are started anew."""
_PLAIN = 2
"""The version of marshal's format in which equal data are equal bytes."""


def key_of(tool: Tool) -> bytes | None:
    """What a tool's words are kept under; None where its definition is no plain data."""
    raw: Any = tool.definition.raw
    try:
        told = marshal.dumps((tool.server, tool.definition.name, raw), _PLAIN)
    except ValueError:
        return None
    return hashlib.blake2b(told, digest_size=KEY_BYTES).digest()


class WordCache:
    """The words of tools, on disk. Nothing is read before it is asked for; `flush` may run on any thread."""

    def __init__(self, folder: Path | None) -> None:
        version = fingerprint()
        self._folder = folder / f"words-{version}" if folder and version else None
        self._places: dict[bytes, tuple[Block, int]] = {}
        self._fresh: dict[bytes, Mapping[str, float]] = {}
        self._writing = threading.Lock()
        self._read = False

    @property
    def unkept(self) -> bool:
        """Whether there is something to write."""
        return bool(self._fresh)

    def find(self, key: bytes) -> tuple[Block, int] | None:
        """Where a tool's words are, if they are known."""
        self._open()
        return self._places.get(key)

    def add(self, key: bytes, weights: Mapping[str, float]) -> None:
        """Remember the words of a tool; `flush` writes them."""
        if self._folder is not None:
            self._fresh[key] = weights

    def flush(self) -> None:
        """Write what is new; many small files become one. Raises `OSError`."""
        with self._writing:
            fresh, self._fresh = self._fresh, {}
            if self._folder is None or not fresh:
                return
            self._folder.mkdir(parents=True, exist_ok=True)
            files = sorted(self._folder.glob("*.words"))
            block = build(fresh)
            if len(files) >= _MOST_FILES and len(self._places) < _MOST_TOOLS:
                block = merge([*filter(None, map(read, files)), block])
            self._take(write(block, self._folder))
            if len(files) >= _MOST_FILES:
                for file in files:
                    file.unlink(missing_ok=True)

    def _take(self, file: Path) -> None:
        block = read(file)
        if block is not None:
            self._places.update({key: (block, number) for number, key in enumerate(block.keys)})

    def _open(self) -> None:
        if self._read:
            return
        self._read = True
        if self._folder is None:
            return
        arithmetic.prepare()
        for file in sorted(self._folder.glob("*.words")):
            self._take(file)


@cache
def fingerprint() -> str:
    """Of the code that makes words of a tool, and of the Python whose letters it knows; empty without it."""
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    try:
        for module in (documents, stemming, words):
            digest.update(Path(module.__file__ or "").read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()[:16]
