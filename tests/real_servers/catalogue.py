"""Servers that nobody here wrote, from npm and PyPI, of every protocol era; each with one harmless call.

No call needs a network: a server that would ask the internet runs with `offline.cjs`, which answers in its
place, or is pointed at an address on this machine where nobody listens. `{work}` stands for the test's own
scratch folder.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NOBODY = "127.0.0.1:9"
"""An address where nothing answers (the discard port)."""


@dataclass(frozen=True)
class Npm:
    """A program of a package that `npm/TREE/package.json` pins."""

    package: str
    entry: str = "dist/index.js"
    tree: str = "current"
    offline_answer: str | None = None
    """JSON that every outgoing HTTP request of the server gets, without going out."""


@dataclass(frozen=True)
class Python:
    """A console script of a package from PyPI, in an environment of its own; pins in `python/NAME.txt`."""

    requirements: tuple[str, ...]
    script: str


@dataclass(frozen=True)
class Call:
    """One harmless call and a part of the text that it answers with."""

    tool: str
    arguments: Mapping[str, Any]
    answer: str
    fails: bool = False
    """The answer is an error, which counts as an answer all the same."""


def _nothing(work: Path) -> None:
    """Most servers need no preparation."""


@dataclass(frozen=True, kw_only=True)
class RealServer:
    """A server, how it is started, and what is known of it."""

    name: str
    source: Npm | Python
    era: str
    """The newest protocol version it speaks."""
    tools: int
    """How many tools this version of it lists."""
    call: Call
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    works_in: tuple[str, ...] = ()
    """Folders that only its calls name, which a sandbox has to allow."""
    prepare: Callable[[Path], None] = _nothing
    """Puts what the call needs into the scratch folder."""


def _write_note(work: Path) -> None:
    (work / "note.txt").write_text("kept in the crib\n")


def _make_repository(work: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--initial-branch", "workbench", str(work)], check=True)


SERVERS: tuple[RealServer, ...] = (
    RealServer(
        name="everything",
        source=Npm("@modelcontextprotocol/server-everything"),
        era="2025-11-25",
        tools=16,
        call=Call("echo", {"message": "hello"}, "Echo: hello"),
    ),
    RealServer(
        name="filesystem",
        source=Npm("@modelcontextprotocol/server-filesystem"),
        args=("{work}",),
        era="2025-11-25",
        tools=14,
        call=Call("read_text_file", {"path": "{work}/note.txt"}, "kept in the crib"),
        prepare=_write_note,
    ),
    # Alone in its tree it gets a newer zod than it was made for, as for most people: thirteen of its tools
    # then have schemas without a type, and strict clients lose all fourteen.
    RealServer(
        name="filesystem-2025",
        source=Npm("@modelcontextprotocol/server-filesystem", tree="filesystem-2025"),
        args=("{work}",),
        era="2025-11-25",
        tools=14,
        call=Call("read_text_file", {"path": "{work}/note.txt"}, "kept in the crib"),
        prepare=_write_note,
    ),
    RealServer(
        name="memory",
        source=Npm("@modelcontextprotocol/server-memory"),
        env={"MEMORY_FILE_PATH": "{work}/memory.jsonl"},
        era="2025-11-25",
        tools=9,
        call=Call(
            "create_entities",
            {"entities": [{"name": "hammer", "entityType": "tool", "observations": ["heavy"]}]},
            "hammer",
        ),
    ),
    RealServer(
        name="sequential-thinking",
        source=Npm("@modelcontextprotocol/server-sequential-thinking"),
        era="2025-11-25",
        tools=1,
        call=Call(
            "sequentialthinking",
            {"thought": "Measure twice.", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
            "thoughtHistoryLength",
        ),
    ),
    RealServer(
        name="github",
        source=Npm("@modelcontextprotocol/server-github", offline_answer="[]"),
        era="2024-11-05",
        tools=26,
        call=Call("list_commits", {"owner": "nobody", "repo": "nothing"}, "[]"),
    ),
    RealServer(
        name="brave-search",
        source=Npm(
            "@modelcontextprotocol/server-brave-search",
            offline_answer='{"web": {"results": [{"title": "Tool crib", "description": "", "url": ""}]}}',
        ),
        env={"BRAVE_API_KEY": "none"},
        era="2024-11-05",
        tools=2,
        call=Call("brave_web_search", {"query": "tool crib"}, "Title: Tool crib"),
    ),
    RealServer(
        name="postgres",
        source=Npm("@modelcontextprotocol/server-postgres"),
        args=(f"postgresql://{NOBODY}/none",),
        era="2024-11-05",
        tools=1,
        call=Call("query", {"sql": "select 1"}, "ECONNREFUSED", fails=True),
    ),
    RealServer(
        name="playwright",
        source=Npm("@playwright/mcp", entry="cli.js"),
        args=("--headless", "--isolated", "--executable-path", "{work}/no-browser"),
        era="2025-11-25",
        tools=25,
        call=Call("browser_close", {}, "no-browser", fails=True),
    ),
    # Built on the second line of the TypeScript SDK.
    RealServer(
        name="context7",
        source=Npm("@upstash/context7-mcp", offline_answer='{"results": []}'),
        env={"CONTEXT7_API_URL": f"http://{NOBODY}"},
        era="2026-07-28",
        tools=2,
        call=Call("resolve-library-id", {"query": "tools", "libraryName": "toolcrib"}, "No libraries found"),
    ),
    RealServer(
        name="git",
        source=Python(("mcp-server-git==2026.10.19",), "mcp-server-git"),
        era="2026-07-28",
        tools=12,
        call=Call("git_status", {"repo_path": "{work}"}, "workbench"),
        works_in=("{work}",),
        prepare=_make_repository,
    ),
    RealServer(
        name="time",
        source=Python(("mcp-server-time==2026.10.19",), "mcp-server-time"),
        args=("--local-timezone", "UTC"),
        era="2026-07-28",
        tools=2,
        call=Call(
            "convert_time",
            {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
            "T21:00:00+09:00",
        ),
    ),
    RealServer(
        name="fetch",
        source=Python(("mcp-server-fetch==2026.10.24",), "mcp-server-fetch"),
        era="2026-07-28",
        tools=1,
        call=Call("fetch", {"url": f"http://{NOBODY}/"}, "Refused to fetch", fails=True),
    ),
    # The first line of the Python SDK, at four of its ages.
    # The oldest dies of a question it does not know; it must be started again and greeted the old way.
    RealServer(
        name="sqlite",
        source=Python(("mcp-server-sqlite==2025.4.25", "mcp==1.6.0", "pydantic<2.12"), "mcp-server-sqlite"),
        args=("--db-path", "{work}/crib.db"),
        era="2024-11-05",
        tools=6,
        call=Call("create_table", {"query": "create table tools (name text)"}, "successfully"),
    ),
    RealServer(
        name="calculator",
        source=Python(
            ("mcp-server-calculator==0.2.1", "mcp==1.9.4", "pydantic<2.12"), "mcp-server-calculator"
        ),
        era="2025-03-26",
        tools=1,
        call=Call("calculate", {"expression": "2 * (3 + 4)"}, "14"),
    ),
    RealServer(
        name="time-2025",
        source=Python(("mcp-server-time==2025.9.25", "mcp==1.20.0", "pydantic<2.12"), "mcp-server-time"),
        args=("--local-timezone", "UTC"),
        era="2025-06-18",
        tools=2,
        call=Call("get_current_time", {"timezone": "UTC"}, "+00:00"),
    ),
    RealServer(
        name="shell",
        source=Python(("mcp-shell-server==1.1.14",), "mcp-shell-server"),
        env={"ALLOW_COMMANDS": "echo"},
        era="2025-11-25",
        tools=1,
        call=Call("shell_execute", {"command": ["echo", "sharp"], "directory": "{work}"}, "sharp"),
        works_in=("{work}",),
    ),
    # Built on fastmcp.
    RealServer(
        name="prometheus",
        source=Python(("prometheus-mcp-server==1.6.2",), "prometheus-mcp-server"),
        env={"PROMETHEUS_URL": f"http://{NOBODY}"},
        era="2026-07-28",
        tools=6,
        call=Call("health_check", {}, "status"),
    ),
)
