"""`toolcrib up` without a terminal: one host a home, told of in lines or JSON, ended in order."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import DEADLINE, CommandLine, Process
from tests.cli.waiting import eventually, lines_of


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_one_line_of_json_says_where_it_listens(toolcrib: CommandLine, up: Process) -> None:
    socket = toolcrib.home / "run" / "host.sock"

    assert socket.is_socket()
    assert socket.stat().st_mode & 0o777 == 0o600
    assert socket.parent.stat().st_mode & 0o777 == 0o700


def test_a_second_host_is_refused_with_a_pointer_to_the_first(toolcrib: CommandLine, up: Process) -> None:
    second = toolcrib("up", "--json")

    assert (second.code, second.error["kind"]) == (5, "host_running")
    assert str(up.pid) in second.error["message"]
    assert "since" in second.error["message"]
    assert second.error["hint"]
    assert toolcrib("up").code == 5
    assert toolcrib("call", "demo__add", "a=1", "b=2").out == "3\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_everything_it_started(toolcrib: CommandLine, number: signal.Signals) -> None:
    toolcrib.add("small")
    host = toolcrib.start("up", "--json", real=True)
    assert host.stdout is not None
    host.stdout.readline()
    pid = eventually(lambda: toolcrib("servers", "--json").json[-1]["pid"])

    host.send_signal(number)
    host.communicate(timeout=DEADLINE)

    assert host.returncode == 0
    assert not is_alive(pid)
    assert not (toolcrib.home / "run" / "host.sock").exists()
    assert toolcrib("up", "--help").code == 0


def test_a_second_signal_hurries(toolcrib: CommandLine, tmp_path: Path) -> None:
    stubborn, asked = tmp_path / "stubborn.py", tmp_path / "asked"
    source = Path(__file__).with_name("small_server.py").read_text()
    heed = f"signal.signal(signal.SIGTERM, lambda *_: open({str(asked)!r}, 'w').close())"
    stubborn.write_text(f"import signal, time\n{heed}\n{source}\nwhile True: time.sleep(1)\n")
    toolcrib("add", "stubborn", "--yes", "--", sys.executable, str(stubborn))
    host = toolcrib.start("up", real=True)
    assert host.stdout is not None
    while not host.stdout.readline().startswith("stubborn: ready"):
        pass

    host.send_signal(signal.SIGINT)
    while host.stdout.readline() != "Stopping the servers.\n":
        pass
    host.send_signal(signal.SIGINT)
    host.communicate(timeout=DEADLINE)

    assert host.returncode == 0
    # Unhurried, it would have been asked to end before it was killed.
    assert not asked.exists()


def test_lines_tell_of_each_state(toolcrib: CommandLine) -> None:
    host = toolcrib.start("up", real=True)
    assert host.stdout is not None
    first = host.stdout.readline()
    lines = []
    ready = {"demo: ready (4 tools)\n", "filesystem: ready (6 tools)\n", "websearch: ready (2 tools)\n"}
    while not ready <= set(lines):
        lines.append(host.stdout.readline())

    edited = toolcrib.home / "edited.json"
    edited.write_text("{")
    edited.replace(toolcrib.home / "mcp.json")  # at once: half an edit would be told of too
    broken = host.stdout.readline()
    host.terminate()
    rest, _ = host.communicate(timeout=DEADLINE)

    assert str(host.pid) in first
    assert broken.startswith("config: mcp.json, line 1")
    assert rest == "Stopping the servers.\n"
    assert host.returncode == 0


def test_a_host_whose_output_nobody_reads_goes_on(toolcrib: CommandLine) -> None:
    host = toolcrib.start("up", real=True)
    assert host.stdout is not None
    assert host.stderr is not None
    host.stdout.readline()
    host.stdout.close()

    toolcrib.add("small")
    assert toolcrib("call", "small__echo", "count=1").code == 0
    host.terminate()

    assert host.wait(DEADLINE) == 0
    assert host.stderr.read() == ""
    host.stderr.close()


def test_an_edit_of_the_file_is_picked_up(toolcrib: CommandLine, up: Process) -> None:
    config = toolcrib.config()
    del config["mcpServers"]["demo"]
    (toolcrib.home / "mcp.json").write_text(json.dumps(config))

    eventually(lambda: list(toolcrib.states()) == ["filesystem", "websearch"])


def test_a_host_that_does_not_answer_is_told_of(toolcrib: CommandLine, up: Process) -> None:
    up.send_signal(signal.SIGSTOP)
    try:
        answer = toolcrib("servers", "--json")
    finally:
        up.send_signal(signal.SIGCONT)

    assert (answer.code, answer.error["kind"]) == (5, "no_host")
    assert "does not respond" in answer.error["message"]


def test_after_a_killed_host_the_next_one_starts(toolcrib: CommandLine) -> None:
    first = toolcrib.start("up", "--json", real=True)
    assert first.stdout is not None
    first.stdout.readline()
    first.kill()
    first.communicate()
    assert (toolcrib.home / "run" / "host.sock").is_socket()

    assert toolcrib("call", "demo__add", "a=1", "b=2").out == "3\n"
    second = toolcrib.start("up", "--json", real=True)
    assert second.stdout is not None
    assert json.loads(second.stdout.readline())["pid"] == second.pid
    second.terminate()
    second.communicate(timeout=DEADLINE)
    assert second.returncode == 0


def test_a_config_that_cannot_be_read_is_no_host(toolcrib: CommandLine) -> None:
    (toolcrib.home / "mcp.json").write_text("{")

    answer = toolcrib("up", "--json")

    assert (answer.code, answer.error["kind"]) == (2, "config")


def test_the_hosts_own_log_is_for_this_user_alone(toolcrib: CommandLine, up: Process) -> None:
    toolcrib("add", "absent", "--yes", "--as-is", "--", "/no/such/program")

    log = toolcrib.home / "state" / "host.log"
    facts = eventually(lambda: [json.loads(line) for line in lines_of(log)])
    assert facts[0]["server"] == "absent"
    assert log.stat().st_mode & 0o077 == 0


def test_a_home_with_a_long_name_has_its_socket_inside(toolcrib: CommandLine) -> None:
    toolcrib.home = toolcrib.home / ("long" * 30)
    host = toolcrib.start("up", "--json", real=True)
    assert host.stdout is not None
    socket = Path(json.loads(host.stdout.readline())["socket"])

    try:
        assert socket.is_relative_to(toolcrib.home)
        assert socket.parent.stat().st_mode & 0o777 == 0o700
        assert toolcrib("stop", "demo", "--json").json["state"] == "disabled"
    finally:
        host.terminate()
        host.communicate(timeout=DEADLINE)
