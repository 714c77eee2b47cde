"""The person in the pictures: a home with a project, programs, and the configs of other hosts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
_CLOCK = """from datetime import datetime


def parse_stamp(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%:z")
"""
MENDED = _CLOCK.replace("%:z", "%z")
_LOG = """2026-11-14 02:00:01 export of 2026-11-13 begins
2026-11-14 02:00:01 row 1: ValueError: time data '2026-11-13T23:59:58+0100' does not match
2026-11-14 02:00:01 export failed, 0 rows
"""
_CLAUDE = {"sqlite": ["uvx", "mcp-server-sqlite", "--db-path", "~/exports.db"]}
_OTHERS = {
    "time": ["uvx", "mcp-server-time"],
    "memory": ["npx", "-y", "@modelcontextprotocol/server-memory"],
}


class Person:
    """Everything under one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "code" / "exporter"
        self.programs = folder / ".local" / "bin"
        self.modules = folder / ".local" / "modules"
        self.changes = folder / ".local" / "fetch.json"
        """How the definitions of `fetch` differ from those of the catalogue."""
        self.picture = folder / ".local" / "exports.png"

    def move_in(self) -> None:
        """Make it all."""
        folders = (self.project / "src" / "export", self.project / "logs", self.folder / "notes")
        for place in (*folders, self.programs, self.modules):
            place.mkdir(parents=True)
        (self.project / "src" / "export" / "clock.py").write_text(_CLOCK)
        (self.project / "logs" / "export-2026-11-14.log").write_text(_LOG)
        self.changes.write_text("{}")
        self._other_host(self.folder / ".config" / "Claude" / "claude_desktop_config.json", _CLAUDE)
        self._other_host(self.folder / ".cursor" / "mcp.json", _OTHERS)

    def _other_host(self, file: Path, commands: dict[str, list[str]]) -> None:
        file.parent.mkdir(parents=True)
        entries = {name: {"command": words[0], "args": words[1:]} for name, words in commands.items()}
        file.write_text(json.dumps({"mcpServers": entries}, indent=2))

    def program(self, name: str, tools: str) -> str:
        """A program of this name that serves a set of the catalogue."""
        file = self.programs / name
        file.write_text(f"#!{sys.executable}\n{self._code(tools)}")
        file.chmod(0o755)
        return str(file)

    def module(self, name: str, tools: str, *arguments: str) -> str:
        """The same as a module for Python."""
        (self.modules / f"{name}.py").write_text(self._code(tools, *arguments))
        return name

    def _code(self, tools: str, *arguments: str) -> str:
        words = ["-", tools, *arguments]
        return "\n".join(
            [
                "import os, sys",
                f"sys.path.insert(0, {str(ROOT)!r})",
                f"os.environ['PICTURE'] = {str(self.picture)!r}",
                f"sys.argv = {words!r}",
                "from tests.web.screenshots.toolbox import main",
                "main()",
                "",
            ]
        )

    def entries(self, github: str, postgres: str) -> dict[str, dict[str, object]]:
        """The servers of the config file, except the imported one."""
        return {
            "github": {"type": "http", "url": github},
            "calendar": {
                **self._python("caldav-mcp", "1.4.0", "calendar"),
                "env": {"CALDAV_PASSWORD": "${secret:CALDAV_PASSWORD}"},
            },
            "postgres": {"type": "http", "url": postgres},
            "notes": {"command": "notes-mcp", "args": ["--folder", str(self.folder / "notes")]},
            "git": self._python("mcp-server-git", "2026.9.1", "git"),
            "tests": {**self._python("pytest-mcp", "0.4.0", "tests"), "timeouts": {"call": 600}},
            "slack": {
                "type": "npm",
                "package": "@slack/mcp",
                "version": "2.1.0",
                "command": self.program("slack-mcp", "slack"),
            },
        }

    def _python(self, package: str, version: str, tools: str, *arguments: str) -> dict[str, object]:
        return {
            "type": "python",
            "package": package,
            "version": version,
            "module": self.module(package.replace("-", "_"), tools, *arguments),
            "command": sys.executable,
            "cwd": str(self.project),
            "env": {"PYTHONPATH": str(self.modules)},
        }
