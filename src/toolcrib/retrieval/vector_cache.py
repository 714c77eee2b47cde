"""Stores vectors on disk, by the hash of the text and the name of the model, and maps them into memory. Has
the file format, and the limits after which files are merged or started anew.

A file is written completely and then renamed, so several processes may write. Unreadable files are ignored.
"""

from __future__ import annotations

import hashlib
import secrets
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.embedder import Embedded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEY_BYTES = 16
_MAGIC = b"crib vectors 1\n\0"
_HEADER = struct.Struct("<16sQQQQ")
"""Magic, texts, numbers in a vector, token vectors, numbers in one."""
_MOST_FILES = 8
_MOST_TEXTS = 400_000
"""More mostly belong to removed tools: the files are started anew."""


def key_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


class VectorCache:
    """The vectors of one model, read on first use; not thread-safe."""

    def __init__(self, folder: Path | None, model: str) -> None:
        self._folder = folder / model if folder else None
        self._found: dict[bytes, tuple[_Segment, int]] = {}
        self._fresh: dict[bytes, Embedded] = {}
        self._read = False

    def get(self, key: bytes) -> Embedded | None:
        self._open()
        if (fresh := self._fresh.get(key)) is not None:
            return fresh
        place = self._found.get(key)
        return place[0][place[1]] if place else None

    def put(self, made: Mapping[bytes, Embedded]) -> None:
        """Add vectors; `flush` writes them."""
        self._open()
        self._fresh.update(made)

    def flush(self) -> None:
        """Write new vectors, merging many small files into one. Raises `OSError`."""
        if self._folder is None or not self._fresh:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        files = sorted(self._folder.glob("*.vectors"))
        written = self._fresh
        if len(files) >= _MOST_FILES and len(self._found) < _MOST_TEXTS:
            written = {key: segment[row] for key, (segment, row) in self._found.items()} | self._fresh
        self._take(_write(self._folder, written))
        self._fresh = {}
        if len(files) >= _MOST_FILES:
            for file in files:
                file.unlink(missing_ok=True)

    def _take(self, file: Path) -> None:
        segment = _Segment.open(file)
        if segment is not None:
            self._found.update(segment.places())

    def _open(self) -> None:
        if self._read:
            return
        self._read = True
        arithmetic.prepare()
        for file in sorted(self._folder.glob("*.vectors")) if self._folder else ():
            self._take(file)


class _Segment:
    def __init__(
        self, keys: bytes, vectors: NDArray[np.float16], ends: NDArray[np.int64], tokens: NDArray[np.int8]
    ) -> None:
        self._keys, self._vectors, self._ends, self._tokens = keys, vectors, ends, tokens

    @classmethod
    def open(cls, path: Path) -> _Segment | None:
        """The mapped file; None if incomplete."""
        import numpy as np

        try:
            data = np.memmap(path, np.uint8, "r").view(np.ndarray)
            magic, texts, width, short, short_width = _HEADER.unpack(data[: _HEADER.size].tobytes())
        except (OSError, ValueError, struct.error):
            return None
        sizes = (texts * KEY_BYTES, texts * width * 2, texts * 8, short * short_width)
        if magic != _MAGIC or len(data) != _HEADER.size + sum(sizes):
            return None
        parts, at = [], _HEADER.size
        for size in sizes:
            parts.append(data[at : at + size])
            at += size
        return cls(
            parts[0].tobytes(),
            np.frombuffer(parts[1], np.float16).reshape(texts, width),
            np.frombuffer(parts[2].tobytes(), np.int64),
            parts[3].view(np.int8).reshape(short, short_width),
        )

    def places(self) -> Iterator[tuple[bytes, tuple[_Segment, int]]]:
        for row in range(len(self._keys) // KEY_BYTES):
            yield self._keys[row * KEY_BYTES : (row + 1) * KEY_BYTES], (self, row)

    def __getitem__(self, row: int) -> Embedded:
        start = int(self._ends[row - 1]) if row else 0
        tokens = self._tokens[start : int(self._ends[row])]
        return Embedded(self._vectors[row], tokens if len(tokens) else None)


def _write(folder: Path, made: Mapping[bytes, Embedded]) -> Path:
    import numpy as np

    all_made = list(made.values())
    vectors = np.stack([embedded.vector for embedded in all_made]).astype(np.float16)
    texts: list[Any] = [embedded.tokens for embedded in all_made if embedded.tokens is not None]
    tokens = np.concatenate(texts) if texts else np.zeros((0, 0), np.int8)
    ends = np.cumsum(
        [0 if embedded.tokens is None else len(embedded.tokens) for embedded in all_made]
    ).astype(np.int64)
    header = _HEADER.pack(_MAGIC, len(all_made), vectors.shape[1], *tokens.shape)
    name = secrets.token_hex(8)
    scratch = folder / f"{name}.part"
    scratch.write_bytes(
        b"".join([header, *made, vectors.tobytes(), ends.tobytes(), np.ascontiguousarray(tokens).tobytes()])
    )
    return scratch.replace(folder / f"{name}.vectors")
