"""From an entry of an installed type to the command that starts it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.children import Ear
from tests.servers.puppets import PROGRAMS
from toolcrib.errors import ConfigError
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import custom, npm, python, stdio

LAUNCH = {"command": "/opt/node", "args": ["/opt/server.js"], "env": {"A": "launch", "B": "launch"}, "x": 1}


@pytest.fixture
def context(tmp_path: Path) -> LinkContext:
    return LinkContext(server="srv", installs=tmp_path / "servers")


def install(context: LinkContext, content: Any) -> Path:
    assert context.installs is not None
    file = context.installs / "srv" / "current" / "launch.json"
    file.parent.mkdir(parents=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


@pytest.mark.parametrize(
    ("transport", "spec"),
    [(npm, {"package": "p"}), (python, {"module": "m"}), (custom, {"sourcePath": "/somewhere"})],
)
def test_what_is_installed_is_started_as_the_installer_noted(transport: Any, spec: Any, context: LinkContext):
    install(context, LAUNCH)
    entry = {**spec, "args": ["--flag"], "env": {"B": "entry"}, "cwd": "/work"}
    assert transport.resolve(transport.Spec.read(entry), context) == stdio.StdioSpec(
        command="/opt/node",
        args=("/opt/server.js", "--flag"),
        env={"A": "launch", "B": "entry"},
        cwd="/work",
    )


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "null", {"args": []}, {"command": ""}, {"command": 5}, {"command": "x", "args": "y"}],
)
@pytest.mark.parametrize("transport", [npm, python, custom])
def test_a_damaged_installation_is_named(transport: Any, content: Any, context: LinkContext):
    install(context, content)
    spec = transport.Spec.read({"module": "m", "package": "p"})
    with pytest.raises(ConfigError, match="The installation of srv is damaged") as caught:
        transport.resolve(spec, context)
    assert caught.value.hint == "Reinstall srv."


def test_a_folder_in_place_of_the_note_is_damage_too(context: LinkContext):
    install(context, LAUNCH).unlink()
    assert context.installs is not None
    (context.installs / "srv" / "current" / "launch.json").mkdir()
    with pytest.raises(ConfigError, match="damaged"):
        python.resolve(python.PythonSpec(module="m"), context)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (npm.NpmSpec(package="@scope/server"), "The npm package @scope/server is not installed for srv"),
        (npm.NpmSpec(tarball_path="/a.tgz"), "The npm package /a.tgz is not installed for srv"),
        (npm.NpmSpec(), "The npm package . is not installed for srv"),
        (custom.CustomSpec(), "The executable is not installed for srv"),
    ],
)
@pytest.mark.parametrize("installs", [True, False])
def test_what_is_not_installed_needs_a_person(spec: Any, words: str, installs: bool, context: LinkContext):
    transport = npm if isinstance(spec, npm.NpmSpec) else custom
    with pytest.raises(ConfigError, match=words) as caught:
        transport.resolve(spec, context if installs else LinkContext(server="srv"))
    assert "command" in caught.value.hint


def test_an_npm_entry_may_bring_its_own_command(context: LinkContext):
    install(context, LAUNCH)
    spec = npm.NpmSpec(package="p", command="npx", args=("-y", "p"), env={"A": "1"}, cwd="/w")
    assert npm.resolve(spec, context) == stdio.StdioSpec(
        command="npx", args=("-y", "p"), env={"A": "1"}, cwd="/w"
    )


def test_a_python_module_that_is_not_installed_runs_under_our_interpreter_or_the_named_one(
    context: LinkContext,
):
    spec = python.PythonSpec(module="a.b", args=("x",), env={"A": "1"}, cwd="/w")
    assert python.resolve(spec, context) == stdio.StdioSpec(
        command=sys.executable, args=("-m", "a.b", "x"), env={"A": "1"}, cwd="/w"
    )
    other = python.PythonSpec(module="a.b", command="python9")
    assert python.resolve(other, context) == stdio.StdioSpec(command="python9", args=("-m", "a.b"))


def test_a_custom_executable_runs_in_its_own_folder(context: LinkContext):
    spec = custom.CustomSpec(command="./run", args=("x",), source_path="/opt/it")
    assert custom.resolve(spec, context) == stdio.StdioSpec(command="./run", args=("x",), cwd="/opt/it")
    elsewhere = custom.CustomSpec(command="./run", source_path="/opt/it", cwd="/w")
    assert custom.resolve(elsewhere, context).cwd == "/w"


async def test_each_of_them_opens_a_link_to_what_it_resolved_to(context: LinkContext, tidy):
    program = PROGRAMS / "misbehave.py"
    install(context, {"command": sys.executable, "args": ["-S", str(program)]})
    for transport, spec in (
        (npm, npm.NpmSpec(package="p", args=("mute",))),
        (python, python.PythonSpec(module="m", args=("mute",))),
        (custom, custom.CustomSpec(args=("mute",))),
    ):
        ear = Ear()
        async with transport.open(spec, ear, context) as link:
            assert await ear.said() == {"ready": True}
            assert link.pid is not None


async def test_a_module_runs(tidy, tmp_path: Path):
    ear = Ear()
    spec = python.PythonSpec(module="misbehave", args=("mute",), env={"PYTHONPATH": str(PROGRAMS)})
    async with python.open(spec, ear, LinkContext(server="srv", installs=tmp_path)):
        assert await ear.said() == {"ready": True}
