"""Runs the server side of the conformance suite against an address and reads how every check went."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.conformance.install import install
from tests.real_servers.node import ROOT

DEADLINE = 420.0


class Check(NamedTuple):
    """One check of one scenario; a scenario may make the same one several times."""

    scenario: str
    name: str


class Score(NamedTuple):
    """How the checks went, and what the suite said."""

    passed: Counter[Check]
    failed: dict[Check, str]
    """With what was wrong."""
    report: str

    @property
    def scenarios(self) -> set[str]:
        """Those in which something was checked."""
        return {check.scenario for check in (*self.passed, *self.failed)}


def score(url: str, version: str, folder: Path) -> Score:
    """Run every scenario of a protocol version; the results are kept in the folder.

    The suite gives up on a request after ten seconds of its own clock, which a busy machine can use up: after
    such a failure everything is run once more, and that run counts.
    """
    first = _score(url, version, folder / "1")
    return _score(url, version, folder / "2") if any(map(_ran_out, first.failed.values())) else first


def _ran_out(error: str) -> bool:
    return "aborted" in error or "timed out" in error.lower()


def _score(url: str, version: str, folder: Path) -> Score:
    suite = ["server", "--url", url, "--suite", "all", "--spec-version", version, "--output-dir", str(folder)]
    run = subprocess.run(
        [*install(), *suite],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=dict(os.environ),
        timeout=DEADLINE,
    )
    result = Score(Counter(), {}, f"{run.stdout[-6000:]}\n{run.stderr[-2000:]}")
    for file in sorted(folder.glob("*/checks.json")):
        scenario = _scenario(file.parent.name)
        for one in json.loads(file.read_text()):
            check = Check(scenario, one["id"])
            if one["status"] == "SUCCESS":
                result.passed[check] += 1
            elif one["status"] == "FAILURE":
                result.failed[check] = str(one.get("errorMessage"))
    return result


def _scenario(folder: str) -> str:
    """The folder is named for the scenario and the time."""
    return re.sub(r"-\d{4}-\d\d-\d\dT.*", "", folder)
