"""Runs the client for one scenario of the suite, which starts all of them at once, when it is its turn.

turn.py FOLDER URL: two run at a time; their exit codes go into the folder, because the suite ignores them.
"""

import fcntl
import os
import subprocess
import sys
import zlib
from pathlib import Path

PLACES = 2

if __name__ == "__main__":
    folder, url = Path(sys.argv[1]), sys.argv[2]
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    with (folder / f"place-{zlib.crc32(scenario.encode()) % PLACES}").open("w") as place:
        fcntl.flock(place, fcntl.LOCK_EX)
        code = subprocess.call([sys.executable, "-m", "tests.conformance.client", url])
    (folder / f"{scenario.replace('/', '.')}.exit").write_text(str(code))
    sys.exit(code)
