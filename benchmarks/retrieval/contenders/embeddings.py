"""Pure embeddings: the nearest vector of our own model, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.retrieval.contract import DEPTH, Search
from toolcrib.retrieval.embedders.builtin import BuiltinEmbedder
from toolcrib.retrieval.finder import passage
from toolcrib.schema.tools import Tool

NAME = "our model, one vector"


async def prepare(tools: Sequence[Tool]) -> Search:
    """Embed everything."""
    model = BuiltinEmbedder()
    texts = [passage(tool.definition.name, tool.server or "", tool.definition.description) for tool in tools]
    matrix = np.stack([one.vector for one in model.embed(texts)])

    async def search(question: str) -> list[str]:
        near = matrix @ model.read(question, ())[0].vector
        return [tools[number].name for number in np.argsort(-near)[:DEPTH].tolist()]

    return search
