"""The tools for scripts: run and check them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, TypeVar

from toolcrib.bundled.desktop.scripting.scripts import (
    DEFAULT_TIMEOUT,
    Language,
    ScriptCheck,
    ScriptResult,
    Scripts,
)
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import Offer, answer, as_failure
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.server import ToolServer

T = TypeVar("T", bound=Mapping[str, Any])
Seconds = float | str
"""A number, or a text such as `2.5s`."""


class ScriptOutput(TypedDict):
    success: bool
    output: str
    error: str
    execution_duration: float


class CommandOutput(TypedDict):
    success: bool
    stdout: str
    stderr: str
    exit_code: int | None
    execution_duration: float
    error: str


class ScriptValidity(TypedDict):
    valid: bool
    errors: list[str]
    warnings: list[str]


class ScriptingTools:
    def __init__(self, session: DesktopSession, scripts: Scripts) -> None:
        self._session = session
        self._scripts = scripts

    async def execute_apple_script(
        self, script: str, timeout: Seconds = DEFAULT_TIMEOUT, compile_only: bool = False, session: str = ""
    ) -> ScriptOutput:
        return await self._osa("applescript", script, timeout, compile_only, session)

    async def execute_javascript(
        self, script: str, timeout: Seconds = DEFAULT_TIMEOUT, compile_only: bool = False, session: str = ""
    ) -> ScriptOutput:
        return await self._osa("jxa", script, timeout, compile_only, session)

    async def execute_shell_command(
        self,
        command: str,
        args: list[str] | None = None,
        working_directory: str = "",
        environment: dict[str, str] | None = None,
        timeout: Seconds = DEFAULT_TIMEOUT,
        stdin: str = "",
        shell: str = "",
        session: str = "",
    ) -> CommandOutput:
        if session:
            self._session.automation.get(session)
        result = await self._scripts.run_shell(
            command,
            args=args or (),
            working_directory=working_directory,
            environment=environment,
            timeout=read_seconds(timeout),
            stdin=stdin,
            shell=shell,
        )
        self._record(session, "execute_shell_command", result)
        return _command_output(result)

    async def validate_script(self, type: str, script: str) -> ScriptValidity:  # noqa: A002
        found = await self._scripts.check(_language(type), script)
        data: ScriptValidity = {
            "valid": found.valid,
            "errors": list(found.errors),
            "warnings": list(found.warnings),
        }
        said = "The script is valid." if found.valid else "The script is not valid:"
        return answer(data, "\n".join([said, *found.errors, *found.warnings]))

    async def _osa(
        self, language: Language, script: str, timeout: Seconds, compile_only: bool, session: str
    ) -> ScriptOutput:
        if compile_only:
            return _compiled(await self._scripts.check(language, script))
        if session:
            self._session.automation.get(session)
        result = await self._scripts.run_osa(language, script, read_seconds(timeout))
        self._record(session, f"execute_{language}", result)
        error = result.error or (result.stderr if not result.success else "")
        data: ScriptOutput = {
            "success": result.success,
            "output": result.stdout,
            "error": error,
            "execution_duration": round(result.duration, 3),
        }
        return _shown(data, result.success, f"{result.stdout}{error}")

    def _record(self, session: str, operation: str, result: ScriptResult) -> None:
        if session:
            problem = "" if result.success else result.error or f"exit code {result.exit_code}"
            self._session.automation.record(session, operation, "", problem)


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    scripts = Scripts(session.settings.scripts)
    server.at_close(scripts.close)
    tools, offer = ScriptingTools(session, scripts), Offer(server, wanted)
    runs = {"destructive": True, "open_world": True, "outside": True, "private": True, "reach": "anybody"}
    offer(tools.execute_apple_script, "Run an AppleScript", **runs)
    offer(tools.execute_javascript, "Run JavaScript for Automation", **runs)
    offer(tools.execute_shell_command, "Run a shell command", **runs)
    offer(tools.validate_script, "Check a script", read_only=True, open_world=False, reach="here")


def read_seconds(given: Seconds) -> float:
    """A number of seconds, or a text such as `2.5s`."""
    try:
        seconds = float(given.strip().removesuffix("s")) if isinstance(given, str) else given
    except ValueError:
        raise ToolFailure(f"{given!r} is not a number of seconds.", "Such as 10 or 2.5s.") from None
    if not 0 < seconds < float("inf"):
        raise ToolFailure("A timeout must be more than 0 seconds.")
    return seconds


def _language(given: str) -> Language:
    word = given.strip().casefold().removeprefix("script_type_")
    for language in ("applescript", "jxa", "shell"):
        if word == language:
            return language
    raise ToolFailure(f"{given!r} is not a type of script.", "Use applescript, jxa or shell.")


def _compiled(found: ScriptCheck) -> ScriptOutput:
    error = "\n".join(found.errors)
    data: ScriptOutput = {"success": found.valid, "output": "", "error": error, "execution_duration": 0.0}
    return _shown(data, found.valid, error or "It compiles.")


def _command_output(result: ScriptResult) -> CommandOutput:
    data: CommandOutput = {
        "success": result.success,
        "stdout": result.stdout,
        "stderr": result.stderr,
        "exit_code": result.exit_code,
        "execution_duration": round(result.duration, 3),
        "error": result.error,
    }
    ended = result.error or f"exit code {result.exit_code}"
    parts = [result.stdout.rstrip(), f"stderr:\n{result.stderr.rstrip()}" if result.stderr.strip() else ""]
    # A command that ends with an error code still ran as it should: the model reads the code.
    return _shown(data, not result.error, "\n".join(filter(None, [*parts, f"[{ended}]"])))


def _shown(data: T, success: bool, text: str) -> T:
    return answer(data, text) if success else as_failure(answer(data, text))
