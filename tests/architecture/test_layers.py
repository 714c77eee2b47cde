"""The layers of `docs/architecture.md`, declared in `pyproject.toml`, hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_import_points_down() -> None:
    script = Path(sys.executable).with_name("lint-imports")

    checked = subprocess.run([script, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True)

    assert checked.returncode == 0, checked.stdout[checked.stdout.find("Broken contracts") :] + checked.stderr
