"""Carries trained weights between machines in files of a bounded size: 8 bits where the file has 8 bits."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

BLOCK = 64
LARGEST = 15 * 2**20


def pack(weights: Mapping[str, np.ndarray], path: Path, *, whole: bool = False) -> None:
    """Write weights as `path.0`, `path.1`, …; `whole` keeps 16 bits, as a mean of runs wants."""
    arrays: dict[str, np.ndarray] = {}
    for name, value in weights.items():
        if whole or value.ndim != 2 or value.size < 30_000:
            arrays[name] = value.astype("f2" if whole else "f4")
            continue
        blocks = value.astype("f4").reshape(value.shape[0], -1, BLOCK)
        scale = np.maximum(np.abs(blocks).max(-1, keepdims=True) / 127, 1e-12)
        arrays[name] = np.round(blocks / scale).astype("i1").reshape(value.shape)
        arrays[f"{name}|scale"] = scale[..., 0].astype("f4")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    blob = buffer.getvalue()
    for part, at in enumerate(range(0, len(blob), LARGEST)):
        path.with_name(f"{path.name}.{part}").write_bytes(blob[at : at + LARGEST])


def unpack(parts: Iterable[Path]) -> dict[str, np.ndarray]:
    """Read what `pack` wrote."""
    with np.load(io.BytesIO(b"".join(part.read_bytes() for part in sorted(parts)))) as arrays:
        return {name: _whole(name, arrays) for name in arrays.files if not name.endswith("|scale")}


def _whole(name: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    value = arrays[name]
    if value.dtype != np.int8:
        return value.astype("f4")
    blocks = value.reshape(value.shape[0], -1, BLOCK).astype("f4")
    return (blocks * arrays[f"{name}|scale"][..., None]).reshape(value.shape)
