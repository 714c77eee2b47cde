"""MCP Inspector's command line: a process for each thing, and `mcpdo`, which stays connected and is asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.gateway.clients import install

# The first run installs it, which has a deadline of its own.
pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(900)]
DEADLINE = 60.0
MCPDO = "mcpdo/build/mcp-bin.js"
every_era = pytest.mark.parametrize("era", ["legacy", "modern"])

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home of its own; nothing of it goes into a keyring."""
    home = str(tmp_path_factory.mktemp("inspector"))
    return {**os.environ, "HOME": home, "MCP_INSPECTOR_SECRET_STORE": "file"}


def answer_of(done: subprocess.CompletedProcess[str]) -> Any:
    """What it printed, which is JSON."""
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def inspect(gateway, environment) -> Ask:
    """Has the Inspector do one thing, in an era, with these options."""

    def do(era: str, method: str, *options: str, target: tuple[str, ...] = (gateway.url,)) -> Any:
        command = [*install.inspector(), "--cli", *target, "--protocol-era", era, "--format", "json"]
        return answer_of(run([*command, "--method", method, *options], environment))["result"]

    return do


def run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
        timeout=DEADLINE,
    )


def text_of(result: Any) -> str:
    """The text that a tool answered with."""
    return result["content"][0]["text"]


def until(condition: Callable[[], bool]) -> None:
    """Look again and again; each look is a process or more, so it needs no pause."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline


@every_era
def test_it_lists_the_tools(inspect, era):
    names = {tool["name"] for tool in inspect(era, "tools/list")["tools"]}
    assert {"old__echo", "new__echo"} <= names


def test_it_lists_the_tools_of_a_gateway_that_it_starts(inspect, gateway):
    def listed() -> bool:
        """A server that takes long to start is not in a first list."""
        tools = inspect("auto", "tools/list", target=gateway.stdio)["tools"]
        return "old__echo" in {tool["name"] for tool in tools}

    until(listed)


@every_era
@pytest.mark.parametrize("back", ["old", "new"])
def test_it_gets_the_result_of_a_call(inspect, era, back):
    result = inspect(era, "tools/call", "--tool-name", f"{back}__echo", "--tool-arg", "text=hello")
    assert text_of(result) == "hello"


@every_era
def test_it_reads_a_resource(inspect, era):
    assert inspect(era, "resources/read", "--uri", "note://old")["contents"][0]["text"] == "the note of old"


@every_era
def test_it_gets_a_prompt(inspect, era):
    prompt = inspect(era, "prompts/get", "--prompt-name", "new__review", "--prompt-args", "title=Ulysses")
    assert prompt["messages"][0]["content"]["text"] == "Review Ulysses."


@pytest.mark.parametrize("back", ["old", "new"])
def test_a_call_that_is_interrupted_is_cancelled_in_the_server(inspect, gateway, environment, back):
    """In the newer era, where to leave is to give up; in the older one a client may come back for it."""
    call = ["--method", "tools/call", "--tool-name", f"{back}__wait", "--tool-arg", "key=inspector"]
    command = [*install.inspector(), "--cli", gateway.url, "--protocol-era", "modern", *call]

    def fate() -> str:
        return text_of(
            inspect("modern", "tools/call", "--tool-name", f"{back}__fate", "--tool-arg", "key=inspector")
        )

    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        until(lambda: fate() == "started")
        process.send_signal(signal.SIGINT)
        process.wait(DEADLINE)
    until(lambda: fate() == "cancelled")


@pytest.fixture(scope="module")
def mcpdo(environment) -> Iterator[Ask]:
    """Has the Inspector's daemon do something."""

    def do(*words: str) -> Any:
        return answer_of(run([*install.inspector(MCPDO), "--format", "json", *words], environment))

    yield do
    do("daemon", "stop")


@pytest.fixture(scope="module", params=["legacy", "modern"])
def connection(request: pytest.FixtureRequest, mcpdo, gateway) -> str:
    """The name of a connection of the daemon, in an era."""
    name = f"in-{request.param}"
    connected = mcpdo("connect", gateway.url, "--connection", name, "--era", request.param)
    assert connected["protocolEra"] == request.param
    return name


@pytest.mark.parametrize("back", ["old", "new"])
def test_it_is_asked_and_the_call_goes_on_with_its_answer(mcpdo, connection, back):
    asked = mcpdo("--connection", connection, "tools/call", f"{back}__greet")["elicitationPending"]
    assert asked["message"] == "Who are you?"
    assert text_of(mcpdo("elicitation/respond", asked["elicitationId"], "name:=Ada")) == "Hello Ada"
