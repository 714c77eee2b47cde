"""An installed package adds one extension of each kind, and each is found and used like ours.

The package is a real distribution: modules and a `.dist-info` with entry points, on the path of a process.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.other_package import install, run

pytestmark = pytest.mark.acceptance  # starts many programs, one after the other
MODULES = {
    "pigeon": '''
"""Transport: servers that are reached through a pigeon, which keeps them in this process."""
from contextlib import asynccontextmanager
from dataclasses import dataclass
from toolcrib.config.sections import full_text
from toolcrib.config.sections import Section
from toolcrib.servers.transport import Traits
from toolcrib.servers.transports import inprocess
TRAITS = Traits(title="carrier pigeon", first_word="loft")
@dataclass(frozen=True, kw_only=True)
class Spec(Section):
    """The keys of a `pigeon` entry."""
    loft: str = full_text()
@asynccontextmanager
async def open(spec, inbox, context):
    """Open it."""
    async with inprocess.open(inprocess.Spec(module=spec.loft), inbox, context) as link:
        yield link
''',
    "parrot": '''
"""Provider: repeats the question."""
from toolcrib.llm.context import ModelVendor
from toolcrib.llm.providers.demo import Demo
VENDOR = ModelVendor(name="parrot", title="Parrot", keys=("PARROT_KEY",))
def open_model(model, context):
    """There is one."""
    return Demo()
''',
    "letters": '''
"""Embedder: counts letters."""
import numpy as np
from toolcrib.retrieval.embedder import Embedded, QueryVectors
class Letters:
    id, dimension, token_width = "letters-1", 26, 0
    def embed(self, passages):
        return [Embedded(self._vector(text)) for text in passages]
    def read(self, question, spans):
        return [QueryVectors(self._vector(text)) for text in (question, *(question[a:b] for a, b in spans))]
    def _vector(self, text):
        counts = np.array([text.lower().count(chr(97 + n)) + 0.01 for n in range(26)], dtype=np.float32)
        return counts / np.linalg.norm(counts)
def open(settings):
    """There is one."""
    return Letters()
''',
    "crate": '''
"""Installer: servers that come in a crate."""
def recognises(reference):
    return reference.startswith("crate:")
async def plan(request, context): ...
async def apply(plan, folder, context): ...
async def newest(record, context): ...
''',
    "echo": '''
"""Bundled server: says what it hears."""
from toolcrib.serverkit import ToolServer
def create(arguments=()):
    server = ToolServer("echo", "1", "Says what it hears.")
    @server.tool()
    def say(text: str) -> str:
        """Say it."""
        return text
    return server
''',
    "perch": '''
"""Desktop backend: a perch."""
PLATFORM = "aviary"
def user_target():
    return "perch"
def probe(target):
    return []
async def open_backend(target): ...
''',
    "quiet": '''
"""Rule: nothing may be shouted."""
from toolcrib.schema.approvals import RuleResult
def check(call, facts):
    """Deny capital letters."""
    if str(call.arguments.get("text", "")).isupper():
        return RuleResult(effect="deny", rule="quiet", reason="Nothing may be shouted.")
    return None
''',
    "coo": '''
"""Command: coos."""
import click
@click.command(help="Coo once.")
def command():
    click.echo("coo")
''',
    "lofts": '''
"""Check: counts lofts."""
from toolcrib.operations.health import ok
async def check(place):
    return [ok("lofts", "There is one loft.")]
''',
    "counting": '''
"""Operations: counting."""
from toolcrib.operations.operation import operation
@operation()
async def count(host, to: int) -> list[int]:
    """Count."""
    return list(range(to))
''',
    "nest": '''
"""Account provider: nests."""
from toolcrib.accounts.provider import AccountCheck, AccountDraft, AccountField
TITLE, ABOUT, SERVICES = "Nest", "A nest.", ("echo",)
FIELDS = (AccountField(key="password", label="Password", secret=True),)
async def prepare(name, given):
    return AccountDraft(user=name, settings={}, secret=given["password"])
async def check(account, secret):
    return AccountCheck(identity=account.user)
''',
    "roost": '''
"""Feature: a roost, with a command and an operation of its own."""
from toolcrib.feature import Feature
FEATURE = Feature(
    name="roost",
    title="Roost",
    package="aviary",
    docs="roost",
    operations=("sleeping",),
    commands={"roost": "settling"},
)
''',
    "settling": '''
"""Command: settles on the roost."""
import click
@click.command(help="Settle on the roost.")
def command():
    click.echo("settled")
''',
    "sleeping": '''
"""Operations: sleeping."""
from toolcrib.operations.operation import operation
@operation()
async def sleep_until(host, hour: int) -> int:
    """Sleep."""
    return hour
''',
    "flights": '''
"""Gateway method."""
async def fly(front, request, wire):
    return {}
METHODS = {"flights/list": fly}
''',
}
GROUPS = {
    "toolcrib.servers.transports": "pigeon",
    "toolcrib.llm.providers": "parrot",
    "toolcrib.retrieval.embedders": "letters",
    "toolcrib.servers.installers": "crate",
    "toolcrib.bundled": "echo",
    "toolcrib.bundled.desktop.backends": "perch",
    "toolcrib.approvals.rules": "quiet",
    "toolcrib.cli.commands": "coo",
    "toolcrib.operations.checks": "lofts",
    "toolcrib.operations": "counting",
    "toolcrib.gateway.methods": "flights",
    "toolcrib.features.accounts.providers": "nest",
    "toolcrib.features": "roost",
}
HOST = """
import asyncio, pathlib, toolcrib
async def main():
    async with toolcrib.open_host(pathlib.Path("home")) as host:
        {body}
asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with the package installed for it, and a home with a server that it reaches."""
    install(tmp_path, MODULES, GROUPS)
    servers = {"loft": {"type": "pigeon", "loft": "aviary.echo"}}
    (tmp_path / "home" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return tmp_path


def told(folder: Path, body: str) -> Any:
    """What a program with an open host prints."""
    return json.loads(run(folder, "-c", HOST.format(body=body)))


@pytest.mark.parametrize(("group", "name"), GROUPS.items())
def test_an_extension_of_another_package_is_found(folder: Path, group: str, name: str) -> None:
    program = f"from toolcrib import plugins; print({name!r} in plugins.names({group!r}))"
    found = run(folder, "-c", f"{program}; print(plugins.find({group!r}, {name!r}).__name__)")

    assert found.split() == ["True", f"aviary.{name}"]


def test_a_server_is_reached_over_a_transport_of_another_package(folder: Path) -> None:
    body = 'import json; print(json.dumps(await host.call("loft__say", {"text": "hello"})))'

    result = told(folder, body.replace("{", "{{").replace("}", "}}").format())

    assert result["content"][0]["text"] == "hello"


def test_a_transport_of_another_package_is_offered_by_add(folder: Path) -> None:
    shown = " ".join(run(folder, "-m", "toolcrib", "add", "--help").split())
    run(
        folder,
        "-m",
        "toolcrib",
        "add",
        "new",
        "--type",
        "pigeon",
        "--disabled",
        "--yes",
        "--",
        "https://x.example/",
    )
    servers = json.loads((folder / "home" / "mcp.json").read_text())["mcpServers"]

    assert "pigeon" in shown
    assert servers["new"]["loft"] == "https://x.example/"


def test_a_rule_of_another_package_denies(folder: Path) -> None:
    refused = run(folder, "-m", "toolcrib", "call", "loft__say", "text=HELLO", "--json", code=4)

    assert "Nothing may be shouted." in refused


def test_a_model_of_another_package_answers(folder: Path) -> None:
    answer = run(folder, "-m", "toolcrib", "ask", "--model", "parrot:grey", "hello")

    assert "demo model" in answer


def test_an_embedder_of_another_package_makes_vectors(folder: Path) -> None:
    program = (
        "from toolcrib.retrieval.embedder import EmbedderChoice, open_embedder\n"
        "print(len(open_embedder(EmbedderChoice('letters')).embed(['abc'])[0].vector))"
    )

    assert run(folder, "-c", program).strip() == "26"


def test_an_installer_of_another_package_is_chosen_by_its_references(folder: Path) -> None:
    program = "from toolcrib.servers.installers.engine.installations import find_installer\n"

    assert "crate" in run(folder, "-c", program + "print(find_installer('crate:hens')[1])")


def test_a_desktop_backend_of_another_package_is_chosen_by_its_platform(folder: Path) -> None:
    program = "from toolcrib.bundled.desktop.backends import backend_module\n"

    assert run(folder, "-c", program + "print(backend_module('aviary').user_target())").strip() == "perch"


def test_a_command_of_another_package_is_listed_and_runs(folder: Path) -> None:
    assert "Coo once." in run(folder, "-m", "toolcrib", "--help")
    assert run(folder, "-m", "toolcrib", "coo").strip() == "coo"


def test_a_check_of_another_package_is_part_of_the_doctor(folder: Path) -> None:
    checks = json.loads(run(folder, "-m", "toolcrib", "doctor", "--json"))["checks"]

    assert {"name": "lofts", "verdict": "ok"}.items() <= next(
        one for one in checks if one["name"] == "lofts"
    ).items()


def test_an_operation_of_another_package_runs_and_is_not_offered_to_pages(folder: Path) -> None:
    program = (
        "from toolcrib.operations.registry import operations, perform; "
        "import json; found = await perform(host, 'count', dict(to=3), None); "
        "print(json.dumps([found, [one.page for one in operations() if one.name == 'count']]))"
    )

    assert told(folder, program) == [[0, 1, 2], [False]]


def test_a_feature_of_another_package_brings_a_command_and_an_operation(folder: Path) -> None:
    program = (
        "from toolcrib.operations.registry import perform; "
        "import json; print(json.dumps(await perform(host, 'sleep_until', dict(hour=7), None)))"
    )

    assert "Settle on the roost." in run(folder, "-m", "toolcrib", "--help")
    assert run(folder, "-m", "toolcrib", "roost").strip() == "settled"
    assert told(folder, program) == 7


def test_a_gateway_method_of_another_package_has_a_handler(folder: Path) -> None:
    program = "from toolcrib.gateway.client import _handlers; print('flights/list' in _handlers(True))"

    assert run(folder, "-c", program).strip() == "True"


def test_an_account_of_another_package_turns_its_server_on(folder: Path) -> None:
    words = ("-m", "toolcrib", "account", "add", "nest", "mine", "--password-stdin", "--json")
    added = json.loads(run(folder, *words, stdin="twigs"))

    servers = json.loads((folder / "home" / "mcp.json").read_text())["mcpServers"]
    assert added["servers_added"] == ["echo"]
    assert servers["echo"] == {"type": "inprocess", "module": "aviary.echo"}
    assert "hello" in run(folder, "-m", "toolcrib", "call", "echo__say", "text=hello")


def test_a_package_cannot_take_the_place_of_a_built_in(folder: Path) -> None:
    points = folder / "site" / "aviary-1.0.dist-info" / "entry_points.txt"
    points.write_text("[toolcrib.servers.transports]\nstdio = aviary.pigeon\n")
    program = "from toolcrib.servers.transport import find_transport; print(find_transport('stdio').__name__)"

    assert run(folder, "-c", program).strip() == "toolcrib.servers.transports.stdio"
