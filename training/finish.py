"""Makes the run-time file from trained weights.

python -m training.finish build/training WEIGHTS.npz FOLDER [SHARE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from training.experiments import SHARE
from training.export import export

HEADS = ("short.weight", "weight.weight", "weight.bias")


def main(build: Path, trained: Path, folder: Path, share: float = SHARE) -> None:
    """Draw the weights back towards the start and export them."""
    start = own_names(dict(np.load(build / "start.npz")))
    with np.load(trained) as found:
        whole = {name: found[name].astype("f4") for name in found.files}
    weights = {
        name: value if name in HEADS else start[name] + share * (value - start[name])
        for name, value in whole.items()
    }
    export(weights, folder)


def own_names(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Base weights under the names of the network."""
    from training.network import Encoder, load_bert

    encoder = Encoder()
    load_bert(encoder, tensors)
    return {name: value.detach().numpy() for name, value in encoder.state_dict().items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), *map(float, sys.argv[4:5]))
