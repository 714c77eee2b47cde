"""Asks an embedding service over HTTP and validates its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.retrieval.embedder import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TIMEOUT = 20.0
_MOST_NUMBERS = 8192


def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The JSON object that an address returns; raises `EmbedderUnavailable`."""
    import httpx2

    try:
        answer = httpx2.post(url, json=dict(body), headers=dict(headers or {}), timeout=TIMEOUT)
        answer.raise_for_status()
        told = answer.json()
    except httpx2.HTTPStatusError as error:
        raise EmbedderUnavailable(
            f"{url} answered {error.response.status_code}.",
            hint="Check the model's name and the key in the settings (retrieval.embedder).",
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise EmbedderUnavailable(
            f"{url} cannot be reached: {type(error).__name__}.",
            hint="Is it running? Until then, tools are found by words.",
        ) from error
    except ValueError as error:
        raise EmbedderUnavailable(f"{url} returned something that is not JSON.", hint="") from error
    return told if isinstance(told, dict) else {}


def as_vectors(rows: Any, count: int, url: str) -> NDArray[np.float32]:
    """Unit vectors, one for each text; raises `EmbedderUnavailable` for anything else."""
    import numpy as np

    try:
        vectors = np.asarray(rows, np.float32)
    except (TypeError, ValueError, OverflowError):
        vectors = np.zeros(0, np.float32)
    if vectors.ndim != 2 or len(vectors) != count or not 0 < vectors.shape[1] <= _MOST_NUMBERS:
        raise EmbedderUnavailable(f"{url} did not return the requested vectors.", hint="")
    if not np.isfinite(vectors).all():
        raise EmbedderUnavailable(f"{url} returned invalid vectors.", hint="")
    unit: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
