"""The container: what its files name exists, its script passes connections on; with Docker the image runs."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from ruamel.yaml import YAML

from tests.cli.command_line import PROGRAM
from tests.cli.waiting import eventually
from tests.distribution.building import DEADLINE, PYTHONS, ROOT, run

SCRIPT = ROOT / "scripts" / "container.sh"
ADDRESS = "127.0.0.2"
"""Stands for the container's own address."""


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile: each word with what follows, lines joined."""
    text = (ROOT / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def told(word: str) -> list[str]:
    return [rest for found, rest in instructions() if found == word]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(ROOT / "compose.yaml")
    return found


def is_sent(path: str) -> bool:
    """Whether .dockerignore leaves this path in what Docker sees."""
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    sent = True
    for rule in rules:
        pattern = rule.removeprefix("!").removeprefix("**/")
        parents = [path, *(str(parent) for parent in Path(path).parents)]
        if any(fnmatch.fnmatch(one, pattern) for one in parents):
            sent = rule.startswith("!")
    return sent


def test_what_is_copied_exists_and_is_sent_to_docker() -> None:
    copied = [rest.split() for rest in told("COPY") if "--from=" not in rest]
    sources = [word for words in copied for word in words[:-1] if not word.startswith("--")]

    assert {"src", "frontend", "pyproject.toml", "scripts/container.sh"} <= {*sources}
    assert [path for path in sources if not (ROOT / path).exists()] == []
    assert [path for path in sources if not is_sent(path)] == []
    assert not is_sent("database-password.txt")
    assert not is_sent("src/toolcrib/web/static/index.html")


def test_the_image_follows_the_usual_rules() -> None:
    bases = [rest.split()[0] for rest in told("FROM")]
    (installing,) = [rest for rest in told("RUN") if "apt-get install" in rest]

    assert all(re.fullmatch(r"python:(\d+\.\d+)-slim-bookworm", base) for base in bases)
    assert {base.partition(":")[2].partition("-")[0] for base in bases} <= {*PYTHONS}
    assert "apt-get update" in installing
    assert "--no-install-recommends" in installing
    assert "rm -rf /var/lib/apt/lists/*" in installing
    assert "ADD" not in {word for word, _ in instructions()}
    assert all(json.loads(rest) for rest in told("CMD"))


def test_it_runs_as_a_user_of_its_own_whose_home_is_the_volume(compose: dict[str, Any]) -> None:
    last = [word for word, _ in instructions()]
    (user,), (volume,) = told("USER"), told("VOLUME")
    making = " ".join(told("RUN"))

    assert last.index("USER") < last.index("CMD")
    assert re.search(rf"useradd --uid \d+ .* {user}\b", making)
    assert f"--owner={user}" in making
    assert f"--mode=0700 {volume}" in making
    assert f"TOOLCRIB_HOME={volume} " in " ".join(told("ENV"))
    assert compose["services"]["toolcrib"]["volumes"] == [f"crib:{volume}"]


def test_what_it_runs_exists() -> None:
    installed = [rest.split() for rest in told("COPY") if "container.sh" in rest]
    command, health = json.loads(told("CMD")[0]), json.loads(told("HEALTHCHECK")[0].partition("CMD ")[2])
    (line,) = re.findall(r"^exec toolcrib (.*) >/dev/null$", SCRIPT.read_text(), re.MULTILINE)
    words = [word for word in line.split() if not word.startswith('"')]
    options = run([str(PROGRAM), words[0], "--help"])

    assert installed[0][-1] == f"/usr/local/bin/{command[0]}"
    assert health == [command[0], "health"]
    assert words == ["up", "--no-browser", "--port"]
    assert all(word in options for word in words[1:])
    assert os.access(SCRIPT, os.X_OK)


def test_the_port_is_published_to_this_machine_alone(compose: dict[str, Any]) -> None:
    (exposed,) = told("EXPOSE")
    (port,) = re.findall(r"TOOLCRIB_PORT:-(\d+)", SCRIPT.read_text())
    service = compose["services"]["toolcrib"]

    assert exposed == port
    assert service["ports"] == [f"127.0.0.1:${{TOOLCRIB_PORT:-{port}}}:${{TOOLCRIB_PORT:-{port}}}"]
    assert service["environment"] == {"TOOLCRIB_PORT": f"${{TOOLCRIB_PORT:-{port}}}"}
    assert "ports" not in compose["services"]["postgres"]


def test_everything_that_a_service_names_is_declared(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        named = [volume.partition(":")[0] for volume in service["volumes"]]
        assert {*named} <= {*compose["volumes"]}
        assert {*service["networks"]} <= {*compose["networks"]}
        assert {*service["secrets"]} <= {*compose["secrets"]}
        assert {*service.get("depends_on", ())} <= {*compose["services"]}
    assert compose["networks"]["database"] == {"internal": True}
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert Path(compose["secrets"]["database_password"]["file"]).name in ignored


@pytest.fixture
def container(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The script as the container runs it, on an address of its own; the variables of its programs."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "hostname").write_text(f"#!/bin/sh\necho {ADDRESS} 172.17.0.2\n")
    (programs / "hostname").chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {
        "PATH": f"{programs}:{PROGRAM.parent}:/usr/bin:/bin",
        "TOOLCRIB_HOME": str(tmp_path / "crib"),
        "TOOLCRIB_KEYRING": "off",
        "TOOLCRIB_PORT": str(port),
    }
    with subprocess.Popen([SCRIPT], env=variables, stdout=subprocess.PIPE, start_new_session=True) as host:
        try:
            yield variables
        finally:
            os.killpg(host.pid, signal.SIGTERM)
            out, _ = host.communicate(timeout=DEADLINE)
    assert out == b""  # no address that signs anybody in


@pytest.mark.acceptance
def test_the_page_is_reached_from_outside_and_only_under_the_name_of_this_machine(
    container: dict[str, str],
) -> None:
    port = container["TOOLCRIB_PORT"]

    def is_healthy() -> bool:
        asked = subprocess.run(
            [SCRIPT, "health"], env=container, capture_output=True, check=False, timeout=60
        )
        return asked.returncode == 0

    eventually(is_healthy)
    request = Request(f"http://{ADDRESS}:{port}/", headers={"Host": f"127.0.0.1:{port}"})
    with urlopen(request, timeout=60) as answer:
        assert '<div id="root">' in answer.read().decode()
    opened = run([str(PROGRAM), "open", "--json", "--no-browser"], env=container)
    assert json.loads(opened)["url"].startswith(f"http://127.0.0.1:{port}/#key=")


@cache
def docker_runs() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=60).returncode == 0


@pytest.mark.acceptance
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("docker", [docker_runs()], ids=["docker" if docker_runs() else "no-docker-here"])
def test_the_image_is_built_and_becomes_healthy(docker: bool) -> None:
    if not docker:  # the files are checked by reading, above
        assert run(["sh", "-n", str(SCRIPT)]) == ""
        return
    run(["docker", "build", "--tag", "toolcrib-test", "."])
    name = run(["docker", "run", "--detach", "--rm", "--init", "toolcrib-test"]).strip()
    try:
        state = ["docker", "inspect", "--format", "{{.State.Health.Status}}", name]
        eventually(lambda: run(state).strip() == "healthy", deadline=120)
        called = run(["docker", "exec", name, "toolcrib", "call", "demo__add", "a=1", "b=2"])
        assert called == "3\n"
    finally:
        run(["docker", "stop", name])
