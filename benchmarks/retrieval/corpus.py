"""Builds a corpus of real tools: installs servers through our own installer and lists what they offer.

python -m benchmarks.retrieval.corpus SERVERS OUT

SERVERS is a file with one reference a line, as `toolcrib add` takes them (npm:…, pypi:…); OUT becomes a
`tools.jsonl`. A server that cannot be installed or started without an account is left out, and named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PATIENCE = 300.0


def main(servers: Path, out: Path) -> None:
    """Install one after another, then list them all."""
    references = [
        line.strip() for line in servers.read_text().splitlines() if line.strip()[:1] not in ("", "#")
    ]
    with tempfile.TemporaryDirectory() as home:
        for reference in references:
            done = _run(home, "add", reference, "--yes")
            print(f"{reference}: {'added' if done.returncode == 0 else 'left out'}", flush=True)
        listed = _run(home, "tools", "--json", "--wait", str(PATIENCE))
    tools: list[dict[str, Any]] = json.loads(listed.stdout or "[]")
    with out.open("w", encoding="utf-8") as file:
        for tool in tools:
            own = tool["name"].partition("__")[2] or tool["name"]
            row = {
                "id": tool["name"],
                "name": own,
                "server": tool["server"],
                "description": tool["description"],
            }
            file.write(json.dumps({**row, "inputSchema": tool["inputSchema"]}, ensure_ascii=False) + "\n")
    print(f"{len(tools)} tools of {len({tool['server'] for tool in tools})} servers")


def _run(home: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolcrib", *words]
    environment = {**os.environ, "TOOLCRIB_HOME": home, "TOOLCRIB_KEYRING": "off"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=4 * PATIENCE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
