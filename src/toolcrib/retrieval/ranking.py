"""Orders the candidates: a weighted sum of what speaks for each, with weights that were fitted once.

Linear on purpose: it carries over to tools and questions it was not fitted on, and every share of a score can
be told.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.retrieval.evidence import COLUMNS, Evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WEIGHTS = Path(__file__).parent / "model" / "order.json"
WITH_TOKENS, DENSE_ONLY = "late interaction", "dense"
_OF_MEANING = ("near", "late", "covered", "clause", "clause near")


@cache
def weights(kind: str) -> Floats:
    """The weight of each column, for embedders with short vectors of tokens or without."""
    import numpy as np

    told = json.loads(WEIGHTS.read_text(encoding="utf-8"))[kind]
    return np.array([told[name] for name in COLUMNS])


def likelihood(evidence: Evidence, kind: str) -> Floats:
    """For each candidate, how likely it is the one that is meant; together 1."""
    import numpy as np

    scores = evidence.table @ weights(kind)
    grown = np.exp(scores - scores.max(initial=-np.inf))
    likely: Floats = grown / grown.sum()
    return likely


def share_of_meaning(evidence: Evidence, kind: str) -> Floats:
    """For each candidate, which part of its lead over the others is owed to meaning rather than to words."""
    import numpy as np

    lead = (evidence.table - evidence.table.mean(0)) * weights(kind)
    of_meaning = np.array([name.partition(" x ")[0] in _OF_MEANING for name in COLUMNS])
    seen, spoken = (np.maximum(lead[:, one].sum(1), 0) for one in (of_meaning, ~of_meaning))
    share: Floats = seen / np.maximum(seen + spoken, 1e-9)
    return share
