"""Words of many tools as they lie on disk: for each word the tools that hold it, and what it counts there.

A block never changes, so several indexes may use one, and it can be mapped into memory. A file is written
whole and renamed into place; one that is not whole, or was changed, is not read.
"""

from __future__ import annotations

import secrets
import struct
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEY_BYTES = 16
_MAGIC = b"crib words 1\n\0\0\0"
_HEADER = struct.Struct("<16sQQQQQ")
"""Magic, checksum of what follows, tools, words, pairs of both, bytes of the words' text."""


@dataclass(frozen=True, eq=False)
class Block:
    """Tools by number, words by name. Two are the same only if they are one object."""

    keys: tuple[bytes, ...]
    words: Mapping[str, int]
    starts: NDArray[np.int64]
    """Where the pairs of each word begin; one more for the end of the last."""
    tools: NDArray[np.int32]
    weights: NDArray[np.float64]

    def find(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
        """The tools that hold a word, and how much it counts in each."""
        number = self.words.get(word)
        if number is None:
            return None
        start, end = self.starts[number : number + 2].tolist()
        return self.tools[start:end], self.weights[start:end]


def build(documents: Mapping[bytes, Mapping[str, float]]) -> Block:
    """A block of these tools, each under its key."""
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
    """One block of all their tools, each once."""
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
    """Keep a block in a new file; returns its path. Raises `OSError`."""
    text = "\n".join(block.words).encode()
    parts = (*block.keys, block.starts.tobytes(), block.weights.tobytes(), block.tools.tobytes(), text)
    body = b"".join(parts)
    sizes = (len(block.keys), len(block.words), len(block.tools), len(text))
    name = secrets.token_hex(8)
    scratch = folder / f"{name}.part"
    scratch.write_bytes(_HEADER.pack(_MAGIC, zlib.crc32(body), *sizes) + body)
    return scratch.replace(folder / f"{name}.words")


def read(path: Path) -> Block | None:
    """The block of a file, mapped into memory; None for one that is not as it was written."""
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
