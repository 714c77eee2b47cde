"""Runs the program in a process and a home of its own.

The process is forked from one that has the program loaded, which takes a twentieth of the time. `real=True`
starts it as a user does: for what depends on the start itself, or on how Python reads its environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.forked import Forked
from toolcrib.config.store import new_document

PROGRAM = Path(sys.executable).with_name("toolcrib")
SMALL_SERVER = Path(__file__).with_name("small_server.py")
DEADLINE = 60.0

Process = subprocess.Popen[str] | Forked
started: list[Process] = []
"""Everything that was run since the last `end_started`."""


@dataclass(frozen=True)
class Answer:
    """What a run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error as `--json` shows it."""
        found: dict[str, Any] = self.json["error"]
        return found


@dataclass
class CommandLine:
    """Runs `toolcrib` on one home."""

    home: Path
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Little of our own, so that nothing on the machine decides a test."""
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
        ours = {"TOOLCRIB_HOME": str(self.home), "TOOLCRIB_KEYRING": "off", "PYTHONUTF8": "1"}
        ours["TOOLCRIB_TRUST_CONFIG"] = "1"
        ours["TOOLCRIB_LOCAL_MODELS"] = "off"
        return {**kept, **ours, **self.extra}

    def __call__(self, *words: str, stdin: str = "", real: bool = False, **environment: str) -> Answer:
        surroundings = {**self.environment, **environment}
        process = _start(words, surroundings, real=real, stdin=subprocess.PIPE)
        try:
            out, err = process.communicate(stdin, timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert process.returncode is not None
        return Answer(process.returncode, out, err)

    def start(self, *words: str, real: bool = False, **options: Any) -> Process:
        """Run it in the background."""
        return _start(words, self.environment, real=real, **options)

    def add(self, name: str, *arguments: str, options: tuple[str, ...] = ()) -> Answer:
        """Add the small server under a name; straight into the file where that is all there is to do."""
        command = (sys.executable, str(SMALL_SERVER), *arguments)
        if not options and not (self.home / "run" / "host.sock").exists():
            return self._write(name, {"command": command[0], "args": command[1:]})
        answer = self("add", name, "--yes", *options, "--", *command)
        assert answer.code == 0, answer
        return answer

    def _write(self, name: str, entry: dict[str, Any]) -> Answer:
        file, files = self.home / "mcp.json", self.home / "files"
        files.mkdir(exist_ok=True)
        document = json.loads(file.read_text()) if file.exists() else new_document(files)
        document["mcpServers"][name] = entry
        file.write_text(json.dumps(document))
        file.chmod(0o600)
        return Answer(0, "", "")

    def config(self) -> dict[str, Any]:
        """The config file as it stands."""
        found: dict[str, Any] = json.loads((self.home / "mcp.json").read_text())
        return found

    def states(self) -> dict[str, str]:
        """Each server's state."""
        return {server["name"]: server["state"] for server in self("servers", "--json").json}


def _start(words: tuple[str, ...], environment: dict[str, str], *, real: bool, **options: Any) -> Process:
    command = [str(PROGRAM), *words]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    is_real = real or pipes.keys() - {"stdin", "stdout", "stderr"} or _changes_python(environment)
    process: Process
    if is_real:
        process = subprocess.Popen(command, text=True, env=environment, **pipes)
    else:
        process = Forked(command, environment, **pipes)
    started.append(process)
    return process


def end_started() -> list[str]:
    """End what still runs, such as the host of a test that failed; returns how it was called."""
    left = [process for process in started if process.poll() is None]
    for process in left:
        process.kill()
        process.wait(DEADLINE)
    started.clear()
    return [str(process.args) for process in left]


def _changes_python(environment: dict[str, str]) -> bool:
    """Whether a variable is different that Python reads when it starts; PYTHONPATH can be followed later."""
    read = {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LC_", "LANG"))}
    read.pop("PYTHONPATH", None)
    return read != {"PYTHONUTF8": "1", **{name: os.environ[name] for name in ("LANG",) if name in os.environ}}
