"""Bundles and `server.json`: what they ask becomes questions, what is secret a secret; nothing leads out."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.servers.installers.conftest import Tell
from tests.servers.installers.packages import bundle, manifest, wheel
from tests.servers.remote.scripted import Call, Reply, scripted
from toolcrib.errors import InstallFailed, NetworkRefused, UsageError
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.installers.engine.plan import fill


def start(**config: Any) -> dict[str, Any]:
    """A server part that starts so."""
    return {"type": "binary", "entry_point": "server/main.py", "mcp_config": config}


async def test_a_bundle_is_unpacked_asked_and_started(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    file = bundle(tmp_path / "hello.mcpb", manifest())

    plan = await installations.plan(str(file), "hello", offline=True)
    filled = fill("hello", plan.entry, plan.questions, {"dirs": ["/a", "/b ${HOME}"], "key": "hunter2"})
    installed = await installations.apply(plan, offline=True)

    assert [(one.key, one.required, one.secret) for one in plan.questions] == [
        ("dirs", True, False),
        ("key", False, True),
    ]
    assert "The bundle is not signed." in plan.remarks
    assert filled.secrets == {"hello.key": "hunter2"}
    assert "hunter2" not in json.dumps(filled.entry)
    told = await tell("hello", filled.entry)
    assert told["args"] == ["/a", "/b ${HOME}"]
    assert told["env"]["API_KEY"] == "value of hello.key"
    assert told["env"]["HERE"] == str(installations.place("hello").folder / "current" / "content")
    assert told["cwd"] == str(installed.folder / "content")


async def test_what_must_be_answered_is_asked_for(installations: Installations, tmp_path: Path) -> None:
    plan = await installations.plan(str(bundle(tmp_path / "hello.dxt", manifest())), "hello")

    with pytest.raises(UsageError, match="Folders") as caught:
        fill("hello", plan.entry, plan.questions, {})
    assert "--set dirs=" in caught.value.hint
    with pytest.raises(UsageError, match="no setting"):
        fill("hello", plan.entry, plan.questions, {"dirs": "/a", "other": "x"})
    assert "env" not in fill("hello", {"env": {"K": "${answer:key}"}}, plan.questions, {"dirs": "/a"}).entry


async def test_a_bundle_may_not_reach_for_the_persons_variables(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    config = {"command": "python", "args": ["${__dirname}/server/main.py"], "env": {"X": "${OPENAI_API_KEY}"}}
    server = {"type": "python", "entry_point": "server/main.py", "mcp_config": config}
    file = bundle(tmp_path / "hello.mcpb", manifest(server=server, user_config={}))

    plan = await installations.plan(str(file), "hello")
    await installations.apply(plan)

    assert (await tell("hello", fill("hello", plan.entry, (), {}).entry))["env"]["X"] == "${OPENAI_API_KEY}"


async def test_a_program_of_the_bundle_becomes_executable(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    file = bundle(
        tmp_path / "b.mcpb", manifest(server=start(command="${__dirname}/server/main.py"), user_config={})
    )

    plan = await installations.plan(str(file), "b")
    await installations.apply(plan)

    assert (await tell("b", fill("b", plan.entry, (), {}).entry))["args"] == []


async def test_a_command_outside_the_bundle_is_shown_as_it_is(
    installations: Installations, tmp_path: Path
) -> None:
    file = bundle(
        tmp_path / "b.mcpb", manifest(server=start(command="/bin/sh", args=["-c", "id"]), user_config={})
    )

    plan = await installations.plan(str(file), "b")

    assert (plan.launch.command, plan.launch.args) == ("/bin/sh", ("-c", "id"))
    assert any("not part of the bundle" in remark for remark in plan.remarks)


@pytest.mark.parametrize(
    "changes",
    [
        {"server": start(command="${__dirname}/../../x")},
        {"server": {"type": "node", "entry_point": "../../x.js"}},
        {"server": {"type": "node", "entry_point": "/etc/x.js"}},
        {"server": {"type": "node", "entry_point": "absent.js"}},
        {"server": {"type": "spaceship", "entry_point": "x"}},
        {"version": 7},
        {"compatibility": {"platforms": ["plan9"]}},
    ],
)
async def test_a_manifest_that_is_wrong_or_leads_outside_is_refused(
    installations: Installations, tmp_path: Path, changes: dict[str, Any]
) -> None:
    file = bundle(tmp_path / "b.mcpb", manifest(user_config={}, **changes))

    with pytest.raises(InstallFailed):
        await installations.plan(str(file), "b")


async def test_a_hostile_bundle_leaves_nothing_behind(installations: Installations, tmp_path: Path) -> None:
    file = bundle(tmp_path / "b.mcpb", manifest(), {"../../PWN": "x"})

    with pytest.raises(InstallFailed, match="outside the archive"):
        await installations.plan(str(file), "b")

    assert list(tmp_path.rglob("PWN")) == []


async def test_a_bundle_that_wants_packages_gets_them_beforehand(
    installations: Installations, tell: Tell, environ: dict[str, str], tmp_path: Path
) -> None:
    tool_catalog = tmp_path / "shelf"
    wheel(tool_catalog, name="other-part")
    environ |= {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tool_catalog)}
    server = {
        "type": "uv",
        "entry_point": "server/main.py",
        "mcp_config": {
            "command": "uv",
            "args": ["run", "--directory", "${__dirname}", "server/main.py", "--flag"],
        },
    }
    project = '[project]\nname = "hello"\nversion = "1"\ndependencies = ["other-part"]\n'
    file = bundle(tmp_path / "b.mcpb", manifest(server=server, user_config={}), {"pyproject.toml": project})

    plan = await installations.plan(str(file), "b")
    installed = await installations.apply(plan)

    assert plan.fetches == ("other-part==1.0.0",)
    told = await tell("b", fill("b", plan.entry, (), {}).entry)
    assert (told["args"], told["python"]) == (["--flag"], str(installed.folder / "venv"))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that is served on this machine, and its address."""
    folder = tmp_path / "site"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def server_shown(**package: Any) -> str:
    return json.dumps({"name": "io.example/hello", "description": "x", "version": "1", "packages": [package]})


async def test_a_registry_entry_names_a_package_and_what_it_needs(
    installations: Installations, tell: Tell, environ: dict[str, str], tmp_path: Path
) -> None:
    tool_catalog = tmp_path / "shelf"
    wheel(tool_catalog)
    environ |= {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tool_catalog)}
    file = tmp_path / "server.json"
    file.write_text(
        server_shown(
            registryType="pypi",
            identifier="tiny-server",
            version="1.0.0",
            packageArguments=[
                {"type": "positional", "valueHint": "dir", "isRequired": True, "isRepeated": True},
                {"type": "named", "name": "--mode", "default": "a", "choices": ["a", "b"]},
                {"type": "named", "name": "--quiet"},
            ],
            environmentVariables=[
                {"name": "API_KEY", "isRequired": True, "isSecret": True},
                {"name": "FIXED", "value": "v"},
            ],
        )
    )

    plan = await installations.plan(str(file), "hello")
    filled = fill("hello", plan.entry, plan.questions, {"dir": ["/a", "/b"], "API_KEY": "hunter2"})
    await installations.apply(plan)

    told = await tell("hello", filled.entry)
    assert told["args"] == ["/a", "/b", "--mode=a", "--quiet"]
    assert (told["env"]["API_KEY"], told["env"]["FIXED"]) == ("value of hello.API_KEY", "v")
    with pytest.raises(UsageError, match="cannot be"):
        fill("hello", plan.entry, plan.questions, {"dir": "/a", "API_KEY": "x", "mode": "c"})


async def test_a_bundle_of_the_registry_must_have_the_promised_hash(
    installations: Installations, tmp_path: Path, site: tuple[Path, str]
) -> None:
    folder, address = site
    content = bundle(folder / "hello.mcpb", manifest(user_config={})).read_bytes()
    promised = {"registryType": "mcpb", "identifier": f"{address}/hello.mcpb"}
    right = hashlib.sha256(content).hexdigest()
    (folder / "server.json").write_text(server_shown(**promised, fileSha256=right))
    (folder / "wrong.json").write_text(server_shown(**promised, fileSha256="0" * 64))
    (folder / "none.json").write_text(server_shown(**promised))

    plan = await installations.plan(f"{address}/server.json", "hello")
    await installations.apply(plan)

    assert (plan.package, plan.digest_of_source) == ("hello", right)
    for name, word in (("wrong", "does not match"), ("none", "no hash")):
        with pytest.raises(InstallFailed, match=word):
            await installations.plan(f"{address}/{name}.json", "hello")


@pytest.mark.parametrize(
    "identifier",
    ["https://10.0.0.1/hello.mcpb", "https://169.254.169.254/x", "http://127.0.0.1:9/hello.mcpb"],
)
async def test_a_description_cannot_name_a_bundle_in_a_private_network(
    installations: Installations, tmp_path: Path, site: tuple[Path, str], identifier: str
) -> None:
    folder, address = site
    described = server_shown(registryType="mcpb", identifier=identifier, fileSha256="0" * 64)
    (folder / "server.json").write_text(described)
    (tmp_path / "local.json").write_text(described)

    for reference in (f"{address}/server.json", str(tmp_path / "local.json")):
        with pytest.raises(NetworkRefused, match="is not allowed"):
            await installations.plan(reference, "hello")


async def test_a_download_is_not_redirected_into_a_private_network(installations: Installations) -> None:
    async def redirect(call: Call, reply: Reply) -> None:
        await reply.send(302, location="https://10.0.0.1/server.json")

    async with scripted(redirect) as server:
        with pytest.raises(NetworkRefused, match="leads to a private network"):
            await installations.plan(f"http://127.0.0.1:{server.port}/server.json", "hello")


async def test_a_download_that_fails_says_why(installations: Installations) -> None:
    async def refuse(call: Call, reply: Reply) -> None:
        await reply.send(404)

    async with scripted(refuse) as server:
        with pytest.raises(InstallFailed, match="HTTP 404"):
            await installations.plan(f"http://127.0.0.1:{server.port}/server.json", "hello")
    with pytest.raises(InstallFailed, match="could not be fetched"):
        await installations.plan(f"http://127.0.0.1:{server.port}/server.json", "hello")


async def test_an_address_in_the_clear_is_refused(installations: Installations) -> None:
    with pytest.raises(UsageError, match="safe address"):
        await installations.plan("http://192.0.2.1/server.json", "x")


async def test_a_server_that_only_has_an_address_is_pointed_to_add(
    installations: Installations, tmp_path: Path
) -> None:
    file = tmp_path / "server.json"
    file.write_text(
        json.dumps({"name": "x/y", "remotes": [{"type": "sse", "url": "https://example.com/sse"}]})
    )

    with pytest.raises(UsageError) as caught:
        await installations.plan(str(file), "far")

    assert "toolcrib add far https://example.com/sse" in caught.value.hint


def test_python_is_the_one_behind_our_environment() -> None:
    from toolcrib.servers.installers.engine.environments import plain_python

    assert Path(plain_python()).samefile(sys.executable)
