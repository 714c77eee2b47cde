"""A workflow in a new home: run by a command, killed, resumed, shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.features.workflows.host.workflow_sample import add, chain

DEADLINE = 120.0
PROGRAM = Path(sys.executable).with_name("toolcrib")


def environment(home: Path) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
    return {**kept, "TOOLCRIB_HOME": str(home), "TOOLCRIB_KEYRING": "off", "PYTHONUTF8": "1"}


def toolcrib(home: Path, *words: str) -> Any:
    done = subprocess.run(
        [PROGRAM, "workflow", *words, "--json"],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


@pytest.mark.acceptance
def test_a_killed_run_is_resumed_without_repeating_a_step(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "order.json"
    nodes = {
        "first": add(1, 2),
        "wait": {"type": "Wait", "settings": {"event": "go"}},
        "last": add("{{first.data.result}}", 39),
    }
    file.write_text(json.dumps(chain("order", nodes, {"answer": "{{last.data.result}}"})))
    running = subprocess.Popen(
        [PROGRAM, "workflow", "run", str(file)], env=environment(home), stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    while "waiting" not in (line := running.stderr.readline()):
        assert line, "it ended"
    running.kill()
    running.communicate(timeout=DEADLINE)

    interrupted = toolcrib(home, "show", "last")
    toolcrib(home, "send", "last", "go")
    resumed = toolcrib(home, "resume", interrupted["run"])
    shown = toolcrib(home, "show", interrupted["run"])

    assert interrupted["state"] == "running"
    assert [step["state"] for step in interrupted["steps"]] == ["done", "running"]
    assert resumed == {
        "run": interrupted["run"],
        "state": "finished",
        "outputs": {"answer": 42},
        "error": None,
    }
    assert [step["node"] for step in shown["steps"]] == ["first", "wait", "last"]
    assert shown["steps"][0] == interrupted["steps"][0]
