"""Scripts: shell commands through the terminal's policy and sandbox, AppleScript and JXA on macOS. Decides
default and longest timeout, longest script and input, known shells, and the error when scripts are not
allowed.

They are off unless the server was started with `--allow-scripts`, or `MCP_SHELL_COMMANDS_ENABLED` is set. A
script has a deadline and limited output, and every process ends with its script.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolcrib.bundled.desktop.failures import NotSupported
from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.shell import judge

if TYPE_CHECKING:
    from toolcrib.bundled.terminal.processes import RunningCommand
    from toolcrib.bundled.terminal.workplace import Workplace

VARIABLE = "MCP_SHELL_COMMANDS_ENABLED"
Language = Literal["applescript", "jxa", "shell"]
DEFAULT_TIMEOUT = 30.0
LONGEST_TIMEOUT = 120.0
MAX_SCRIPT = 100_000
MAX_INPUT = 60_000
"""Bytes: what a pipe holds before the script reads it."""
SHELLS = ("bash", "sh", "dash", "zsh")
_OSA = {"applescript": "AppleScript", "jxa": "JavaScript"}


def scripts_folder(given: str | None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder in which scripts run; None if they are not allowed. Raises `UsageError`."""
    if given is None and environ.get(VARIABLE, "").strip().casefold() not in ("1", "true", "yes"):
        return None
    folder = Path(given or ".").expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"desktop: {str(folder)!r} is not a folder.", hint="Give --allow-scripts a folder.")
    return folder


@dataclass(frozen=True)
class ScriptResult:
    success: bool
    stdout: str
    stderr: str
    exit_code: int | None
    execution_duration: float
    error: str = ""
    """Why it did not end by itself."""


@dataclass(frozen=True)
class ScriptCheck:
    valid: bool
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class ScriptsNotAllowed(ToolFailure):
    kind = "scripts_not_allowed"
    reason = "PERMISSION_DENIED"


class Scripts:
    """Scripts of one server; `folder` is None if they are not allowed to run."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._made: Workplace | None = None

    async def run_shell(
        self,
        command: str,
        *,
        args: Sequence[str] = (),
        working_directory: str = "",
        environment: Mapping[str, str] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        stdin: str = "",
        shell: str = "",
    ) -> ScriptResult:
        """Raises `ToolFailure` if scripts are off, or the command is destructive or cannot be started."""
        self._check_allowed()
        text = shell_text(command, args, environment or {})
        verdict = judge(text)
        if verdict.kind == "destructive":
            raise ToolFailure(verdict.reason, "Do it another way, or leave it to the user.")
        argv = [*_shell(shell), "-c", text]
        return await self._run(argv, stdin, timeout, working_directory or None)

    async def run_osa(
        self, language: Language, script: str, timeout: float = DEFAULT_TIMEOUT
    ) -> ScriptResult:
        """AppleScript or JXA; raises `ToolFailure` on other systems than macOS."""
        self._check_allowed()
        _check_script(script)
        program = _program("osascript", language)
        return await self._run([program, "-l", _OSA[language], "-"], script, timeout)

    async def check(self, language: Language, script: str) -> ScriptCheck:
        """Look for mistakes without running it."""
        _check_script(script)
        if language == "shell":
            return await self._check_shell(script)
        program = _program("osacompile", language)
        with tempfile.TemporaryDirectory(prefix="toolcrib-script-") as folder:
            source = Path(folder) / "script.txt"
            source.write_text(script, encoding="utf-8")
            target = str(Path(folder) / "script.scpt")
            argv = [program, "-l", _OSA[language], "-o", target, str(source)]
            return _as_check(await self._run_here(argv))

    def close(self) -> None:
        """Remove the folders for temporary files."""
        if self._made is not None:
            self._made.sandbox.scratch.close()

    async def _check_shell(self, script: str) -> ScriptCheck:
        found = _as_check(await self._run_here([*_shell(""), "-n", "-s"], script))
        verdict = judge(script)
        warnings = [f"It would be refused: {verdict.reason}"] if verdict.kind == "destructive" else []
        return ScriptCheck(found.valid, found.errors, warnings)

    async def _run(
        self, argv: Sequence[str], stdin: str, timeout: float, working_directory: str | None = None
    ) -> ScriptResult:
        from toolcrib.bundled.terminal.workplace import finished

        seconds = min(timeout if timeout > 0 else DEFAULT_TIMEOUT, LONGEST_TIMEOUT)
        if len(stdin.encode("utf-8", "replace")) > MAX_INPUT:
            raise ToolFailure(f"The input has more than {MAX_INPUT} bytes.", "Write it to a file first.")
        workplace = self._workplace()
        began = time.monotonic()
        running = workplace.start(argv, workplace.place(working_directory), feed=True, errors=True)
        try:
            running.type(stdin)
            running.end_input()
        except ToolFailure:
            pass  # it has ended without reading its input
        ended = await finished(running, seconds)
        return _result(running, time.monotonic() - began, "" if ended else f"stopped after {seconds:g} s")

    async def _run_here(self, argv: Sequence[str], stdin: str = "") -> ScriptResult:
        """For programs that only read: no folder of the user is needed."""
        with tempfile.TemporaryDirectory(prefix="toolcrib-script-") as folder:
            return await Scripts(Path(folder))._run(argv, stdin, DEFAULT_TIMEOUT)

    def _workplace(self) -> Workplace:
        from toolcrib.bundled.terminal.workplace import Workplace

        folder = self._folder
        if folder is None:
            raise _not_allowed()
        if self._made is None:
            self._made = Workplace(folder=lambda: folder)
        return self._made

    def _check_allowed(self) -> None:
        if self._folder is None:
            raise _not_allowed()


def shell_text(command: str, args: Sequence[str], environment: Mapping[str, str]) -> str:
    """One command with its arguments quoted; variables are set in it, so that the policy sees them too."""
    for name in environment:
        if not name.replace("_", "a").isalnum() or not name.isascii() or name[:1].isdigit():
            raise ToolFailure(f"{name[:80]!r} cannot be the name of an environment variable.")
    exports = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    whole = " ".join([command, shlex.join(args)]) if args else command
    text = "\n".join([*exports, whole])
    _check_script(text)
    return text


def _shell(wanted: str) -> list[str]:
    name = (wanted or "bash").rpartition("/")[2]
    if name not in SHELLS:
        raise ToolFailure(f"{wanted[:80]!r} is not a known shell.", f"Use one of {', '.join(SHELLS)}.")
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        raise ToolFailure(f"The shell {name} is not installed.", "Use bash.")
    return [found, "--noprofile", "--norc"] if name == "bash" else [found]


def _program(name: str, language: Language) -> str:
    found = shutil.which(name)
    if found is None:
        title = "AppleScript" if language == "applescript" else "JavaScript for Automation"
        raise NotSupported(
            f"{title} needs macOS: the program {name} is not installed here.",
            "Use execute_shell_command, or the tools for elements and input.",
        )
    return found


def _check_script(script: str) -> None:
    if not script.strip():
        raise ToolFailure("The script is empty.")
    if len(script) > MAX_SCRIPT or "\0" in script:
        raise ToolFailure(f"A script has at most {MAX_SCRIPT} characters and no null characters.")


def _result(running: RunningCommand, duration: float, problem: str) -> ScriptResult:
    errors = running.errors.text() if running.errors is not None else ""
    why = problem or running.why
    return ScriptResult(
        success=running.code == 0 and not why,
        stdout=running.output.text(),
        stderr=errors,
        exit_code=running.code,
        execution_duration=round(duration, 3),
        error=why,
    )


def _as_check(result: ScriptResult) -> ScriptCheck:
    if result.success:
        return ScriptCheck(valid=True)
    text = result.error or result.stderr or f"exit code {result.exit_code}"
    return ScriptCheck(valid=False, errors=text.strip().splitlines()[:20])


def _not_allowed() -> ToolFailure:
    return ScriptsNotAllowed(
        "Scripts are not allowed on this server.",
        "The user can allow them with the argument --allow-scripts, or MCP_SHELL_COMMANDS_ENABLED=true.",
    )
