"""A real language model, small as it is, calls a real tool through the real program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
HERE = Path(__file__).parent / "small_model"
FOLDER = Path(__file__).parents[2] / ".cache" / "small-model"
PROGRAM = Path(sys.executable).with_name("toolcrib")
DEADLINE = 300.0


def install() -> None:
    """Put engine and weights in place, once, exactly as pinned."""
    pins, stamp = HERE / "requirements.txt", FOLDER / ".pins"
    if not stamp.exists() or stamp.read_text() != pins.read_text():
        target = ("--target", str(FOLDER), "--no-deps", "--require-hashes", "-r", str(pins))
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "pip", "install", "--quiet", "--python", sys.executable, *target], check=True)
        stamp.write_text(pins.read_text())


@pytest.fixture
def address() -> Iterator[str]:
    install()
    process = subprocess.Popen(
        [sys.executable, HERE / "serving.py", FOLDER],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield next(line.strip() for line in process.stdout if line.startswith("http://127.0.0.1"))
    finally:
        process.kill()
        process.wait()


def test_a_small_model_calls_a_tool_and_answers(address: str, tmp_path: Path) -> None:
    entry = {"type": "inprocess", "module": "toolcrib.bundled.demo"}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"demo": entry}}))
    environment = {**os.environ, "TOOLCRIB_HOME": str(tmp_path), "OPENAI_BASE_URL": address}
    words = ("ask", "--json", "--model", "openai:smollm2", "What is 17 plus 25?")

    done = subprocess.run(
        [PROGRAM, *words],
        env={**environment, "TOOLCRIB_TRUST_CONFIG": "1", "TOOLCRIB_KEYRING": "off"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    (call,) = found["calls"]
    assert (call["tool"], call["arguments"], call["outcome"]) == ("demo__add", {"a": 17, "b": 25}, "ok")
    assert found["answer"].strip()
