"""The tools of the terminal: run a command, find files, type into it, read output, end it. Decides their
descriptions, how a result looks ("exit code"), the wait for first output, and whose versions get_environment
lists."""

from __future__ import annotations

import asyncio
import platform
import shutil
from typing import Annotated, Any

from toolcrib.bundled.terminal.environment import SHELL, environment
from toolcrib.bundled.terminal.processes import RunningCommand
from toolcrib.bundled.terminal.sessions import CommandSessions
from toolcrib.bundled.terminal.workplace import CEILING, Workplace, find, finished
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.shell import judge

SETTLE = 0.5
"""Seconds that a background command gets to print something before the first report."""
_PROGRAMS = (
    "bash",
    "git",
    "python3",
    "node",
    "npm",
    "uv",
    "gcc",
    "make",
    "go",
    "cargo",
    "docker",
    "rg",
    "jq",
)

SessionId = Annotated[str, "As run_command returned it"]


class TerminalTools:
    """What models may do in a terminal; `gated` says that the host asks the user."""

    def __init__(
        self, workplace: Workplace, sessions: CommandSessions | None = None, *, gated: bool = False
    ) -> None:
        self.sessions = sessions or CommandSessions()
        self._workplace = workplace
        self._gated = gated

    def offer(self, server: ToolServer) -> None:
        """Add all tools to a server."""
        reading = {"read_only": True, "open_world": False}
        server.tool(title="Look around", **reading)(self.get_environment)  # type: ignore[arg-type]
        server.tool(title="Run a command", destructive=True, open_world=True)(self.run_command)
        server.tool(title="Find files", **reading)(self.find_files)  # type: ignore[arg-type]
        server.tool(title="Type into a session", destructive=True, open_world=True)(self.send_input)
        server.tool(title="Read a session", **reading)(self.read_output)  # type: ignore[arg-type]
        server.tool(title="End a session", destructive=True, open_world=False)(self.kill_process)
        server.tool(title="Ask for a series of steps", destructive=False, open_world=False)(
            self.request_session_mode
        )
        server.tool(title="End the series of steps", destructive=False, open_world=False)(
            self.end_session_mode
        )

    async def get_environment(self) -> str:
        """Return the system, the shell, the working folder, the sandbox, and the versions of common tools."""
        folder = str(self._workplace.folder())
        versions = await asyncio.gather(*(_version(name, folder) for name in _PROGRAMS))
        lines = [
            f"system: {platform.system()} {platform.release()} ({platform.machine()})",
            f"shell: {SHELL}",
            f"working folder: {folder}",
            f"sandbox: {self._workplace.sandbox.describe()}",
            f"PATH: {environment(folder)['PATH']}",
            *filter(None, versions),
        ]
        return "\n".join(lines)

    async def run_command(
        self,
        command: Annotated[str, "For bash"],
        cwd: Annotated[str | None, "The folder to run in; relative to the working folder"] = None,
        pty: Annotated[bool, "Give it a terminal, as full-screen programs need"] = False,
        background: Annotated[bool, "Return at once; the result contains a session_id"] = False,
        timeout: Annotated[float | None, f"Seconds in the foreground, at most {CEILING:g}"] = None,
    ) -> dict[str, Any]:
        """Run a shell command and return what it printed and its exit code.

        In the foreground it gets no input, and ends after its timeout together with all that it started; use
        `background` for servers and whatever takes longer or asks something.
        """
        verdict = judge(command)
        if verdict.kind == "destructive":
            raise ToolFailure(verdict.reason, "Do it another way, or leave it to the user.")
        if background:
            return await self._in_background(command, cwd, pty)
        if timeout is not None and timeout <= 0:
            raise ToolFailure("timeout must be more than 0.")
        running = self._workplace.shell(command, cwd, guarded=True, pty=pty)
        seconds = min(timeout or CEILING, CEILING)
        ended = await finished(running, seconds)
        note = "" if ended else f"ended after {seconds:g} seconds; use background for what takes longer"
        return report(running, note)

    async def find_files(
        self,
        pattern: Annotated[str, "A glob such as *.py or src/**/*.ts"],
        directory: Annotated[str | None, "Where to look, in the working folder; all of it by default"] = None,
    ) -> str:
        """Find files by name. Folders such as .git and node_modules are not looked into."""
        folder = self._workplace.searchable(directory)
        return await asyncio.to_thread(find, pattern, folder, self._workplace.is_closed)

    async def send_input(
        self,
        session_id: SessionId,
        input_text: Annotated[str, "End with \\n to press Enter"],
    ) -> dict[str, Any]:
        """Type into a background session, and return what it shows a moment later."""
        background = self.sessions.find(session_id)
        background.running.type(input_text)
        await _moment(background.running)
        return report(background.running, session_id=background.id)

    async def read_output(self, session_id: SessionId) -> dict[str, Any]:
        """Return a background session's recent output, or its screen when it has a terminal."""
        background = self.sessions.find(session_id)
        return report(background.running, session_id=background.id)

    async def kill_process(self, session_id: SessionId) -> dict[str, Any]:
        """End a background session and everything that it started."""
        background = self.sessions.find(session_id)
        await background.running.stop()
        return report(background.running, session_id=background.id)

    async def request_session_mode(self, reason: Annotated[str, "What the steps are for"]) -> str:
        """Ask the user to allow a series of steps without approval for each; it ends with your turn."""
        if not self._gated:
            return "No one can grant that here: the client of this server decides when to ask."
        return "Granted: until your turn ends or end_session_mode is called, steps run without approval."

    async def end_session_mode(self) -> str:
        """End the series of steps now; each further step needs approval again."""
        return "Ended: steps need approval again."

    async def _in_background(self, command: str, cwd: str | None, pty: bool) -> dict[str, Any]:
        self.sessions.check_room()
        running = self._workplace.shell(command, cwd, guarded=True, pty=pty, feed=True)
        background = self.sessions.add(command, running)
        await _moment(running)
        return report(running, session_id=background.id)


def report(running: RunningCommand, note: str = "", session_id: str | None = None) -> dict[str, Any]:
    """A command's state as a tool's result: text for the model, the same in parts for programs."""
    output, state = running.text(), _state(running, note)
    parts: dict[str, Any] = {
        "output": output,
        "exit_code": running.code,
        "running": running.alive,
        "note": note or running.why,
    }
    if session_id is not None:
        parts["session_id"] = session_id
        state = f"session {session_id}, {state}"
    text = f"{output.rstrip()}\n[{state}]" if output.strip() else f"[{state}]"
    failed = bool(note) or (not running.alive and running.code is None)
    return {"content": [{"type": "text", "text": text}], "structuredContent": parts, "isError": failed}


def _state(running: RunningCommand, note: str) -> str:
    if running.alive:
        return "running"
    if note:
        return note
    state = f"exit code {running.code}" if running.code is not None else "not started"
    if running.why:
        state += f": {running.why}"
    elif running.left:
        state += f"; {running.left} processes that it left behind were ended"
    return state


async def _moment(running: RunningCommand) -> None:
    """A moment for it to show something; less when it ends."""
    try:
        async with asyncio.timeout(SETTLE):
            await running.done.wait()
    except TimeoutError:
        return


async def _version(name: str, folder: str) -> str:
    surroundings = environment(folder)
    found = shutil.which(name, path=surroundings["PATH"])
    if found is None:
        return ""
    try:
        async with asyncio.timeout(5):
            process = await asyncio.create_subprocess_exec(
                found,
                "version" if name == "go" else "--version",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=surroundings,
                cwd="/",
            )
            try:
                output, _ = await process.communicate()
            finally:
                if process.returncode is None:
                    process.kill()
    except (OSError, TimeoutError):
        return f"{name}: {found}"
    first = output.decode("utf-8", "replace").strip().partition("\n")[0]
    return f"{name}: {first or found}"
