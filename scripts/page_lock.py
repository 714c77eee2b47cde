"""Rewrites frontend/package-lock.json: `python scripts/page_lock.py`, or `make lock`.

Entries hold no download address. Optional packages that the configured index does not have, such as binaries
for other systems, are added by name and version without a hash: `npm ci` rejects a lock that omits one, and
fetches only those of its own system.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from build_page import INSTALL_DEADLINE, QUIET, ROOT, find_node, npm_of

FORM = ("--package-lock-only", "--omit-lockfile-registry-resolved")
SYSTEMS = ("aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "win32")
PROCESSORS = ("arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64")
LIBRARIES = {"gnu": "glibc", "gnueabihf": "glibc", "musl": "musl"}

Entry = dict[str, Any]


def complete(lock: Entry) -> list[str]:
    """Add the optional packages that are missing; returns their names."""
    packages: dict[str, Entry] = lock["packages"]
    added = {}
    for entry in packages.values():
        for name, version in entry.get("optionalDependencies", {}).items():
            path = f"node_modules/{name}"
            if path not in packages and re.fullmatch(r"[0-9][0-9A-Za-z.+-]*", version):
                added[path] = {"version": version, "optional": True, **_platform_of(name)}
                if entry.get("dev"):
                    added[path]["dev"] = True
    lock["packages"] = dict(sorted({**packages, **added}.items()))
    return sorted(added)


def _platform_of(name: str) -> Entry:
    words = set(re.split(r"[^a-z0-9]+", name.rpartition("/")[2]))
    found = {
        "os": [system for system in SYSTEMS if system in words],
        "cpu": [processor for processor in PROCESSORS if processor in words],
        "libc": [library for word, library in LIBRARIES.items() if word in words],
    }
    return {key: values for key, values in found.items() if values}


def main() -> int:
    node = find_node()
    if node is None:
        print("Node not found: it is needed to write the lock.", file=sys.stderr)
        return 1
    frontend = ROOT / "frontend"
    command = [*npm_of(node), "install", *FORM, *QUIET]
    subprocess.run(command, cwd=frontend, check=True, timeout=INSTALL_DEADLINE)
    file = frontend / "package-lock.json"
    lock = json.loads(file.read_text())
    for name in complete(lock):
        print(f"without a hash: {name}", file=sys.stderr)
    file.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
