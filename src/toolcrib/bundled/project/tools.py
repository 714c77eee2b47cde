"""The five tools: read_file, write_file, grep, terminal, python; each works in the caller's folder. Has their
descriptions, the longest snippet of code, the time and most matches of a search, and the folders that it
skips."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from toolcrib.bundled.filesystem.contents import MAX_READ
from toolcrib.bundled.filesystem.tools import FileTools
from toolcrib.bundled.terminal.environment import STANDARD_PATH
from toolcrib.bundled.terminal.tools import TerminalTools, report
from toolcrib.bundled.terminal.workplace import CEILING, Workplace, finished
from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.own_places import own_holding, own_part
from toolcrib.serverkit.sandbox.layout import look_into
from toolcrib.serverkit.server import ToolServer

MOST_CODE = 100_000
"""Characters of a snippet; longer code belongs in a file."""
SEARCH_SECONDS = 30.0
MOST_MATCHES = 200
_SKIPPED = (".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache")

ProjectPath = Annotated[str, "A file of the project, relative to its folder"]
Seconds = Annotated[float | None, f"Seconds it may take, at most {CEILING:g}"]


class ProjectTools:
    """What models may do in a project's folder."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._terminal = TerminalTools(workplace)

    def offer(self, server: ToolServer) -> None:
        """Add all tools to a server."""
        server.tool(title="Read a file", read_only=True, open_world=False)(self.read_file)
        server.tool(title="Write a file", destructive=True, idempotent=True, open_world=False)(
            self.write_file
        )
        server.tool(title="Search files", read_only=True, open_world=False)(self.grep)
        server.tool(title="Run a command", destructive=True, open_world=True)(self.terminal)
        server.tool(title="Run Python", destructive=True, open_world=True)(self.python)

    def read_file(
        self,
        path: ProjectPath,
        offset: Annotated[int, "The byte to start at, to continue in a long file"] = 0,
        limit: Annotated[int, f"How many bytes to read at most, up to {MAX_READ}"] = MAX_READ,
    ) -> list[str]:
        """Read a text file of the project (UTF-8); of a long one a part, with a note on how to continue."""
        with self._files() as files:
            return files.read_file(path, offset, limit)

    def write_file(
        self, path: ProjectPath, content: Annotated[str, "All of the file's new content, written unchanged"]
    ) -> str:
        """Write a file of the project as a whole, replacing one that exists. Its folder must exist."""
        with self._files() as files:
            return files.write_file(path, content)

    async def grep(
        self,
        pattern: Annotated[str, "An extended regular expression"],
        path: Annotated[str, "A file or folder of the project"] = ".",
        include: Annotated[str | None, "Only files whose names match, such as *.py"] = None,
        ignore_case: bool = False,
    ) -> str:
        """Search the project's text files line by line, except in folders such as .git and node_modules."""
        program = shutil.which("grep", path=":".join(STANDARD_PATH))
        if program is None:
            raise ToolFailure("There is no grep on this machine.")
        words = [
            program,
            "-rnIE",
            f"--max-count={MOST_MATCHES}",
            *(f"--exclude-dir={name}" for name in _SKIPPED),
        ]
        words += [f"--include={include}"] if include else []
        words += ["-i"] if ignore_case else []
        words += [f"--exclude-dir={home.name}" for home in look_into(self._folder).homes]
        running = self._workplace.start([*words, "-e", pattern, "--", self._inside(path)], str(self._folder))
        if not await finished(running, SEARCH_SECONDS):
            raise ToolFailure(
                f"The search took longer than {SEARCH_SECONDS:g} seconds.", "Search less at once."
            )
        if running.code not in (0, 1):
            raise ToolFailure(f"The search failed: {running.text().strip() or running.why}")
        # Not `splitlines`: grep ends a line with a newline alone, and a match may hold other separators.
        lines = running.text().removesuffix("\n").split("\n")
        if len(lines) > MOST_MATCHES:
            lines = [*lines[:MOST_MATCHES], f"[The first {MOST_MATCHES} of {len(lines)} or more lines.]"]
        return "\n".join(lines) or "No line matches."

    async def terminal(self, command: Annotated[str, "For bash"], timeout: Seconds = None) -> dict[str, Any]:
        """Run a shell command in the project's folder and return what it printed and its exit code."""
        return await self._terminal.run_command(command, timeout=timeout)

    async def python(
        self, code: Annotated[str, "Print what you want to see"], timeout: Seconds = None
    ) -> dict[str, Any]:
        """Run a snippet of Python in an interpreter of its own, in the project's folder and the sandbox."""
        if len(code) > MOST_CODE:
            raise ToolFailure(f"The snippet has more than {MOST_CODE} characters.", "Write it to a file.")
        if "\0" in code:
            raise ToolFailure("Code cannot contain a null character.")
        running = self._workplace.start([sys.executable, "-I", "-c", code], str(self._folder))
        seconds = min(timeout or CEILING, CEILING)
        ended = await finished(running, seconds)
        return report(running, "" if ended else f"ended after {seconds:g} seconds")

    @property
    def _folder(self) -> Path:
        return self._workplace.folder().resolve()

    @contextmanager
    def _files(self) -> Iterator[FileTools]:
        """The tools for files, confined to the caller's folder while the block lasts."""
        roots = Roots([self._folder])
        try:
            yield FileTools(roots)
        finally:
            roots.close()

    def _inside(self, path: str) -> str:
        folder = self._folder
        wanted = (folder / path).resolve()
        if not wanted.is_relative_to(folder):
            raise ToolFailure(f"{path!r} is outside of the project.", f"The project's folder is {folder}.")
        if not wanted.exists():
            raise ToolFailure(f"There is no {path!r} in the project.")
        if wanted.is_dir() and wanted != folder:
            self._workplace.searchable(str(wanted))
        elif own_part(folder, wanted.relative_to(folder).parts) or own_holding(wanted, folder):
            raise ToolFailure(f"{path!r} belongs to Toolcrib itself.")
        return str(wanted.relative_to(folder))
