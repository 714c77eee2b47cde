"""Runs the client side of the conformance suite once and reads how every scenario went."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.conformance.install import install
from tests.real_servers.node import ROOT

TURN = Path(__file__).with_name("turn.py")
SCENARIO_TIMEOUT_MS = 800_000
"""From the start of the suite: it starts all clients at once, and each waits for its turn."""


class Outcome(NamedTuple):
    """How the checks of one scenario went, and how our client ended."""

    passed: int
    failed: int
    warnings: int
    exit_code: int | None
    """None if the client did not end by itself."""
    report: str


def run_suite(options: Sequence[str], folder: Path) -> dict[str, Outcome]:
    """The outcome of each scenario; `folder` keeps what the suite and the clients wrote."""
    client = shlex.join([sys.executable, "-S", str(TURN), str(folder)])
    command = [*install(), "client", "--command", client, *options, "--timeout", str(SCENARIO_TIMEOUT_MS)]
    output = folder / "output"
    subprocess.run(
        [*command, "--output-dir", str(output)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        cwd=ROOT,
        env=dict(os.environ),
        timeout=SCENARIO_TIMEOUT_MS / 1000 + 100,
    )
    files = {_scenario(file, output): file for file in sorted(output.rglob("checks.json"))}
    return {scenario: _outcome(file, scenario, folder) for scenario, file in files.items()}


def _outcome(file: Path, scenario: str, folder: Path) -> Outcome:
    checks = json.loads(file.read_text())
    count = Counter(check["status"] for check in checks)
    ended = folder / f"{scenario.replace('/', '.')}.exit"
    return Outcome(
        passed=count["SUCCESS"],
        failed=count["FAILURE"],
        warnings=count["WARNING"],
        exit_code=int(ended.read_text()) if ended.exists() else None,
        report=f"{json.dumps(checks, indent=2)}\n{file.with_name('stderr.txt').read_text()[-4000:]}",
    )


def _scenario(file: Path, output: Path) -> str:
    """The folder is named for the scenario and the time."""
    return re.sub(r"-\d{4}-\d\d-\d\dT[^/]*$", "", file.parent.relative_to(output).as_posix())
