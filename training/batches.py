"""Draws the batches of a run: questions, one right tool each, counterexamples, and who must not be one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from training.material import LONGEST_QUESTION, Material
from training.recipe import SHARES, Recipe

SEPARATOR_TOKENS = 2
"""At the ends of every text: [CLS] and [SEP]."""


@dataclass
class Batch:
    """Rows are questions or parts of joined ones; columns are tools, the first ones right for their row."""

    questions: Tensor
    question_mask: Tensor
    tools: Tensor
    tool_mask: Tensor
    row_question: Tensor
    row_span: Tensor
    row_tool: Tensor
    spared: Tensor
    """True where a column must not count against a row."""
    question_lengths: list[int]
    tool_lengths: list[int]
    row_ends: list[int]
    whole: int
    """Rows that stand for a whole question."""


class Batches:
    """The batches of one run; equal seeds give equal batches."""

    def __init__(self, material: Material, recipe: Recipe) -> None:
        self._material, self._recipe = material, recipe
        self._random = random.Random(recipe.seed)
        self._numbers = np.random.default_rng(recipe.seed)
        shares = {**SHARES, **recipe.shares}
        each = np.array([shares.get(name, 1.0) for name in material.sources])
        weights = each[np.array(material.source)]
        if recipe.without_fold >= 0:
            weights[np.array(material.fold) == recipe.without_fold] = 0.0
        self.size = float(weights.sum())
        self._chance = weights / weights.sum()

    def __iter__(self) -> Iterator[Batch]:
        for _ in range(self.steps):
            drawn = self._numbers.choice(len(self._chance), self._recipe.batch, p=self._chance)
            yield self._batch(list(dict.fromkeys(drawn.tolist())))

    @property
    def steps(self) -> int:
        """How many there are."""
        return max(1, int(self._recipe.epochs * self.size / self._recipe.batch))

    def _batch(self, drawn: list[int]) -> Batch:
        questions, spans, fits, tools, texts = [], [], [], [], []
        parts: list[tuple[int, tuple[int, int], int, set[int]]] = []
        material = self._material
        for row, number in enumerate(drawn):
            ids = self._worn(material.questions[number])
            tool = self._random.choice(material.right[number])
            own = {*material.right[number], *material.spared[number]}
            fit = set(own)
            if self._random.random() < self._recipe.joined:
                other = self._random.randrange(len(drawn))
                second = material.questions[drawn[other]]
                if other != row and len(ids) + len(second) - 2 <= LONGEST_QUESTION:
                    theirs = {*material.right[drawn[other]], *material.spared[drawn[other]]}
                    ids, first, last = self._join(ids, second)
                    fit |= theirs
                    parts.append((row, first, row, own))
                    parts.append((row, last, other, theirs))
            questions.append(ids)
            spans.append((0, len(ids)))
            fits.append(fit)
            tools.append(tool)
            texts.append(self._view(tool))
        for number in drawn:
            near = material.siblings[number]
            for tool in self._random.sample(near, min(self._recipe.siblings, len(near))):
                tools.append(tool)
                texts.append(self._view(tool))
        whole = len(drawn)
        row_question = [*range(whole), *(part[0] for part in parts)]
        row_tool = [*range(whole), *(part[2] for part in parts)]
        fits += [part[3] for part in parts]
        question_ids, question_mask = _padded(questions)
        tool_ids, tool_mask = _padded(texts)
        all_spans = [*spans, *(part[1] for part in parts)]
        return Batch(
            questions=question_ids,
            question_mask=question_mask,
            tools=tool_ids,
            tool_mask=tool_mask,
            row_question=torch.tensor(row_question),
            row_span=_spans(all_spans, question_ids.shape[1]),
            row_tool=torch.tensor(row_tool),
            spared=_spared(fits, tools, row_tool),
            question_lengths=[len(ids) for ids in questions],
            tool_lengths=[len(ids) for ids in texts],
            row_ends=[end for _, end in all_spans],
            whole=whole,
        )

    def _view(self, tool: int) -> list[int]:
        known = self._material.tools[tool]
        return known[0] if self._random.random() < 0.5 else self._random.choice(known)

    def _worn(self, ids: list[int]) -> list[int]:
        """Now and then a question loses some of its words, so that none is leaned on."""
        if len(ids) <= 8 or self._random.random() > 0.15:
            return ids
        inner = [one for one in ids[1:-1] if self._random.random() > 0.15]
        return [ids[0], *inner, ids[-1]]

    def _join(self, one: list[int], other: list[int]) -> tuple[list[int], tuple[int, int], tuple[int, int]]:
        """Two questions in one, and where each stands in it."""
        border = len(one) - 1
        if self._random.random() < 0.5:
            ids = [*one[:-1], *other[1:]]
            return ids, (1, border), (border, len(ids) - 1)
        ids = [*other[:-1], *one[1:]]
        border = len(other) - 1
        return ids, (border, len(ids) - 1), (1, border)


def _padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    length = -(-max(map(len, rows)) // 8) * 8
    ids = np.zeros((len(rows), length), np.int64)
    mask = np.zeros((len(rows), length), bool)
    for row, one in enumerate(rows):
        ids[row, : len(one)] = one
        mask[row, : len(one)] = True
    return torch.from_numpy(ids), torch.from_numpy(mask)


def _spans(spans: list[tuple[int, int]], length: int) -> Tensor:
    made = np.zeros((len(spans), length), bool)
    for row, (start, end) in enumerate(spans):
        made[row, start:end] = True
    return torch.from_numpy(made)


def _spared(fits: list[set[int]], tools: list[int], right: list[int]) -> Tensor:
    columns: dict[int, list[int]] = {}
    for column, tool in enumerate(tools):
        columns.setdefault(tool, []).append(column)
    made = np.zeros((len(fits), len(tools)), bool)
    for row, fit in enumerate(fits):
        for tool in fit:
            made[row, columns.get(tool, [])] = True
        made[row, right[row]] = False
    return torch.from_numpy(made)
