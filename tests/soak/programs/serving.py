"""The real `toolcrib`, which also tells how many tasks it has: SIGUSR2 writes that to the file in PROBE."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from pathlib import Path

from toolcrib.cli import main

PROBE = Path(os.environ["PROBE"])


def tell(number: int, frame: object) -> None:
    gc.collect()
    try:
        tasks = len(asyncio.all_tasks())
    except RuntimeError:
        tasks = 0
    fresh = PROBE.with_suffix(".new")
    fresh.write_text(str(tasks))
    fresh.replace(PROBE)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR2, tell)
    main()
