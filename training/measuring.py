"""Measures an encoder on labelled questions on the device, to choose between runs; nothing lexical here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from toolcrib.retrieval.finder import passage
from training.batches import _padded
from training.material import LONGEST_QUESTION, LONGEST_TOOL, fold_of, read_lines
from training.network import Encoder


@dataclass
class Labelled:
    """A set of tools and questions, cut into tokens."""

    name: str
    tools: list[list[int]]
    questions: list[list[int]]
    relevant: list[set[int]]
    fitting: list[set[int]]
    fold: list[int]
    kinds: list[str]


def read_labelled(name: str, folder: Path, tokenizer: Tokenizer) -> Labelled:
    """Read a set in the form of the development sets."""
    tools, asked = read_lines(folder / "tools.jsonl.gz"), read_lines(folder / "queries.jsonl.gz")
    index = {tool["id"]: number for number, tool in enumerate(tools)}
    texts = [passage(one["name"], one.get("server") or "", one.get("description") or "") for one in tools]
    relevant = [{index[one] for one in question["relevant"]} for question in asked]
    return Labelled(
        name=name,
        tools=_cut(tokenizer, texts, LONGEST_TOOL),
        questions=_cut(tokenizer, [question["query"] for question in asked], LONGEST_QUESTION),
        relevant=relevant,
        fitting=[right | _others(question, index) for right, question in zip(relevant, asked, strict=True)],
        fold=[fold_of(tools[min(right)].get("server") or "") for right in relevant],
        kinds=[question.get("kind") or "" for question in asked],
    )


def _cut(tokenizer: Tokenizer, texts: Sequence[str], longest: int) -> list[list[int]]:
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return [found.ids for found in tokenizer.encode_batch(list(texts))]


def _others(question: Mapping[str, Any], index: Mapping[str, int]) -> set[int]:
    named = [*question.get("acceptable", ()), *question.get("same_name", ())]
    return {index[one] for one in named if one in index}


@torch.no_grad()
def measure(encoder: Encoder, labelled: Labelled, device: str, fold: int = -1) -> str:
    """Recall at 5 and nDCG at 10 in per cent: dense, late interaction, both."""
    encoder.to(device).eval()
    chosen = [n for n, one in enumerate(labelled.fold) if fold in (-1, one)]
    told = _encode(encoder, labelled.tools, device)
    asked = _encode(encoder, [labelled.questions[n] for n in chosen], device)
    vectors = torch.cat([one[0] for one in told])
    dense = torch.cat([one[0] for one in asked]) @ vectors.T
    late = torch.cat([_late(one, told) for one in asked])
    both = _standard(dense) + _standard(late)
    found = [
        f"{name} {_score(scores, labelled, chosen)}"
        for name, scores in (("dense", dense), ("late", late), ("both", both))
    ]
    return f"{labelled.name:9} {len(chosen):5} " + "  ".join(found)


def _encode(encoder: Encoder, texts: Sequence[list[int]], device: str) -> list[tuple[Tensor, ...]]:
    made = []
    for at in range(0, len(texts), 256):
        ids, mask = (one.to(device) for one in _padded(list(texts[at : at + 256])))
        with torch.autocast(device, dtype=torch.bfloat16):
            states = encoder(ids, mask)
            made.append(
                (encoder.pool(states, mask), encoder.tokens(states), encoder.importance(states) * mask, mask)
            )
    return made


def _late(asked: tuple[Tensor, ...], told: Sequence[tuple[Tensor, ...]]) -> Tensor:
    rows = []
    for at in range(0, len(asked[1]), 32):
        tokens, weights = asked[1][at : at + 32], asked[2][at : at + 32]
        shares = (weights / weights.sum(1, keepdim=True))[:, None, :]
        columns = []
        for _, tools, _, mask in told:
            near = torch.einsum("qid,njd->qnij", tokens.bfloat16(), tools.bfloat16())
            near = near.masked_fill(~mask[None, :, None, :], -1.0).amax(-1).float()
            columns.append((near * shares).sum(-1))
        rows.append(torch.cat(columns, 1))
    return torch.cat(rows)


def _standard(scores: Tensor) -> Tensor:
    """Over the best two hundred, as at run time."""
    best = scores.topk(min(200, scores.shape[1]), dim=1).values
    return (scores - best.mean(1, keepdim=True)) / best.std(1, keepdim=True)


def _score(scores: Tensor, labelled: Labelled, chosen: Sequence[int]) -> str:
    top = scores.topk(10, dim=1).indices.cpu().numpy()
    recall, gain = [], []
    for order, number in zip(top, chosen, strict=True):
        hits = np.array([one in labelled.fitting[number] for one in order])
        needed = len(labelled.relevant[number])
        recall.append(min(hits[:5].sum(), needed) / needed)
        places = np.flatnonzero(hits)[:needed]
        ideal = sum(1 / math.log2(place + 2) for place in range(min(needed, 10)))
        gain.append(sum(1 / math.log2(place + 2) for place in places) / ideal)
    kinds = [labelled.kinds[n] for n in chosen]
    by_kind: dict[str, list[float]] = {}
    for kind, value in zip(kinds, recall, strict=True):
        by_kind.setdefault(kind, []).append(value)
    told = "".join(f" {kind[:4]} {100 * np.mean(values):.0f}" for kind, values in sorted(by_kind.items()))
    return f"{100 * np.mean(recall):.1f}/{100 * np.mean(gain):.1f}{told}"
