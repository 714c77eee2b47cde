"""Scripts: shell commands, and AppleScript and JavaScript on macOS; off unless the user allowed them."""

from __future__ import annotations

import sys
from typing import Any

import grpc

from toolcrib.bundled.desktop.grpc.failures import RpcFailure, invalid, unimplemented
from toolcrib.bundled.desktop.grpc.records import to_message
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.scripting.scripts import DEFAULT_TIMEOUT, Language, ScriptResult, Scripts

DICTIONARIES = "scriptingDictionaries"


class ScriptMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._allowed = desktop.session.settings.scripts is not None
        self._scripts = Scripts(desktop.session.settings.scripts)
        desktop.at_close.append(self._scripts.close)

    async def execute_shell_command(self, request: Any) -> Any:
        self._check_allowed()
        result = await self._scripts.run_shell(
            request.command,
            args=list(request.args),
            working_directory=request.working_directory,
            environment=dict(request.environment),
            timeout=_seconds(request),
            stdin=request.stdin,
            shell=request.shell,
        )
        return to_message(
            v1.ExecuteShellCommandResponse,
            {**vars(result), "execution_duration": result.duration},
        )

    async def execute_apple_script(self, request: Any) -> Any:
        return await self._osa("applescript", request, v1.ExecuteAppleScriptResponse)

    async def execute_java_script(self, request: Any) -> Any:
        return await self._osa("jxa", request, v1.ExecuteJavaScriptResponse)

    async def validate_script(self, request: Any) -> Any:
        languages: dict[int, Language] = {
            v1.ScriptType.SCRIPT_TYPE_APPLESCRIPT: "applescript",
            v1.ScriptType.SCRIPT_TYPE_JXA: "jxa",
            v1.ScriptType.SCRIPT_TYPE_SHELL: "shell",
        }
        if request.type not in languages:
            raise invalid("INVALID_FORMAT", "The type is not known.", "type")
        language = languages[request.type]
        _check_system("ValidateScript", language)
        return to_message(v1.ValidateScriptResponse, await self._scripts.check(language, request.script))

    async def get_scripting_dictionaries(self, request: Any) -> Any:
        """None: only applications of macOS have them, and their contents are not read there."""
        if request.name != DICTIONARIES:
            raise invalid("INVALID_RESOURCE_NAME", f"The name is {DICTIONARIES}.", "name")
        return v1.ScriptingDictionaries()

    async def _osa(self, language: Language, request: Any, response: Any) -> Any:
        _check_system("AppleScript" if language == "applescript" else "JavaScript for Automation", language)
        if request.compile_only:
            found = await self._scripts.check(language, request.script)
            return response(success=found.valid, error="\n".join(found.errors))
        self._check_allowed()
        return _output(response, await self._scripts.run_osa(language, request.script, _seconds(request)))

    def _check_allowed(self) -> None:
        if not self._allowed:
            raise RpcFailure(
                grpc.StatusCode.PERMISSION_DENIED,
                "PERMISSION_DENIED",
                "Scripts are not allowed on this server.",
                {"hint": "Start the server with --allow-scripts FOLDER."},
            )


def offer_methods(desktop: ServedDesktop) -> ScriptMethods:
    return ScriptMethods(desktop)


def _check_system(method: str, language: Language) -> None:
    if language != "shell" and sys.platform != "darwin":
        raise unimplemented(method, "it exists on macOS only.")


def _seconds(request: Any) -> float:
    given = request.timeout.ToNanoseconds() / 1e9
    return given if given > 0 else DEFAULT_TIMEOUT


def _output(response: Any, result: ScriptResult) -> Any:
    error = result.error or (result.stderr if not result.success else "")
    return to_message(
        response,
        {
            "success": result.success,
            "output": result.stdout,
            "error": error,
            "execution_duration": result.duration,
        },
    )
