"""Runs several recipes one after another on the device and says what each reaches; keeps their weights.

python3 -m training.experiments build/training plan.json KEEP SECONDS
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from training.learning import learn
from training.material import Material, load
from training.measuring import measure, read_labelled
from training.network import Encoder, load_bert
from training.recipe import Recipe

SHARE = 0.8
"""How far from the start a trained model stays."""


def main(build: Path, plan: Path, keep: Path, seconds: float) -> None:
    """Train each recipe of the plan while there is time; measure every result and the mean of them."""
    started = time.monotonic()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = True
    material = load(build / "material.npz")
    tokenizer = Tokenizer.from_file(str(build / "tokenizer.json"))
    sets = [read_labelled(path.name, path, tokenizer) for path in sorted((build / "sets").iterdir())]
    tensors = dict(np.load(build / "start.npz"))
    keep.mkdir(parents=True, exist_ok=True)
    print(
        f"loaded {time.monotonic() - started:.0f} s, {len(material.questions)} pairs on {device}", flush=True
    )
    longest = 0.0
    for options in json.loads(plan.read_text()):
        begun = time.monotonic()
        if begun - started + longest > seconds:
            print("no time for", options, flush=True)
            continue
        name, recipe = options.pop("name"), Recipe(**options)
        encoder = _trained(tensors, material, recipe, device)
        taken = time.monotonic() - begun
        print(f"== {name} {options} {taken:.0f} s", flush=True)
        report(encoder, tensors, sets, device, recipe.without_fold)
        _keep(encoder, keep / f"{name}.npz")
        longest = max(longest, time.monotonic() - begun)


def train(build: Path, keep: Path, name: str, recipe: Recipe, device: str) -> None:
    """One run of its own, kept under its name."""
    keep.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = True
    tensors = dict(np.load(build / "start.npz"))
    print(f"{name}: {recipe}", flush=True)
    _keep(_trained(tensors, load(build / "material.npz"), recipe, device), keep / f"{name}.npz")


def _trained(tensors: dict, material: Material, recipe: Recipe, device: str) -> Encoder:
    # Equal heads at the start: only then may the weights of several runs be averaged.
    torch.manual_seed(0)
    encoder = Encoder()
    load_bert(encoder, tensors)
    learn(encoder, material, recipe, device)
    return encoder


def _keep(encoder: Encoder, path: Path) -> None:
    """Whole or not at all: what is there counts as done."""
    half_done = path.with_name(f"part-{path.name}")
    np.savez(half_done, **{key: value.half().cpu().numpy() for key, value in encoder.state_dict().items()})
    half_done.replace(path)


def report(encoder: Encoder, tensors: dict, sets: list, device: str, fold: int) -> None:
    """What it reaches as it is, and drawn back a little towards where it started."""
    trained = {key: value.clone() for key, value in encoder.state_dict().items()}
    for share in (1.0, SHARE):
        encoder.load_state_dict(drawn_back(trained, tensors, share))
        for labelled in sets:
            if labelled.name == "written" and fold < 0:
                continue
            only = fold if labelled.name == "written" else -1
            print(f"   {share} {measure(encoder, labelled, device, only)}", flush=True)
    encoder.load_state_dict(trained)


def drawn_back(trained: dict, tensors: dict, share: float) -> dict:
    """Start + share x (trained - start); the heads, which start from nothing, stay as they are."""
    start = Encoder()
    load_bert(start, tensors)
    before = start.state_dict()
    kept = ("short.weight", "weight.weight", "weight.bias")
    return {
        key: value
        if key in kept
        else before[key].to(value.device) + share * (value - before[key].to(value.device))
        for key, value in trained.items()
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
