"""The embedder protocol: vectors for tools and for a question.

Each module of `embedders/` has `open(settings)`. Its methods may block and are called on their own threads
(see `embedding_service.py`). On failure they raise `EmbedderUnavailable`, and tools are found by words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

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


class EmbedderOptions(Protocol):
    """The user's choice; see `config.settings`."""

    @property
    def kind(self) -> str:
        """The module in `embedders/`."""
        ...

    @property
    def model(self) -> str:
        """The model, if there are several."""
        ...

    @property
    def url(self) -> str:
        """The address, if not the default."""
        ...

    @property
    def api_key(self) -> str: ...


class EmbedderModule(Protocol):
    """A module of `retrieval/embedders`."""

    def open(self, settings: EmbedderOptions) -> Embedder | None:
        """The embedder; None for words alone. Loads and asks nothing before its first use."""


@dataclass(frozen=True)
class EmbedderChoice:
    """Embedder settings as plain data; the built-in one by default."""

    kind: str = "builtin"
    model: str = ""
    url: str = ""
    api_key: str = ""


def open_embedder(settings: EmbedderOptions) -> Embedder | None:
    """The embedder for these settings; None for words alone. Raises `NotFound`."""
    return cast("EmbedderModule", find(FOLDER, settings.kind)).open(settings)
