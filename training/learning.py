"""One training run: contrast each question's tool with all others of the batch, by both kinds of vector."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from training.batches import Batch, Batches
from training.material import Material
from training.network import Encoder
from training.recipe import Recipe

CHUNK = 128
"""Rows compared at once: bounds the memory that late interaction takes."""


def learn(encoder: Encoder, material: Material, recipe: Recipe, device: str) -> None:
    """Train the encoder in place."""
    torch.manual_seed(recipe.seed)
    batches = Batches(material, recipe)
    optimizer = _optimizer(encoder, recipe)
    encoder.to(device).train()
    started, smooth = time.monotonic(), 0.0
    for step, batch in enumerate(_ahead(batches, device)):
        for group in optimizer.param_groups:
            group["lr"] = recipe.learning_rate * _pace(step, batches.steps)
        loss = loss_of(encoder, batch, recipe, device)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            smooth = loss.item()
            print(
                f"  step {step}/{batches.steps} loss {smooth:.3f} {time.monotonic() - started:.0f} s",
                flush=True,
            )


def loss_of(encoder: Encoder, batch: Batch, recipe: Recipe, device: str) -> Tensor:
    """Dense and late interaction together; learning both makes each better."""
    with torch.autocast(device, dtype=torch.bfloat16):
        asked = _states(encoder, batch.questions, batch.question_mask, batch.question_lengths)
        told = _states(encoder, batch.tools, batch.tool_mask, batch.tool_lengths)
        rows = asked[batch.row_question]
        row_vectors, tool_vectors = encoder.pool(rows, batch.row_span), encoder.pool(told, batch.tool_mask)
        row_tokens, tool_tokens = encoder.tokens(rows), encoder.tokens(told)
        weights = encoder.importance(rows) * batch.row_span
    spared = batch.spared | _twins(tool_vectors, batch.row_tool, recipe.twin)
    dense = (row_vectors @ tool_vectors.T / recipe.dense_temperature).masked_fill(spared, -1e4)
    back = dense[: batch.whole, : batch.whole].T
    loss = 0.7 * functional.cross_entropy(dense, batch.row_tool)
    loss = loss + 0.3 * functional.cross_entropy(back, batch.row_tool[: batch.whole])
    late = _late(row_tokens, weights, tool_tokens, batch) / recipe.token_temperature
    return 0.5 * loss + functional.cross_entropy(late.masked_fill(spared, -1e4), batch.row_tool)


def _states(encoder: Encoder, ids: Tensor, mask: Tensor, lengths: list[int]) -> Tensor:
    """The encoder's states, texts of like length together: most are far shorter than the longest."""
    parts, order = [], []
    for group, length in _alike(lengths, max(1, len(lengths) // 4)):
        chosen = torch.tensor(group, device=ids.device)
        states = encoder(ids[chosen, :length], mask[chosen, :length])
        parts.append(functional.pad(states, (0, 0, 0, ids.shape[1] - length)))
        order += group
    return torch.cat(parts)[_undo(order, ids.device)]


def _late(rows: Tensor, weights: Tensor, tools: Tensor, batch: Batch) -> Tensor:
    """For each token of a question its nearest of the tool's, averaged by importance."""
    shares = weights / weights.sum(1, keepdim=True)
    columns = [
        (torch.tensor(group, device=rows.device), length)
        for group, length in _alike(batch.tool_lengths, max(1, len(tools) // 4))
    ]
    made, order = [], []
    for group, length in _alike(batch.row_ends, CHUNK):
        chosen = torch.tensor(group, device=rows.device)
        near = [
            checkpoint(
                _nearest,
                rows[chosen, :length],
                shares[chosen, :length],
                tools[column, :reach],
                batch.tool_mask[column, :reach],
                use_reentrant=False,
            )
            for column, reach in columns
        ]
        made.append(torch.cat(near, 1))
        order += group
    back = torch.cat([column for column, _ in columns]).argsort()
    return torch.cat(made)[_undo(order, rows.device)][:, back]


def _nearest(rows: Tensor, shares: Tensor, tools: Tensor, mask: Tensor) -> Tensor:
    near = torch.einsum("qid,njd->qnij", rows.bfloat16(), tools.bfloat16())
    near = (near + (mask.bfloat16() - 1)[None, :, None, :] * 4).max(-1).values.float()
    return (near * shares[:, None, :]).sum(-1)


def _alike(lengths: list[int], count: int) -> list[tuple[list[int], int]]:
    """Numbers of texts, `count` at a time by their length, each group with its greatest."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    groups = [order[at : at + count] for at in range(0, len(order), count)]
    return [(group, -(-lengths[group[-1]] // 8) * 8) for group in groups]


def _undo(order: list[int], device: torch.device) -> Tensor:
    return torch.tensor(order, device=device).argsort()


def _twins(vectors: Tensor, right: Tensor, limit: float) -> Tensor:
    near = (vectors[right] @ vectors.T).detach() > limit
    near[torch.arange(len(right), device=near.device), right] = False
    return near


def _optimizer(encoder: Encoder, recipe: Recipe) -> torch.optim.Optimizer:
    matrices = [one for name, one in encoder.named_parameters() if one.ndim > 1 and name != "words.weight"]
    others = [one for name, one in encoder.named_parameters() if one.ndim <= 1 or name == "words.weight"]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=(0.9, 0.98))


def _pace(step: int, steps: int) -> float:
    """A short rise, then down along a cosine."""
    return min(1.0, (step + 1) / max(1.0, 0.1 * steps)) * 0.5 * (1 + math.cos(math.pi * step / steps))


def _ahead(batches: Batches, device: str) -> Iterator[Batch]:
    """The batches on the device, the next one made while this one is learned from."""
    source = iter(batches)
    with ThreadPoolExecutor(1) as maker:
        coming = maker.submit(next, source, None)
        while (batch := coming.result()) is not None:
            coming = maker.submit(next, source, None)
            for name, value in vars(batch).items():
                if isinstance(value, Tensor):
                    setattr(batch, name, value.to(device, non_blocking=True))
            yield batch
