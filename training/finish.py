"""Makes the run-time file from packed weights.

    python -m training.finish build/training MEAN_PARTS FOLDER [SHARE]

`MEAN_PARTS` is the path without its last number: build/trained/mean.npz.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from training.export import export
from training.packing import unpack

SHARE = 0.8
HEADS = ("short.weight", "weight.weight", "weight.bias")


def main(build: Path, packed: Path, folder: Path, share: float = SHARE) -> None:
    """Draw the weights back towards the start and export them."""
    trained = unpack(packed.parent.glob(f"{packed.name}.*"))
    start = own_names(dict(np.load(build / "start.npz")))
    weights = {
        name: value if name in HEADS else start[name] + share * (value - start[name])
        for name, value in trained.items()
    }
    export(weights, (build / "tokenizer.json").read_text(encoding="utf-8"), folder)


def own_names(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Base weights under the names of the network."""
    from training.network import Encoder, load_bert

    encoder = Encoder()
    load_bert(encoder, tensors)
    return {name: value.detach().numpy() for name, value in encoder.state_dict().items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), *map(float, sys.argv[4:5]))
