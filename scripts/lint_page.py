"""Checks the sources of the page with prettier and eslint; `--fix` rewrites them instead.

Installs what package-lock.json pins first, if needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from build_page import BUILD_DEADLINE, ROOT, PageNotBuilt, exclusive, install, require_node, run

PRETTIER = ("node_modules/prettier/bin/prettier.cjs", "--log-level=warn")
ESLINT = ("node_modules/eslint/bin/eslint.js", "--max-warnings=0")


def lint(*, fix: bool) -> None:
    """Run both; raises `PageNotBuilt` with what they found."""
    node = require_node()
    with exclusive(ROOT):
        install(ROOT, node)
    run([*node, *PRETTIER, "--write" if fix else "--check", "."], ROOT / "frontend", BUILD_DEADLINE)
    run([*node, *ESLINT, *(["--fix"] if fix else []), "."], ROOT / "frontend", BUILD_DEADLINE)


def main() -> int:
    try:
        lint(fix="--fix" in sys.argv[1:])
    except PageNotBuilt as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
