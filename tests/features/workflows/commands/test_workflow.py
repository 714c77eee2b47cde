"""`toolcrib workflow` and `toolcrib worker`: what they print, and how they exit."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, Process
from tests.cli.test_json_promise import examples, shape
from tests.features.workflows.host.workflow_sample import add, chain

DEADLINE = 60.0
SUM = chain(
    "sum",
    {"add": add("{{input.a}}", "{{input.b}}")},
    {"sum": "{{add.data.result}}"},
    inputs={"a": {"type": "integer"}, "b": {"type": "integer", "default": 25}},
)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "sum.json"
    path.write_text(json.dumps(SUM))
    return str(path)


def test_a_file_is_validated_run_and_shown_as_documented(toolcrib: CommandLine, file: str) -> None:
    invalid, result, runs, run, *_ = examples("workflow")

    checked = toolcrib("workflow", "validate", file, "--json")
    ran = toolcrib("workflow", "run", file, "--input", "a=17", "--json")
    shown = toolcrib("workflow", "show", "last", "--json").json

    assert (checked.code, checked.json) == (0, {"ok": True, "problems": []})
    assert (ran.code, ran.json["state"], ran.json["outputs"]) == (0, "finished", {"sum": 42})
    assert shape(ran.json) == shape(result)
    assert shape(toolcrib("workflow", "runs", "--json").json) == shape(runs)
    assert shape(shown) == shape(run)
    assert shape(shown["steps"]) == shape(run["steps"])
    assert shown["run"] == ran.json["run"]
    assert shape(invalid["problems"]) == [["node", "message", "hint", "warning"]]


def test_a_problem_is_printed_with_its_node_and_exits_with_two(toolcrib: CommandLine, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(chain("broken", {"add": {"type": "McpToolCal", "settings": {}}})))

    checked = toolcrib("workflow", "validate", str(broken), "--json")
    plain = toolcrib("workflow", "validate", str(broken))

    assert checked.code == plain.code == 2
    assert checked.json["ok"] is False
    assert [problem["node"] for problem in checked.json["problems"]] == ["add"]
    assert "McpToolCall" in plain.out
    assert toolcrib("workflow", "run", str(broken), "--json").error["kind"] == "invalid_workflow"


@pytest.mark.acceptance
def test_a_stored_workflow_is_run_by_name_exported_and_removed(toolcrib: CommandLine, file: str) -> None:
    assert toolcrib("workflow", "import", file).code == 0
    assert toolcrib("workflow", "import", file, "--json").error["kind"] == "conflict"

    ran = toolcrib("workflow", "run", "sum", "--input", "a=1", "--input", "b:=2", "--yes")
    exported = toolcrib("workflow", "export", "sum")

    assert (ran.code, ran.out) == (0, "sum: 3.0\n")
    assert "done      add" in ran.err
    assert json.loads(exported.out)["nodes"] == SUM["nodes"]
    assert [one["name"] for one in toolcrib("workflow", "list", "--json").json] == ["sum"]
    assert toolcrib("workflow", "remove", "sum", "--yes").code == 0
    assert toolcrib("workflow", "run", "sum", "--json").error["kind"] == "not_found"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--input", "a=many"), "'a' must be an integer"),
        ((), "'a' of sum is missing"),
        (("--input", "c=1"), "no input 'c'"),
        (("--input", "a"), "is not KEY=VALUE"),
    ],
)
def test_a_wrong_input_starts_no_run(
    toolcrib: CommandLine, file: str, words: tuple[str, ...], message: str
) -> None:
    answer = toolcrib("workflow", "run", file, *words, "--json")

    assert answer.code == 2
    assert message in answer.error["message"]


def test_a_failed_run_exits_with_six_and_says_why(toolcrib: CommandLine, tmp_path: Path) -> None:
    failing = tmp_path / "failing.json"
    code = {"type": "Code", "settings": {"code": "return 1 / 0"}}
    failing.write_text(json.dumps(chain("failing", {"divide": code})))

    answer = toolcrib("workflow", "run", str(failing))

    assert answer.code == 6
    assert "division by zero" in answer.err


def test_a_run_in_the_background_needs_a_running_host(toolcrib: CommandLine, file: str) -> None:
    answer = toolcrib("workflow", "run", file, "--input", "a=1", "--detach", "--json")

    assert answer.error["kind"] == "no_host"


@pytest.mark.acceptance
def test_a_running_host_continues_a_detached_run_and_pauses_resumes_and_cancels_it(
    toolcrib: CommandLine, up: Process, tmp_path: Path
) -> None:
    slow = tmp_path / "slow.json"
    nodes = {"wait": {"type": "Wait", "settings": {"event": "go"}}, "add": add(1, 2)}
    slow.write_text(json.dumps(chain("slow", nodes, {"sum": "{{add.data.result}}"})))

    first = toolcrib("workflow", "run", str(slow), "--detach", "--json").json
    second = toolcrib("workflow", "run", str(slow), "--detach", "--json").json
    assert toolcrib("workflow", "pause", first["run"]).code == 0
    toolcrib("workflow", "send", first["run"], "go")
    paused = _until(toolcrib, first["run"], "paused")
    resumed = toolcrib("workflow", "resume", first["run"], "--json")
    cancelled = toolcrib("workflow", "cancel", second["run"], "--json")

    assert paused["paused_at"] == ["add"]
    assert (resumed.code, resumed.json["outputs"]) == (0, {"sum": 3})
    assert cancelled.json == {"run": second["run"], "state": "cancelled"}
    again = toolcrib("workflow", "rerun", first["run"], "--from", "add", "--json")
    assert (again.code, again.json["outputs"]) == (0, {"sum": 3})


@pytest.mark.acceptance
def test_ctrl_c_cancels_the_run(toolcrib: CommandLine, tmp_path: Path) -> None:
    slow = tmp_path / "slow.json"
    slow.write_text(json.dumps(chain("slow", {"wait": {"type": "Wait", "settings": {"seconds": 1000}}})))
    process = toolcrib.start("workflow", "run", str(slow), real=True)
    assert process.stderr is not None
    try:
        line = ""
        while "waiting" not in line:
            line = process.stderr.readline()
            assert line, "it ended"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()

    assert process.returncode == 130
    assert "Cancelling the run" in err
    assert toolcrib("workflow", "show", "last", "--json").json["state"] == "cancelled"


@pytest.mark.acceptance
def test_a_worker_announces_itself_and_runs_what_is_started(toolcrib: CommandLine, file: str) -> None:
    (example,) = examples("worker")
    process = toolcrib.start("worker", "--json", real=True)
    assert process.stdout is not None
    try:
        announced = json.loads(process.stdout.readline())
        started = toolcrib("workflow", "run", file, "--input", "a=1", "--detach", "--json").json
        ended = _until(toolcrib, started["run"], "finished")
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=DEADLINE)

    assert shape(announced) == shape(example)
    assert ended["worker"] == announced["worker"]
    assert process.returncode == 0


def _until(toolcrib: CommandLine, run: str, state: str) -> Any:
    deadline = time.monotonic() + DEADLINE
    while (shown := toolcrib("workflow", "show", run, "--json").json)["state"] != state:
        assert time.monotonic() < deadline, shown
    return shown


def test_an_imported_workflow_says_what_it_does_and_is_run_after_a_yes(
    toolcrib: CommandLine, file: str
) -> None:
    imported = toolcrib("workflow", "import", file)
    refused = toolcrib("workflow", "run", "sum", "--input", "a=1", "--json")
    agreed = toolcrib("workflow", "run", "sum", "--input", "a=1", "--yes", "--json")
    again = toolcrib("workflow", "run", "sum", "--input", "a=1", "--json")

    assert "Calls demo__add" in imported.out
    assert refused.error["kind"] == "denied"
    assert "--yes" in refused.error["hint"]
    assert (agreed.json["state"], again.json["state"]) == ("finished", "finished")
