"""Averages the weights of several runs, draws the mean back towards the start, and packs what came out.

    python3 -m training.averaging build/training KEEP

A mean of runs that saw different folds has seen everything; each single run still has a fold to be judged on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from training.experiments import drawn_back
from training.measuring import measure, read_labelled
from training.network import Encoder
from training.packing import pack

SHARE = 0.8
"""How far from the start the mean stays."""


def main(build: Path, keep: Path) -> None:
    """Pack each run (8 bits) and their mean (16 bits, not yet drawn back), and say what the mean reaches."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    runs = {path.stem: torch.load(path, weights_only=True) for path in sorted(keep.glob("*.pt"))}
    mean = {
        name: sum(run[name].float() for run in runs.values()) / len(runs)
        for name in next(iter(runs.values()))
    }
    for name, run in runs.items():
        pack({key: value.float().numpy() for key, value in run.items()}, keep / f"{name}.npz")
    pack({key: value.numpy() for key, value in mean.items()}, keep / "mean.npz", whole=True)
    tensors = dict(np.load(build / "start.npz"))
    tokenizer = Tokenizer.from_file(str(build / "tokenizer.json"))
    encoder = Encoder()
    print(f"the mean of {list(runs)}")
    for path in sorted((build / "sets").iterdir()):
        labelled = read_labelled(path.name, path, tokenizer)
        for share in (1.0, 0.9, SHARE, 0.7):
            encoder.load_state_dict(drawn_back(mean, tensors, share))
            print(f"   {share} {measure(encoder, labelled, device)}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
