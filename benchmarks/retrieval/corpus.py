"""Builds a corpus of real tools: installs servers through our own installer and lists what they offer.

    python -m benchmarks.retrieval.corpus OUT [--servers SERVERS] [--questions FILE] [--again]

A line of SERVERS is what `toolcrib add` takes (`servers.txt` unless told otherwise). OUT becomes a folder
with `tools.jsonl`, and with `queries.jsonl` for the questions whose tools are all there, so that
`python -m benchmarks.retrieval OUT` can follow. One server after another, each in a home of its own that is
gone afterwards; one that cannot be installed or lists nothing within its deadline is left out, and named.
"""

from __future__ import annotations

import argparse
import json
import shlex
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.retrieval.listing import LeftOut, listed

HERE = Path(__file__).parent
Row = dict[str, Any]


def main() -> None:
    """Build the folder; what was listed before is kept unless asked for again."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--servers", type=Path, default=HERE / "servers.txt")
    parser.add_argument("--questions", type=Path, default=HERE / "questions.jsonl")
    parser.add_argument("--again", action="store_true", help="install and list what is there already too")
    options = parser.parse_args()
    build(options.servers, options.questions, options.out, again=options.again)


def build(servers: Path, questions: Path, out: Path, *, again: bool = False) -> None:
    """List every server, then write the corpus; each list is on disk before the next server is begun."""
    lists = out / "servers"
    lists.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    left_out = 0
    for words in read_servers(servers):
        package = package_of(words)
        kept = lists / f"{package.replace('/', '+')}.json"
        try:
            found = _kept_or_listed(kept, words, package, again=again)
        except LeftOut as error:
            left_out += 1
            print(f"{package}: left out: {error}", flush=True)
            continue
        print(f"{package}: {len(found)} tools", flush=True)
        rows += found
    asked = answerable(_read_lines(questions), {row["id"] for row in rows})
    _write_lines(out / "tools.jsonl", rows)
    _write_lines(out / "queries.jsonl", asked)
    whole = len({row["server"] for row in rows})
    print(f"{len(rows)} tools of {whole} servers, {left_out} left out; {len(asked)} questions", flush=True)


def read_servers(path: Path) -> list[list[str]]:
    """The words of each line; `#` begins a remark."""
    lines = (shlex.split(line, comments=True) for line in path.read_text(encoding="utf-8").splitlines())
    return [words for words in lines if words]


def package_of(words: Iterable[str]) -> str:
    """The package's name, without its registry and version."""
    reference = next(word for word in words if word.startswith(("npm:", "pypi:")))
    kind, _, name = reference.partition(":")
    return name.partition("==")[0] if kind == "pypi" else name[:1] + name[1:].partition("@")[0]


def rows_of(package: str, tools: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Tools in the form of the data sets; a name stays the same whatever a server is called here."""
    return [
        {
            "id": f"{package}::{tool['original_name']}",
            "name": tool["original_name"],
            "server": tool["server"],
            "description": tool["description"],
            "inputSchema": tool["inputSchema"],
        }
        for tool in tools
    ]


def answerable(questions: Iterable[Row], known: set[str]) -> list[Row]:
    """The questions whose tools are all there."""
    return [
        {**question, "acceptable": [one for one in question.get("acceptable", ()) if one in known]}
        for question in questions
        if known.issuperset(question["relevant"])
    ]


def _kept_or_listed(kept: Path, words: list[str], package: str, *, again: bool) -> list[Row]:
    if kept.exists() and not again:
        found: list[Row] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        found = rows_of(package, listed(home, words))
    kept.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    return found


def _read_lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _write_lines(path: Path, rows: Iterable[Row]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
