"""What the person in the pictures installs: packages of a registry on loopback, and wheels of one server."""

from __future__ import annotations

import json
import sys
import sysconfig
import zipfile
from pathlib import Path

from tests.web.npm_registry import Package

ROOT = Path(__file__).parents[3]
SENTRY = "@sentry/mcp-server"
SENTRY_PARTS = 61
FETCH = "mcp-server-fetch"
FETCH_VERSIONS = ("2026.8.1", "2026.9.4", "2026.10.24")
_PARTS = ("zod", "diff", "glob", "minimatch", "yargs", "ajv", "fast-glob")
_URL = "Please provide a database URL as a command-line argument"


def python_paths() -> list[str]:
    """Where a Python that is not ours finds what the servers in the pictures are made of."""
    return [str(ROOT), str(ROOT / "src"), sysconfig.get_paths()["purelib"]]


def npm_packages(picture: Path) -> list[Package]:
    """All of the registry."""
    code = "// " + "x" * 580_000
    parts = [Package(name=name, version="4.1.0", files={"index.js": code}) for name in _PARTS]
    watcher = Package(name="fsevents-lite", version="2.3.3", script="node build.js")
    many = [Package(name=f"sentry-part-{number:02}", version="1.0.0") for number in range(1, SENTRY_PARTS)]
    return [
        *parts,
        watcher,
        *many,
        _program(
            "@modelcontextprotocol/server-filesystem",
            "2026.8.3",
            ["-m", "toolcrib.bundled.filesystem"],
            needs=[*parts, watcher],
        ),
        playwright("0.0.92", picture),
        _program(SENTRY, "0.31.0", ["-c", "pass"], needs=many),
        Package(
            name="@modelcontextprotocol/server-postgres",
            version="0.6.2",
            program="index.js",
            files={"index.js": f"#!/usr/bin/env node\nconsole.error({_URL!r});\nprocess.exit(1);\n"},
        ),
    ]


def playwright(version: str, picture: Path) -> Package:
    """One version of the browser's server."""
    words = ["-m", "tests.web.screenshots.toolbox", "playwright"]
    return _program("@playwright/mcp", version, words, {"PICTURE": str(picture)})


def _program(
    name: str,
    version: str,
    words: list[str],
    variables: dict[str, str] | None = None,
    needs: list[Package] | None = None,
) -> Package:
    """A package whose program hands over to Python."""
    more = {"PYTHONPATH": ":".join(python_paths()), **(variables or {})}
    code = f"""#!/usr/bin/env node
const {{ spawn }} = require("node:child_process");
const words = [...{json.dumps(words)}, ...process.argv.slice(2).filter((word) => !word.startsWith("--"))];
const child = spawn({json.dumps(sys.executable)}, words, {{
  stdio: "inherit",
  env: {{ ...process.env, ...{json.dumps(more)} }},
}});
child.on("exit", (code) => process.exit(code ?? 1));
"""
    return Package(
        name=name,
        version=version,
        program="dist/index.js",
        files={"dist/index.js": code},
        needs={one.name: one.version for one in needs or []},
    )


def fetch_wheel(folder: Path, version: str, changes: Path | None) -> Path:
    """One version of the server that fetches; `changes` says how its definitions differ."""
    module = FETCH.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    words = ["-", "fetch", *([str(changes)] if changes else [])]
    lines = [
        "import sys",
        "def main():",
        f"    sys.path[:0] = {python_paths()!r}",
        f"    sys.argv = {words!r}",
        "    from tests.web.screenshots.toolbox import main as serve",
        "    serve()",
    ]
    files = {
        f"{module}.py": "\n".join([*lines, ""]),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {FETCH}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{FETCH} = {module}:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return target
