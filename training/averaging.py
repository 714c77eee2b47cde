"""Averages the weights of several runs, and says what the mean reaches, drawn back towards the start.

    python3 -m training.averaging build/training KEEP

A mean of runs that saw different folds has seen everything; each single run still has a fold to be judged on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from training.experiments import SHARE, drawn_back
from training.measuring import measure, read_labelled
from training.network import Encoder


def main(build: Path, keep: Path, names: Sequence[str], shares: Sequence[float] = (SHARE,)) -> None:
    """Keep the mean of these runs as `mean.npz`, not yet drawn back."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    runs = [dict(np.load(keep / f"{name}.npz")) for name in names]
    mean = {key: np.mean([run[key].astype("f4") for run in runs], 0) for key in runs[0]}
    np.savez(keep / "mean.npz", **{key: value.astype("f2") for key, value in mean.items()})
    tensors = dict(np.load(build / "start.npz"))
    tokenizer = Tokenizer.from_file(str(build / "tokenizer.json"))
    encoder = Encoder()
    trained = {key: torch.from_numpy(value) for key, value in mean.items()}
    print(f"the mean of {list(names)}")
    for path in sorted((build / "sets").iterdir()):
        labelled = read_labelled(path.name, path, tokenizer)
        for share in shares:
            encoder.load_state_dict(drawn_back(trained, tensors, share))
            print(f"   {share} {measure(encoder, labelled, device)}", flush=True)


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    found = sorted(path.stem for path in folder.glob("*.npz") if path.stem != "mean")
    main(Path(sys.argv[1]), folder, found, (1.0, 0.9, SHARE, 0.7))
