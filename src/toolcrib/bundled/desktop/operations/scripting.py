"""Tools for scripts: run and check shell commands, and AppleScript and JavaScript where the system has them.
Limits and permission are in `scripts.py`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from toolcrib.bundled.desktop.failures import InvalidFormat, InvalidResourceName, NotSupported
from toolcrib.bundled.desktop.operations.table import ACTING, Desktop, OperationTraits, Reply, operation
from toolcrib.bundled.desktop.scripts import (
    DEFAULT_TIMEOUT,
    Language,
    ScriptCheck,
    ScriptResult,
    Scripts,
)
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.context import ToolFailure

Seconds = float | str
"""A number, or a text such as `2.5s`."""
RUNNING = replace(ACTING, destructive=True, limit=360.0)
CHECKING = OperationTraits(read_only=True, open_world=False, acts=False)
DICTIONARIES = "scriptingDictionaries"


@dataclass(frozen=True)
class ScriptOutput:
    success: bool
    output: str
    error: str
    execution_duration: float


@dataclass(frozen=True)
class ScriptingDictionaries:
    """None: only applications of macOS have them, and their contents are not read there."""


def make_scripts(session: DesktopSession) -> Scripts:
    return Scripts(session.settings.scripts)


@operation("Run an AppleScript", RUNNING)
async def execute_apple_script(
    desktop: Desktop,
    script: str,
    timeout: Seconds = DEFAULT_TIMEOUT,
    compile_only: bool = False,
    session: str = "",
) -> Reply[ScriptOutput]:
    return await _run_osa(desktop, "applescript", script, timeout, compile_only, session)


@operation("Run JavaScript for Automation", RUNNING, rpc="ExecuteJavaScript")
async def execute_javascript(
    desktop: Desktop,
    script: str,
    timeout: Seconds = DEFAULT_TIMEOUT,
    compile_only: bool = False,
    session: str = "",
) -> Reply[ScriptOutput]:
    return await _run_osa(desktop, "jxa", script, timeout, compile_only, session)


@operation("Run a shell command", RUNNING)
async def execute_shell_command(
    desktop: Desktop,
    command: str,
    args: list[str] | None = None,
    working_directory: str = "",
    environment: dict[str, str] | None = None,
    timeout: Seconds = DEFAULT_TIMEOUT,
    stdin: str = "",
    shell: str = "",
    session: str = "",
) -> Reply[ScriptResult]:
    if session:
        desktop.session.automation.get(session)
    result = await desktop.session.part(make_scripts).run_shell(
        command,
        args=args or (),
        working_directory=working_directory,
        environment=environment,
        timeout=read_seconds(timeout),
        stdin=stdin,
        shell=shell,
    )
    _record(desktop, session, "execute_shell_command", result)
    ended = result.error or f"exit code {result.exit_code}"
    parts = [result.stdout.rstrip(), f"stderr:\n{result.stderr.rstrip()}" if result.stderr.strip() else ""]
    # A command that ends with an error code still ran as it should: the model reads the code.
    return Reply(result, "\n".join(filter(None, [*parts, f"[{ended}]"])), failed=bool(result.error))


@operation("Check a script", CHECKING)
async def validate_script(desktop: Desktop, type: str, script: str) -> Reply[ScriptCheck]:  # noqa: A002
    language = _language(type)
    _check_system(desktop, language)
    found = await desktop.session.part(make_scripts).check(language, script)
    said = "The script is valid." if found.valid else "The script is not valid:"
    return Reply(found, "\n".join([said, *found.errors, *found.warnings]))


@operation("", CHECKING)
async def get_scripting_dictionaries(desktop: Desktop, name: str) -> ScriptingDictionaries:
    if name != DICTIONARIES:
        raise InvalidResourceName(f"The name is {DICTIONARIES}.")
    return ScriptingDictionaries()


async def _run_osa(
    desktop: Desktop, language: Language, script: str, timeout: Seconds, compile_only: bool, session: str
) -> Reply[ScriptOutput]:
    _check_system(desktop, language)
    scripts = desktop.session.part(make_scripts)
    if compile_only:
        return _compiled(await scripts.check(language, script))
    if session:
        desktop.session.automation.get(session)
    result = await scripts.run_osa(language, script, read_seconds(timeout))
    _record(desktop, session, f"execute_{language}", result)
    error = result.error or (result.stderr if not result.success else "")
    data = ScriptOutput(result.success, result.stdout, error, result.execution_duration)
    return Reply(data, f"{result.stdout}{error}", failed=not result.success)


def _check_system(desktop: Desktop, language: Language) -> None:
    """Answer first that a method does not exist here, before anything else is checked."""
    if not desktop.for_model and language != "shell" and sys.platform != "darwin":
        raise NotSupported(f"{language} exists on macOS only.")


def _record(desktop: Desktop, session: str, name: str, result: ScriptResult) -> None:
    if session:
        problem = "" if result.success else result.error or f"exit code {result.exit_code}"
        desktop.session.automation.record(session, name, "", problem)


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
    raise InvalidFormat(f"{given!r} is not a type of script.", "Use applescript, jxa or shell.")


def _compiled(found: ScriptCheck) -> Reply[ScriptOutput]:
    error = "\n".join(found.errors)
    data = ScriptOutput(found.valid, "", error, 0.0)
    return Reply(data, error or "It compiles.", failed=not found.valid)
