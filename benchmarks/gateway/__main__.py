"""python -m benchmarks.gateway [--rounds N] [--peer NAME ...] [--case NAME ...] [--json]"""

from __future__ import annotations

import argparse
import json

from benchmarks.gateway.suite import CASES, find_peers, measure
from benchmarks.gateway.table import table


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--peer", action="append", default=[], choices=list(find_peers()))
    parser.add_argument("--case", action="append", default=[], choices=list(CASES))
    parser.add_argument("--json", action="store_true", help="every number, for programs")
    options = parser.parse_args()
    results = measure(options.rounds, options.peer, options.case)
    print(json.dumps(results) if options.json else table(results))


if __name__ == "__main__":
    main()
