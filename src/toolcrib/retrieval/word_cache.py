"""Caches the words of tools on disk, by the hash of their definitions: file format, checksum, and the limits
after which files are merged or started anew.

Files are kept under the fingerprint of the code that splits texts into words. They are written completely and
then renamed; incomplete or changed files are ignored. Blocks are immutable and mapped into memory.
"""

from __future__ import annotations

import hashlib
import marshal
import secrets
import struct
import sys
import threading
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.retrieval import arithmetic, documents, words
from toolcrib.schema.tools import Tool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


KEY_BYTES = 16
_MAGIC = b"crib words 1\n\0\0\0"
_HEADER = struct.Struct("<16sQQQQQ")
"""Magic, checksum of the rest, tools, words, pairs of both, bytes of the words' text."""


@dataclass(frozen=True, eq=False)
class Block:
    """Tools by number, words by name; compared by identity."""

    keys: tuple[bytes, ...]
    words: Mapping[str, int]
    starts: NDArray[np.int64]
    """Where the pairs of each word begin, plus the end of the last."""
    tools: NDArray[np.int32]
    weights: NDArray[np.float64]

    def find(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
        """The tools that contain a word, and its weight in each."""
        number = self.words.get(word)
        if number is None:
            return None
        start, end = self.starts[number : number + 2].tolist()
        return self.tools[start:end], self.weights[start:end]


def build(documents: Mapping[bytes, Mapping[str, float]]) -> Block:
    import numpy as np

    words: dict[str, int] = {}
    numbers, weights = array("i"), array("d")
    for counted in documents.values():
        numbers.extend([words.setdefault(word, len(words)) for word in counted])
        weights.extend(counted.values())
    lengths = [len(counted) for counted in documents.values()]
    tools = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return _sorted(tuple(documents), words, np.array(numbers, np.int32), tools, np.array(weights))


def merge(blocks: Sequence[Block]) -> Block:
    import numpy as np

    words: dict[str, int] = {}
    keys: dict[bytes, None] = {}
    numbers, tools, weights = [], [], []
    for block in blocks:
        fresh = np.array([-1 if key in keys else n for n, key in enumerate(block.keys)], np.int32)
        fresh[fresh >= 0] = len(keys) + np.arange((fresh >= 0).sum(), dtype=np.int32)
        own = np.array([words.setdefault(word, len(words)) for word in block.words], np.int32)
        kept = fresh[block.tools] >= 0
        numbers.append(np.repeat(own, np.diff(block.starts))[kept])
        tools.append(fresh[block.tools][kept])
        weights.append(block.weights[kept])
        keys |= dict.fromkeys(block.keys)
    return _sorted(
        tuple(keys), words, np.concatenate(numbers), np.concatenate(tools), np.concatenate(weights)
    )


def _sorted(
    keys: tuple[bytes, ...],
    words: Mapping[str, int],
    numbers: NDArray[np.int32],
    tools: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> Block:
    import numpy as np

    order = np.argsort(numbers, kind="stable")
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.bincount(numbers, minlength=len(words)), out=starts[1:])
    return Block(keys, words, starts, tools[order], weights[order])


def write(block: Block, folder: Path) -> Path:
    """Write a block to a new file; returns its path. Raises `OSError`."""
    text = "\n".join(block.words).encode()
    parts = (*block.keys, block.starts.tobytes(), block.weights.tobytes(), block.tools.tobytes(), text)
    body = b"".join(parts)
    sizes = (len(block.keys), len(block.words), len(block.tools), len(text))
    name = secrets.token_hex(8)
    scratch = folder / f"{name}.part"
    scratch.write_bytes(_HEADER.pack(_MAGIC, zlib.crc32(body), *sizes) + body)
    return scratch.replace(folder / f"{name}.words")


def read(path: Path) -> Block | None:
    """The block of a file, mapped into memory; None if damaged."""
    import numpy as np

    try:
        data = np.memmap(path, np.uint8, "r").view(np.ndarray)
        magic, told, tools, words, pairs, text = _HEADER.unpack(data[: _HEADER.size].tobytes())
    except (OSError, ValueError, struct.error):
        return None
    body = data[_HEADER.size :]
    sizes = (tools * KEY_BYTES, (words + 1) * 8, pairs * 8, pairs * 4, text)
    if magic != _MAGIC or len(body) != sum(sizes) or zlib.crc32(body.data) != told:
        return None
    keys, starts, weights, numbers, spelled = _cut(body, sizes)
    names = spelled.tobytes().decode().split("\n") if words else []
    flat = keys.tobytes()
    return Block(
        tuple(flat[at : at + KEY_BYTES] for at in range(0, len(flat), KEY_BYTES)),
        {name: number for number, name in enumerate(names)},
        starts.view(np.int64),
        numbers.view(np.int32),
        weights.view(np.float64),
    )


def _cut(body: NDArray[np.uint8], sizes: Sequence[int]) -> Iterator[NDArray[np.uint8]]:
    at = 0
    for size in sizes:
        yield body[at : at + size]
        at += size


_MOST_FILES = 8
_MOST_TOOLS = 200_000
"""More mostly belong to removed tools: the files are started anew."""
_PLAIN = 2
"""The marshal version in which equal data are equal bytes."""


def key_of(tool: Tool) -> bytes | None:
    """The cache key of a tool; None if its definition is not plain data."""
    raw: Any = tool.definition.raw
    try:
        told = marshal.dumps((tool.server, tool.definition.name, raw), _PLAIN)
    except ValueError:
        return None
    return hashlib.blake2b(told, digest_size=KEY_BYTES).digest()


class WordCache:
    """The words of tools on disk, read on first use; `flush` may run on any thread."""

    def __init__(self, folder: Path | None) -> None:
        version = fingerprint()
        self._folder = folder / f"words-{version}" if folder and version else None
        self._places: dict[bytes, tuple[Block, int]] = {}
        self._fresh: dict[bytes, Mapping[str, float]] = {}
        self._writing = threading.Lock()
        self._read = False

    @property
    def unkept(self) -> bool:
        return bool(self._fresh)

    def find(self, key: bytes) -> tuple[Block, int] | None:
        self._open()
        return self._places.get(key)

    def add(self, key: bytes, weights: Mapping[str, float]) -> None:
        """Add the words of a tool; `flush` writes them."""
        if self._folder is not None:
            self._fresh[key] = weights

    def flush(self) -> None:
        """Write new words, merging many small files into one. Raises `OSError`."""
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
    """Of the code that splits texts, and of the Python version; empty if unknown."""
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    try:
        for module in (documents, words):
            digest.update(Path(module.__file__ or "").read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()[:16]
