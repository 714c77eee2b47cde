"""The model is made by one command: from data and start weights to the files that ship."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak.small_material import write_data, write_wheel
from toolcrib.retrieval.embedders.builtin import BuiltinEmbedder
from toolcrib.retrieval.ranking import COLUMNS

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".cache" / "training"
DEADLINE = 900.0


@pytest.fixture
def python() -> Path:
    """An environment of its own: torch has no place in ours."""
    program, pins, stamp = FOLDER / "bin" / "python", ROOT / "training/requirements.txt", FOLDER / ".pins"
    if not stamp.exists() or stamp.read_text() != pins.read_text():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, FOLDER], check=True)
        # pip's own place for wheels, where there is one: torch without CUDA comes from such.
        near = [
            word for one in os.environ.get("PIP_FIND_LINKS", "").split() for word in ("--find-links", one)
        ]
        words = ("pip", "install", "--quiet", "--python", program, *near, "-r", pins)
        subprocess.run([uv, *words], check=True, timeout=DEADLINE)
        stamp.write_text(pins.read_text())
    return program


def test_one_command_goes_from_data_to_the_files_that_ship(python: Path, tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    write_wheel(tmp_path / "start.whl")
    build = tmp_path / "build"

    subprocess.run(
        [python, "-m", "training", tmp_path / "data", tmp_path / "start.whl", build, "--tiny"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=True,
        timeout=DEADLINE,
    )

    order = json.loads((build / "model/order.json").read_text())
    assert {kind: set(weights) for kind, weights in order.items()} == {
        "late interaction": set(COLUMNS),
        "dense": set(COLUMNS),
    }
    measured = json.loads((build / "model/measured.json").read_text())
    assert {name.partition(",")[0] for name in measured} == {
        "mcp_real",
        "bfcl",
        "metatool",
        "sealtools",
        "written",
    }
    model = BuiltinEmbedder(build / "model")
    (embedded,) = model.embed(["mail: send message. Sends a message."])
    assert embedded.vector.shape == (384,)
    assert embedded.tokens is not None
    assert (build / "model/model.onnx").stat().st_size < 30_000_000
