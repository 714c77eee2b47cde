"""No sandbox lets a program change the kernel's settings, the devices or the machine, not even for root."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from tests.bundled.terminal.conftest import available
from tests.servers.sandbox import kernel_probe
from tests.servers.sandbox.test_running import probing
from toolcrib.bundled.terminal.sandbox import Kind, Sandbox
from toolcrib.bundled.terminal.workplace import Workplace, finished
from toolcrib.features.workflows.code_runner import CodeRunner

PROBE = Path(kernel_probe.__file__)
LOADED = "(lambda scope: (exec(open({probe!r}).read(), scope), {wanted})[1])(dict(__name__='probe'))"
WALKED = ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/driver", "/proc/1", "/dev")


def wanted(kind: str = "bubblewrap") -> str:
    """An expression: what is possible, by trying, and by what the kernel says of each file."""
    tried = f"scope['possible']({os.getpid()}, modes={kind == 'bubblewrap'})"
    walked = f" + scope['writable_in'](*{WALKED!r})" if kind == "bubblewrap" else ""
    return LOADED.format(probe=str(PROBE), wanted=tried + walked)


@pytest.mark.parametrize("network", [True, False, "open", ["127.0.0.1:1"]])
async def test_a_sandboxed_server_changes_nothing_of_the_machine(tmp_path: Path, network: object) -> None:
    name = socket.gethostname()
    sandbox = {"readable": [str(PROBE)], "network": network}
    async with probing(tmp_path / "crib", sandbox) as (_, run):
        assert await run(wanted().replace("exec(", "import_('builtins').exec(")) == "[]"
    assert socket.gethostname() == name


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_a_command_of_the_terminal_changes_nothing_of_the_machine(tmp_path: Path, kind: Kind) -> None:
    sandbox = Sandbox(wanted=available(kind), folders=[str(PROBE.parent)], caches=False)
    workplace = Workplace(folder=lambda: tmp_path, sandbox=sandbox)

    running = workplace.start([sys.executable, "-c", f"print({wanted(kind)})"], str(tmp_path))
    assert await finished(running, 60)

    assert running.text().strip() == "[]"


@pytest.mark.acceptance
async def test_code_of_a_workflow_changes_nothing_of_the_machine() -> None:
    code = (
        "scope = {'__name__': 'probe'}\nexec(probe, scope)\n"
        f"return scope['possible']({os.getpid()}, modes=True) + scope['writable_in'](*{WALKED!r})"
    )

    result, _ = await CodeRunner().run(code, {"probe": PROBE.read_text()}, 60)

    assert json.dumps(result) == "[]"
