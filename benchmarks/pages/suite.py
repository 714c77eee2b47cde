"""Every page through every extractor: what is kept, what is not left out, and the CPU time it takes.

    python -m benchmarks.pages.suite [--rounds N] [--json] [--list EXTRACTOR]

Each extractor runs in a process of its own. CPU time includes that of child processes; the best round counts.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from toolcrib import plugins

EXTRACTORS = "benchmarks.pages.extractors"
OURS, ALONE = "toolcrib", "trafilatura_alone"
SLOW = 60.0
"""Seconds of CPU time for all pages."""
PARTS = ("headings", "cells", "code", "prose", "boilerplate", "hidden")


def measure(rounds: int) -> dict[str, Any]:
    """All extractors; one whose packages are missing is named with the reason."""
    found: dict[str, Any] = {}
    for name in plugins.names(EXTRACTORS):
        command = [sys.executable, "-m", "benchmarks.pages.suite", "--worker", name, "--rounds", str(rounds)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        last = (done.stderr.strip().splitlines() or ["it failed"])[-1]
        found[name] = json.loads(done.stdout) if done.returncode == 0 else {"title": name, "problem": last}
    base = found[ALONE].get("cpu_s")
    for each in found.values():
        if base and "cpu_s" in each:
            each["cpu_ratio"] = each["cpu_s"] / base
    return found


def work(name: str, rounds: int) -> dict[str, Any]:
    """The scores and the CPU time of one extractor."""
    from benchmarks.pages.corpus import documentation, generated
    from benchmarks.pages.scoring import Score, score

    logging.disable(logging.CRITICAL)
    extractor: Any = plugins.find(EXTRACTORS, name)
    pages = [*generated(), *documentation()]
    sums = {"generated": Score(), "documentation": Score()}
    extractor.extract(pages[0].html, pages[0].url)  # loads what it needs
    taken, texts = _timed(extractor, pages)
    for page, text in zip(pages, texts, strict=True):
        sums["documentation" if "/" in page.name else "generated"].add(score(page, text))
    # One that starts a program for each page takes minutes for all of them; once is enough to see that.
    again = range(rounds - 1) if taken < SLOW else ()
    times = [taken, *(_timed(extractor, pages)[0] for _ in again)]
    scores = {group: asdict(each) for group, each in sums.items()}
    return {"title": extractor.TITLE, "pages": len(pages), "cpu_s": min(times), "scores": scores}


def _timed(extractor: Any, pages: Any) -> tuple[float, list[str]]:
    before = os.times()
    texts = [extractor.extract(page.html, page.url) for page in pages]
    after = os.times()
    return sum(after[:4]) - sum(before[:4]), texts


def table(result: dict[str, Any]) -> str:
    """For people: shares in percent; boilerplate and hidden text are better the lower they are."""
    lines = [f"{'':28}{'group':16}{''.join(f'{part:>13}' for part in PARTS)}{'CPU':>9}{'of it':>7}"]
    for each in result.values():
        if "problem" in each:
            lines.append(f"{each['title']:28}{each['problem']}")
            continue
        for group, scores in each["scores"].items():
            shares = "".join(f"{_share(scores[part]):>13}" for part in PARTS)
            cost = f"{each['cpu_s']:7.2f} s{each['cpu_ratio']:7.2f}" if group == "generated" else ""
            lines.append(f"{each['title'] if cost else '':28}{group:16}{shares}{cost}")
    return "\n".join(lines)


def _share(pair: list[int]) -> str:
    return f"{100 * pair[0] / pair[1]:.1f} %" if pair[1] else "–"


def show_losses(name: str) -> None:
    """What an extractor loses or leaves in, page by page."""
    from benchmarks.pages.corpus import documentation, generated
    from benchmarks.pages.scoring import score

    extractor: Any = plugins.find(EXTRACTORS, name)
    for page in [*generated(), *documentation()]:
        found = asdict(score(page, extractor.extract(page.html, page.url)))
        lost = {
            part: pair for part, pair in found.items() if pair[0] != (0 if part in PARTS[4:] else pair[1])
        }
        if lost:
            print(f"{page.name:50} {lost}")


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", metavar="EXTRACTOR", help="show what it loses, page by page")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(work(options.worker, options.rounds)))
    elif options.list:
        show_losses(options.list)
    else:
        result = measure(options.rounds)
        print(json.dumps(result) if options.json else table(result))


if __name__ == "__main__":
    main()
