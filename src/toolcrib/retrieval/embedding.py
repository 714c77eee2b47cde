"""What an embedder offers: vectors for texts of tools and for a question, and the name they are kept under.

One file of `embedders/` is one embedder: a module with `open(settings)`. Its methods take their time and are
called on threads of their own (see `meaning.py`). A failing one raises `EmbedderUnavailable`; whoever
searches goes on by words alone and says so.
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
"""Short vectors of tools are kept in whole numbers: 1.0 is this many."""


class EmbedderUnavailable(ToolcribError):
    """No vectors can be had right now."""


@dataclass(frozen=True)
class Embedded:
    """A tool's text as vectors."""

    vector: Floats
    """Of unit length."""
    tokens: Bytes | None = None
    """A short vector for each token, times `SCALE`; None where the model has none."""


@dataclass(frozen=True)
class Part:
    """A question, or one of its clauses, as vectors."""

    vector: Floats
    tokens: Floats | None = None
    weights: Floats | None = None
    """How much each token counts; together 1."""


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def id(self) -> str:
        """Names the model and its version: vectors of another are never mixed in."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 until a remote model has told."""
        ...

    @property
    def token_width(self) -> int:
        """Numbers in a short vector; 0 where there are none."""
        ...

    def embed(self, passages: Sequence[str]) -> list[Embedded]:
        """The vectors of tools."""
        ...

    def read(self, question: str, spans: Sequence[tuple[int, int]]) -> list[Part]:
        """The question whole, then its clauses, which stand at these characters."""
        ...


class EmbedderSettings(Protocol):
    """What a person chose; see `config.settings`."""

    @property
    def kind(self) -> str:
        """The file of `embedders/`."""
        ...

    @property
    def model(self) -> str:
        """Which model, where there are several."""
        ...

    @property
    def url(self) -> str:
        """Where it answers, where it is not the usual place."""
        ...

    @property
    def api_key(self) -> str:
        """What it wants to see."""
        ...


class EmbedderModule(Protocol):
    """What a module of `retrieval/embedders` offers."""

    def open(self, settings: EmbedderSettings) -> Embedder | None:
        """The embedder; None for words alone. Loads or asks nothing heavy before its first use."""


@dataclass(frozen=True)
class Chosen:
    """The settings of an embedder as plain data; the built-in one unless told otherwise."""

    kind: str = "builtin"
    model: str = ""
    url: str = ""
    api_key: str = ""


def open_embedder(settings: EmbedderSettings) -> Embedder | None:
    """The embedder that these settings ask for; None for words alone. Raises `NotFound`."""
    return cast("EmbedderModule", find(FOLDER, settings.kind)).open(settings)
