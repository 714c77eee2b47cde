"""The host as a service: installed, shown and removed; what its file says, as systemd and launchd read it."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command_line import PROGRAM, CommandLine
from tests.cli.waiting import eventually, lines_of
from toolcrib.features.service.managers import launchd, systemd
from toolcrib.features.service.service import Service

HERE = Path(__file__).parent
ODD = Service(
    command=("/opt/my tools $HOME 100%/toolcrib", "up", "--home", '/srv/a b/$USER %h \\ "c"'),
    environment={"PATH": "/opt/a b:/usr/bin", "TOOLCRIB_HOME": "/srv/ünï\n[Install] %h"},
    errors=Path("/srv/a b/service.log"),
)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[CommandLine]:
    """The program on a home with a space, with a user's folders and a systemd of its own."""
    programs, config, state = (tmp_path / name for name in ("programs", "config", "state"))
    for folder in (programs, config, state):
        folder.mkdir()
    for name in ("systemctl", "loginctl"):
        shutil.copy(HERE / "systemctl", programs / name)
    variables = {
        "HOME": str(tmp_path),
        "PATH": f"{programs}:{PROGRAM.parent}:/usr/bin:/bin",
        "XDG_CONFIG_HOME": str(config),
        "SYSTEMD_STATE": str(state),
    }
    # The address of a socket has little room.
    with tempfile.TemporaryDirectory(prefix="tc ") as home:
        toolcrib = CommandLine(Path(home), variables)
        yield toolcrib
        toolcrib("service", "remove", real=True)


def unit(toolcrib: CommandLine) -> Path:
    return Path(toolcrib.extra["XDG_CONFIG_HOME"], "systemd", "user", "toolcrib.service")


def verbs(toolcrib: CommandLine) -> list[str]:
    """What systemd was told, without questions."""
    asked = lines_of(Path(toolcrib.extra["SYSTEMD_STATE"], "verbs"))
    return [verb for verb in asked if verb != "show"]


def test_the_service_runs_the_host_of_this_home(machine: CommandLine) -> None:
    installed = machine("service", "install", "--json", real=True)

    assert installed.code == 0, installed
    assert installed.json == {
        "manager": "systemd",
        "file": str(unit(machine)),
        "installed": True,
        "enabled": True,
        "running": True,
        "pid": installed.json["pid"],
        "logs": "journalctl --user -u toolcrib",
        "notes": [
            "It stops when you log out. To keep it running, and start it at boot: loginctl enable-linger"
        ],
    }
    lock = machine.home / "run" / "host.lock"
    eventually(lambda: lock.exists() and lock.read_text())
    assert json.loads(lock.read_text())["pid"] == installed.json["pid"]
    running = machine("servers", "--wait", "30", "--json").json
    assert {server["name"]: server["state"] for server in running}["demo"] == "ready"
    assert machine("service", "status", "--json").json == installed.json


def test_installing_twice_starts_it_once(machine: CommandLine) -> None:
    first = machine("service", "install", "--json", real=True).json
    eventually((machine.home / "run" / "host.sock").exists)
    before = verbs(machine)

    again = machine("service", "install", "--json", real=True).json

    assert again == first
    assert verbs(machine) == before == ["daemon-reload", "enable", "restart"]


def test_another_port_starts_it_again(machine: CommandLine) -> None:
    first = machine("service", "install", "--json", real=True).json
    eventually((machine.home / "run" / "host.sock").exists)

    again = machine("service", "install", "--port", "45123", "--json", real=True).json

    assert again["pid"] != first["pid"]
    assert f"ExecStart={PROGRAM} up --no-browser --port 45123\n" in unit(machine).read_text()


def test_removing_it_leaves_nothing(machine: CommandLine) -> None:
    pid = machine("service", "install", "--json", real=True).json["pid"]

    removed = machine("service", "remove", real=True)

    assert removed.out == f"Stopped the service and deleted {unit(machine)}.\n"
    assert not [path for path in Path(machine.extra["XDG_CONFIG_HOME"]).rglob("*") if not path.is_dir()]
    eventually(lambda: not Path(f"/proc/{pid}").exists())
    assert machine("service", "status").out.startswith("There is no service.")
    assert machine("service", "remove", "--json").json == {"removed": False, "file": str(unit(machine))}


def test_a_host_that_was_started_by_hand_is_left_alone(machine: CommandLine) -> None:
    host = machine.start("up", "--json", "--port", "0")
    assert host.stdout is not None
    host.stdout.readline()
    try:
        refused = machine("service", "install", "--json", real=True)
    finally:
        host.terminate()
        host.communicate(timeout=60)

    assert refused.code == 5
    assert refused.error["kind"] == "host_running"
    assert str(host.pid) in refused.error["message"]
    assert not unit(machine).exists()


def test_without_systemd_it_says_what_to_do(machine: CommandLine) -> None:
    refused = machine("service", "install", real=True, PATH=str(PROGRAM.parent))

    assert refused.code == 1
    assert "systemd does not run for this user. Nothing was changed." in refused.err
    assert "toolcrib up --no-browser" in refused.err
    assert "toolcrib service install --print" in refused.err
    assert not unit(machine).exists()


def test_the_file_can_be_seen_without_being_written(machine: CommandLine) -> None:
    shown = machine("service", "install", "--print", real=True).out

    assert f'Environment="TOOLCRIB_HOME={machine.home}"\n' in shown
    assert f"Environment=PATH={machine.extra['PATH']}\n" in shown
    assert machine("service", "install", "--print", "--json", real=True).json["text"] == shown
    assert not unit(machine).exists()


def test_a_program_that_will_not_stay_is_refused(machine: CommandLine, tmp_path: Path) -> None:
    passing = tmp_path / "archive-v0" / "1" / "toolcrib"
    passing.parent.mkdir(parents=True)
    passing.symlink_to(PROGRAM)

    done = subprocess.run(
        [passing, "service", "install"], env=machine.environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert "uv tool install toolcrib" in done.stderr


def test_odd_names_stay_one_word_in_a_unit() -> None:
    lines = systemd.describe(ODD).splitlines()

    assert r'ExecStart="/opt/my tools $HOME 100%%/toolcrib" up --home "/srv/a b/$$USER %%h \\ \"c\""' in lines
    assert 'Environment="PATH=/opt/a b:/usr/bin"' in lines
    assert r'Environment="TOOLCRIB_HOME=/srv/ünï\x0a[Install] %%h"' in lines


@pytest.mark.acceptance
def test_systemd_finds_no_fault_in_a_unit_with_odd_names(tmp_path: Path) -> None:
    program = tmp_path / "a $b 100% c" / "toolcrib"
    program.parent.mkdir()
    shutil.copy("/bin/true", program)
    file = tmp_path / systemd.UNIT
    file.write_text(
        systemd.describe(Service(command=(str(program), "up"), environment=ODD.environment, errors=tmp_path))
    )

    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(file)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_odd_names_stay_as_they_are_in_a_launch_agent() -> None:
    agent = plistlib.loads(launchd.describe(ODD).encode())

    assert agent["ProgramArguments"] == list(ODD.command)
    assert agent["EnvironmentVariables"] == ODD.environment
    assert agent["StandardErrorPath"] == str(ODD.errors)
    assert agent["RunAtLoad"] is True
    assert agent["KeepAlive"] == {"SuccessfulExit": False}


def test_launchd_loads_an_agent_again_and_forgets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{HERE}:{os.environ['PATH']}")
    monkeypatch.setenv("LAUNCHD_STATE", str(tmp_path))
    file, errors = tmp_path / "toolcrib.plist", tmp_path / "service.log"
    service = Service(command=("/bin/toolcrib", "up"), environment={}, errors=errors)
    file.write_text(launchd.describe(service))
    errors.write_text("error: …\n")
    domain = f"gui/{os.getuid()}"

    launchd.start(file)
    launchd.start(file)
    running = launchd.state()
    launchd.stop(file)

    asked = [line for line in lines_of(tmp_path / "verbs") if not line.startswith("print")]
    start = [f"enable {domain}/toolcrib", f"bootstrap {domain} {file}"]
    assert asked == [*start, f"bootout {domain}/toolcrib", *start, f"bootout {domain}/toolcrib"]
    assert (running.running, running.pid) == (True, 4711)
    assert not launchd.state().enabled
    assert not file.exists()
    assert not errors.exists()
