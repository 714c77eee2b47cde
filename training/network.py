"""The network: six layers of BERT, a mean vector, short vectors for each token, and a weight for each token.

Written out in plain torch: the run-time file is made from the same names, and nothing else is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, LAYERS, INNER, TOKEN_WIDTH = 384, 12, 6, 1536, 64


class Layer(nn.Module):
    """One transformer layer, normalised after each half, as BERT does."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out, self.wide, self.narrow = (
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, INNER),
            nn.Linear(INNER, WIDTH),
        )
        self.first, self.second = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
        self.dropout = dropout

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = x.shape
        heads = [
            each(x).view(batch, length, HEADS, -1).transpose(1, 2)
            for each in (self.query, self.key, self.value)
        ]
        dropout = self.dropout if self.training else 0.0
        seen = functional.scaled_dot_product_attention(*heads, attn_mask=mask, dropout_p=dropout)
        mixed = self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        x = self.first(x + functional.dropout(mixed, dropout, self.training))
        inner = self.narrow(functional.gelu(self.wide(x)))
        return self.second(x + functional.dropout(inner, dropout, self.training))


class Encoder(nn.Module):
    """Turns token ids into vectors."""

    def __init__(self, dropout: float = 0.05) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30522, WIDTH), nn.Embedding(512, WIDTH)
        self.kind = nn.Parameter(torch.zeros(WIDTH))
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.layers = nn.ModuleList([Layer(dropout) for _ in range(LAYERS)])
        self.short = nn.Linear(WIDTH, TOKEN_WIDTH, bias=False)
        self.weight = nn.Linear(WIDTH, 1)
        self.dropout = dropout
        nn.init.orthogonal_(self.short.weight)
        nn.init.zeros_(self.weight.weight)
        nn.init.zeros_(self.weight.bias)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The last layer's state of each token."""
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.words(ids) + self.places(places) + self.kind)
        x = functional.dropout(x, self.dropout, self.training)
        seen = mask[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, seen)
        return x

    def pool(self, states: Tensor, span: Tensor) -> Tensor:
        """One unit vector for the tokens of a span."""
        shares = span.to(states.dtype)[:, :, None]
        return functional.normalize(((states * shares).sum(1) / shares.sum(1)).float(), dim=-1)

    def tokens(self, states: Tensor) -> Tensor:
        """A short unit vector for each token."""
        return functional.normalize(self.short(states).float(), dim=-1)

    def importance(self, states: Tensor) -> Tensor:
        """How much each token of a question counts, between 0 and 1."""
        return torch.sigmoid(self.weight(states).float()[:, :, 0])


def load_bert(encoder: Encoder, tensors: Mapping[str, np.ndarray]) -> None:
    """Take over base weights under BERT's usual names."""
    own = {"words.weight": "embeddings.word_embeddings.weight"}
    own |= {"places.weight": "embeddings.position_embeddings.weight"}
    own |= {f"norm.{part}": f"embeddings.LayerNorm.{part}" for part in ("weight", "bias")}
    for number in range(LAYERS):
        for ours, theirs in _NAMES.items():
            for part in ("weight", "bias"):
                own[f"layers.{number}.{ours}.{part}"] = f"encoder.layer.{number}.{theirs}.{part}"
    state = {ours: torch.tensor(np.asarray(tensors[theirs], "f4")) for ours, theirs in own.items()}
    state["kind"] = torch.tensor(np.asarray(tensors["embeddings.token_type_embeddings.weight"][0], "f4"))
    left = encoder.load_state_dict(state, strict=False)
    assert set(left.missing_keys) == {"short.weight", "weight.weight", "weight.bias"}, left


_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "first": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "second": "output.LayerNorm",
}
