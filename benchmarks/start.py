"""What a start costs: an installed server, started by its path, beside `npx -y` and `uvx` with warm caches.

    python -m benchmarks.start [--rounds N] [--no-bytecode] [--json]

Each start is the whole of it: spawn, handshake, first list of tools, end of input, exit. CPU is that of all
processes together; they and their memory are counted when the list has arrived. The ways take turns.

All ways may keep bytecode, whatever the surroundings say, unless `--no-bytecode` forbids it. A Python server
is also loaded without being run: nobody who starts it can go below that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.servers.installers.engine.plan import Record

ROOT = Path(__file__).parents[1]
HOME = ROOT / ".cache" / "bench-start"
NPM = ("memory", "@modelcontextprotocol/server-memory", "2026.8.31")
PYPI = (("time", "mcp-server-time", "2026.10.19"), ("git", "mcp-server-git", "2026.10.19"))
ENV = {**os.environ, "MEMORY_FILE_PATH": str(HOME / "memory.jsonl")}
ENV.pop("PYTHONDONTWRITEBYTECODE", None)
LOAD = "import gc; gc.disable(); import {module}; gc.freeze()"


@dataclass(frozen=True)
class Way:
    """One way to start a server; `against` is the title of the one that it is held against."""

    title: str
    command: Sequence[str]
    against: str = ""
    talks: bool = True
    """False for a command that loads the server and ends."""


def ways() -> list[Way]:
    """All servers, installed and fetched; everything is in place and in the caches afterwards."""
    found = [*npm_ways(*NPM), *(way for server in PYPI for way in pypi_ways(*server))]
    for way in found:
        start(way)
    return found


def npm_ways(name: str, package: str, version: str) -> list[Way]:
    """A server of npm."""
    usual = Way(f"{name}, npx -y", [find("npx"), "-y", f"{package}@{version}"])
    record = asyncio.run(install(name, f"npm:{package}@{version}", version))
    return [usual, Way(f"{name}, installed", command_of(record), usual.title)]


def pypi_ways(name: str, package: str, version: str) -> list[Way]:
    """A server of PyPI, and what loading it takes."""
    usual = Way(f"{name}, uvx", [find("uvx"), "--from", f"{package}=={version}", package])
    record = asyncio.run(install(name, f"pypi:{package}=={version}", version))
    load = [record.launch.command, "-c", LOAD.format(module=record.entry["module"])]
    return [
        usual,
        Way(f"{name}, installed", command_of(record), usual.title),
        Way(f"{name}, only loaded", load, usual.title, talks=False),
    ]


async def install(name: str, reference: str, version: str) -> Record:
    """Install a server, unless it is."""
    from toolcrib.servers.installers.engine.installations import Installations

    installations = Installations(installs=HOME / "servers", cache=HOME / "cache")
    record = installations.place(name).current
    if record is None or record.version != version:
        record = (await installations.apply(await installations.plan(reference, name))).record
    return record


def command_of(record: Record) -> list[str]:
    """How it is started."""
    return [record.launch.command, *record.launch.args]


def find(program: str) -> str:
    """Beside this Python, or on the PATH."""
    found = shutil.which(program, path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}")
    if found is None:
        raise SystemExit(f"{program} is needed for the comparison, and was not found.")
    return found


def start(way: Way) -> dict[str, float]:
    """Start, greet, list, end: what it cost."""
    began = time.perf_counter()
    process = subprocess.Popen(
        way.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=ENV,
        cwd=HOME,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    seen = talk(process, began) if way.talks else {}
    process.stdin.close()
    process.stdout.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # reaped by us
    if process.returncode and not way.talks:
        raise RuntimeError(f"{way.title}: {way.command!r} failed.")
    return {"cpu_s": used.ru_utime + used.ru_stime, **seen}


def talk(process: subprocess.Popen[bytes], began: float) -> dict[str, float]:
    """Greet it and have its tools listed: what there is to see then."""
    assert process.stdin is not None
    greet = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    ask(process, "initialize", greet, 1)
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    ask(process, "tools/list", {}, 2)
    ready = time.perf_counter() - began
    family = list(session(process.pid))
    memory = sum(resident(pid) for pid in family)
    return {"ready_s": ready, "processes": float(len(family)), "memory_mb": memory}


def ask(process: subprocess.Popen[bytes], method: str, params: dict[str, Any], number: int) -> None:
    """Send a request, and wait for its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    for line in process.stdout:
        if b'"id":' in line and json.loads(line).get("id") == number:
            return
    raise RuntimeError(f"{process.args!r} ended before it answered {method}.")


def session(leader: int) -> Iterator[int]:
    """The living processes of a session (Linux)."""
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if folder.name.isdigit() and int(fields[3]) == leader and fields[0] not in (b"Z", b"X"):
            yield int(folder.name)


def resident(pid: int) -> float:
    """Megabytes a process holds."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(rounds: int) -> dict[str, Any]:
    """Each way in turn; medians, and the share of what it is held against."""
    HOME.mkdir(parents=True, exist_ok=True)
    found = ways()
    runs: dict[str, list[dict[str, float]]] = {way.title: [] for way in found}
    for _ in range(rounds):
        for way in found:
            runs[way.title].append(start(way))
    medians = {
        title: {key: statistics.median(run[key] for run in seen) for key in seen[0]}
        for title, seen in runs.items()
    }
    for way in found:
        if way.against:
            medians[way.title]["cpu_share"] = medians[way.title]["cpu_s"] / medians[way.against]["cpu_s"]
    return medians


def table(result: dict[str, Any]) -> str:
    """For people."""
    lines = [f"{'':18}{'CPU':>10}{'of it':>8}{'ready':>10}{'processes':>11}{'memory':>11}"]
    for title, run in result.items():
        share = f"{run['cpu_share']:8.0%}" if "cpu_share" in run else " " * 8
        seen = ""
        if "ready_s" in run:
            seen = f"{run['ready_s']:8.2f} s{run['processes']:11.0f}{run['memory_mb']:8.0f} MB"
        lines.append(f"{title:18}{run['cpu_s']:8.2f} s{share}{seen}")
    return "\n".join(lines)


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-bytecode", action="store_true", help="as with PYTHONDONTWRITEBYTECODE")
    parser.add_argument("--json", action="store_true", help="every number, for programs")
    options = parser.parse_args()
    if options.no_bytecode:
        # With a cache of its own, because bytecode that stands in the usual one would still be used.
        ENV.update({"PYTHONDONTWRITEBYTECODE": "1", "UV_CACHE_DIR": str(HOME / "uv-plain")})
    result = measure(options.rounds)
    print(json.dumps(result) if options.json else table(result))


if __name__ == "__main__":
    main()
