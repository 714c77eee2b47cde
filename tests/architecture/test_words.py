"""Sources and documentation use the field's own words: retired terms do not come back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("src/toolcrib", "docs", "README.md", "frontend/src", "examples")
ENDINGS = {".py", ".md", ".ts", ".tsx", ".css", ".html"}

RETIRED = {
    r"\bparlour\b": "chat services",
    r"\bfortunes\b": "server events",
    r"\bfurnishing\b": "assembly",
    r"\bexhibits\b": "call preview",
    r"\bwipe\w* the slate\b": "forget earlier failures",
    r"\bfrom outside is at work\b": "untrusted content was read in this session",
    r"\bstrictest voice\b": "the strictest of the mode, the rules and the command check applies",
    r"\breckons\b": "computes",
    r"\blocker room\b": "name what it holds",
    r"\bfoundation\b": "core",
    r"\bworkbench\b": "terminal tools",
    r"\bsigns? of life\b": "health check",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\breckon": "compute",
    r"\bwhoever\b": "any client, the caller, the user",
    r"\bas it came\b": "unchanged",
    r"\bgate will ask\b": "you will be asked first",
    r"\bshaking hands\b": "connecting",
    r"\byour word\b": "your approval, your note",
    r"\b(their|its) own person\b": "their own user",
    r"\bnot known to only read\b": "may change something",
    r"\bcontent from outside\b": "untrusted content",
    r"\b(the one|through the|the) door\b": "`Caller`, the call path",
    r"\bwhere there is none\b": "if missing",
    r"\bin force\b": "active",
    r"\bfor ever\b": "forever",
}
"""What no longer occurs anywhere, and what to write instead."""

RETIRED_LATER = {
    r"\b(some|no)body\b": "someone, no one, the user",
    r"\bbr(eak|eaks|oke|oken) off\b": "cut off",
}
"""Still in use somewhere: move a line up once its term is gone."""


def texts() -> Iterator[tuple[str, str]]:
    for place in PLACES:
        root = ROOT / place
        for file in [root] if root.is_file() else sorted(root.rglob("*")):
            if file.suffix in ENDINGS and not {"static", "static_docs", "node_modules"} & set(file.parts):
                yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8").lower()


def test_no_retired_term_is_used() -> None:
    used = [
        f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]!r}: write {instead!r}"
        for name, text in texts()
        for term, instead in RETIRED.items()
        if re.search(term.removeprefix(r"\b"), text)  # much faster than the search below, and rarely true
        for found in re.finditer(term, text)
    ]

    assert not used, "\n".join(used)


def test_no_retired_term_is_listed_twice() -> None:
    assert not RETIRED.keys() & RETIRED_LATER.keys()
