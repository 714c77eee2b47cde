"""The file that starts an installed Python server: the program finds what its own script would give it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.servers.installers.packages import wheel
from toolcrib.errors import InstallFailed
from toolcrib.servers.installers.engine.environments import write_starter
from toolcrib.servers.installers.engine.installations import Installations

PROGRAM = """
import gc, json, os, sys

while_loading = gc.isenabled()

def main():
    print(json.dumps({
        "argv": sys.argv,
        "path": sys.path,
        "flags": repr(sys.flags),
        "main": sys.modules["__main__"].__name__,
        "variables": sorted(os.environ),
        "collects": gc.isenabled(),
        "thresholds": gc.get_threshold(),
        "while_loading": while_loading,
        "kept_aside": gc.get_freeze_count() > 0,
    }))
    return 7
"""


@pytest.fixture
async def installed(installations: Installations, tmp_path: Path) -> list[str]:
    """How the reporting program is started once it is installed."""
    own = wheel(tmp_path / "mine")
    found = await installations.apply(await installations.plan(str(own), "tiny"))
    (module,) = found.folder.glob("venv/lib/*/site-packages/tiny_server.py")
    module.write_text(PROGRAM)
    return [found.record.launch.command, *found.record.launch.args]


async def report(command: list[str]) -> dict[str, Any]:
    """What the program saw; it ends with 7."""
    # A script with a long path is started by a shell, which would add PWD.
    environment = {**os.environ, "PWD": str(Path.cwd())}
    process = await asyncio.create_subprocess_exec(
        *command, "--word", "two words", stdout=asyncio.subprocess.PIPE, env=environment
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 7
    return dict(json.loads(out))


async def test_the_program_sees_what_its_own_script_would_show(installed: list[str]) -> None:
    script = Path(installed[0]).with_name("tiny-server")

    ours, its_own = await report(installed), await report([str(script)])

    for key in ("argv", "path", "flags", "main", "variables", "collects", "thresholds"):
        assert ours[key] == its_own[key], key


async def test_garbage_is_looked_for_again_once_the_program_is_loaded(installed: list[str]) -> None:
    seen = await report(installed)

    assert (seen["while_loading"], seen["collects"], seen["kept_aside"]) == (False, True, True)


def test_a_target_that_is_no_function_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InstallFailed, match="invalid entry point"):
        write_starter(tmp_path, "tiny", "os:system('true')")
