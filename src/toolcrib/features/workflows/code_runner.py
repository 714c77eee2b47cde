"""Runs the Python code of a workflow in a sandboxed process: no network, no files but its own and Python's.

The code is the body of a function whose parameters are its inputs; what it returns must be JSON.
"""

from __future__ import annotations

import errno
import json
import shutil
import sys
import tempfile
from asyncio import to_thread
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcrib import plugins
from toolcrib.errors import CallFailed, CallTimeout, Denied, UsageError
from toolcrib.serverkit.bounded_read import read_bounded

TERMINAL = "toolcrib.bundled.terminal"
LARGEST_RESULT = 8 * 1024 * 1024
MOST_CODE = 100_000
MOST_MEMORY = 1024 * 1024 * 1024
MOST_DISK = 1024 * 1024 * 1024
DEFAULT_TIMEOUT = 60.0
READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
)
"""Programs and libraries; the home folder and the settings of the system are not readable."""
_PROGRAM = """
import ast, json, sys
with open("inputs.json", encoding="utf-8") as file:
    inputs = json.load(file)
with open("code.py", encoding="utf-8") as file:
    tree = ast.parse(file.read(), "code.py")
names = ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in inputs], kwonlyargs=[],
                      kw_defaults=[], defaults=[])
body = tree.body or [ast.Pass()]
function = ast.FunctionDef("code", names, body, [])
if sys.version_info >= (3, 12):
    function.type_params = []
scope = {}
exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "code.py", "exec"), scope)
result = scope["code"](**inputs)
with open("result.json", "w", encoding="utf-8") as file:
    json.dump(result, file)
"""


class CodeRunner:
    """`hidden` are folders that the code cannot read, even if they are beside programs."""

    def __init__(self, hidden: tuple[Path, ...] = ()) -> None:
        self._hidden = hidden

    async def run(self, code: str, inputs: Mapping[str, Any], timeout: float | None) -> tuple[Any, str]:
        """What the code returns, and what it printed; raises `CallFailed` with its error."""
        if len(code) > MOST_CODE:
            raise UsageError(f"The code has more than {MOST_CODE} characters.", hint="Split it into nodes.")
        folder = Path(await to_thread(tempfile.mkdtemp, prefix="toolcrib-code-"))
        try:
            (folder / "code.py").write_text(code, encoding="utf-8")
            (folder / "inputs.json").write_text(json.dumps(dict(inputs)), encoding="utf-8")
            printed = await self._execute(folder, timeout or DEFAULT_TIMEOUT)
            return _result(folder / "result.json", printed), printed
        finally:
            await to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _execute(self, folder: Path, timeout: float) -> str:
        terminal: Any = plugins.find("toolcrib.bundled", "terminal")
        finished: Any = plugins.find(TERMINAL, "workplace").finished
        hidden = (*terminal.HIDDEN, *map(str, self._hidden))
        sandbox = terminal.Sandbox(hidden=hidden, readable=READABLE, network=False, caches=False)
        if sandbox.kind == "none":
            raise Denied(
                "Code cannot run: this system has no sandbox.",
                hint="Install bubblewrap, or use a kernel with Landlock.",
            )
        workplace = terminal.Workplace(
            folder=lambda: folder,
            sandbox=sandbox,
            max_memory=MOST_MEMORY,
            max_disk=MOST_DISK,
            max_file=MOST_DISK,
        )
        running = workplace.start([sys.executable, "-I", "-c", _PROGRAM], str(folder))
        try:
            if not await finished(running, timeout):
                raise CallTimeout(f"The code did not end within {timeout:g} seconds.")
        finally:
            sandbox.scratch.close()
        text: str = running.text()
        if running.code != 0:
            raise CallFailed(f"The code failed: {_last_line(text) or running.why or running.code}")
        return text


def _result(path: Path, printed: str) -> Any:
    try:
        # The code wrote it: a link could name a file that only the host may read.
        return json.loads(read_bounded(path, LARGEST_RESULT, links=False))
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise CallFailed(f"The code returned more than {LARGEST_RESULT >> 20} MiB.") from error
        raise CallFailed(f"The code returned nothing that is JSON: {_last_line(printed)}") from error
    except (ValueError, RecursionError) as error:
        raise CallFailed(f"The code returned nothing that is JSON: {_last_line(printed)}") from error


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else ""
