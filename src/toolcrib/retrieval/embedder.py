"""The embedder protocol: vectors for tools and for a question. Also the HTTP request to an embedding service:
timeout and error messages.

Each module of `embedders/` has `open(settings)`. Its methods may block and are called on their own threads
(see `embedding_service.py`). On failure they raise `EmbedderUnavailable`, and tools are found by words alone.
`post` and `as_vectors` are for those that ask a service over HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from toolcrib.errors import ToolcribError
from toolcrib.plugins import find

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.int8]

FOLDER = "toolcrib.retrieval.embedders"
SCALE = 127.0
"""Token vectors are stored as integers: 1.0 is this value."""
TIMEOUT = 20.0
"""Seconds that a service may take to answer."""
_MOST_NUMBERS = 8192


class EmbedderUnavailable(ToolcribError):
    pass


@dataclass(frozen=True)
class Embedded:
    """A tool's text as vectors."""

    vector: Floats
    """Of unit length."""
    tokens: Bytes | None = None
    """A short vector for each token, times `SCALE`; None if the model has none."""


@dataclass(frozen=True)
class QueryVectors:
    """A question, or one of its clauses, as vectors."""

    vector: Floats
    tokens: Floats | None = None
    weights: Floats | None = None
    """The weight of each token; they sum up to 1."""


class Embedder(Protocol):
    @property
    def id(self) -> str:
        """Identifies the model and its version: vectors of different models are never mixed."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 until a remote model has answered."""
        ...

    @property
    def token_width(self) -> int:
        """Numbers in a token vector; 0 if there are none."""
        ...

    def embed(self, passages: Sequence[str]) -> list[Embedded]:
        """The vectors of tools."""
        ...

    def read(self, question: str, spans: Sequence[tuple[int, int]]) -> list[QueryVectors]:
        """The whole question, then its clauses at these positions."""
        ...


@dataclass(frozen=True)
class EmbedderChoice:
    """The user's choice, with the key looked up; the built-in one by default."""

    kind: str = "builtin"
    """The module in `embedders/`."""
    model: str = ""
    """The model, if there are several."""
    url: str = ""
    """The address, if not the default."""
    api_key: str = ""


class EmbedderModule(Protocol):
    """A module of `retrieval/embedders`."""

    def open(self, settings: EmbedderChoice) -> Embedder | None:
        """The embedder; None for words alone. Loads and asks nothing before its first use."""


def open_embedder(settings: EmbedderChoice) -> Embedder | None:
    """The embedder for these settings; None for words alone. Raises `NotFound`."""
    return cast("EmbedderModule", find(FOLDER, settings.kind)).open(settings)


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


def as_vectors(rows: Any, count: int, url: str) -> Floats:
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
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
