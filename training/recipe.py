"""The numbers of a training run, and how much each source of questions counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from training.material import WRITTEN

SHARES = {
    "openapi": 0.6,
    "tldr": 0.4,
    "metatool": 1.0,
    "mcp_real_defs": 1.0,
    "toucan_defs": 1.2,
    "docker_defs": 1.5,
    "sgd": 0.6,
    "clinc150": 0.5,
    "apibench": 0.4,
    "banking77": 0.3,
    "apizoo": 1.0,
    "bfcl": 2.0,
    "sealtools": 2.0,
    "awscli": 0.5,
    "azurecli": 0.7,
    "powershell": 0.7,
    "written": 8.0,
    WRITTEN: 8.0,
}
"""How often a pair of a source is drawn; questions in the style of real use count most."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One run."""

    seed: int = 0
    without_fold: int = -1
    """Written questions of this fold, and their tools' own words, are not seen: they measure the run."""
    learning_rate: float = 2e-4
    epochs: float = 4.0
    batch: int = 1024
    dense_temperature: float = 0.03
    token_temperature: float = 0.02
    joined: float = 0.12
    """Of the questions, this many are two in one."""
    siblings: int = 2
    """Counterexamples from the same server for each written question."""
    twin: float = 0.95
    """Tools nearer to each other than this are no counterexamples for each other's questions."""
    shares: dict[str, float] = field(default_factory=dict)


RUNS = {
    "r0": Recipe(seed=0, without_fold=0),
    "r1": Recipe(seed=1, without_fold=1, siblings=3, learning_rate=3e-4),
    "r2": Recipe(seed=2, without_fold=2, epochs=3.0, shares={WRITTEN: 16.0, "written": 16.0}),
    "r3": Recipe(seed=3, without_fold=3, siblings=3),
}
"""The runs whose mean is the model; each leaves out another fold, on which the order can then be fitted."""

TINY = {name: replace(recipe, batch=32, epochs=0.1) for name, recipe in RUNS.items()}
"""The same for a run through everything: a few steps each, of no use to anybody."""
