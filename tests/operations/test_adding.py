"""Servers pasted into the page: recognised, proposed, admitted without trust, agreed to by their mark."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import ConfigError, Conflict, Denied, NotFound, UsageError
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.schema import failures

SMALL_SERVER = Path(__file__).parents[1] / "cli" / "small_server.py"
DEADLINE = 60.0


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    """A host with the bundled servers alone."""
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    monkeypatch.delenv("TOOLCRIB_TRUST_CONFIG", raising=False)
    async with open_host(tmp_path / "home", watch=False) as opened:
        yield opened


async def ask(host: Host, operation: str, **params: Any) -> Any:
    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation(from_page=True))


def command() -> str:
    return f"{sys.executable} {SMALL_SERVER}"


def entries(host: Host) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(host.core.config_store.path.read_text())["mcpServers"]
    return found


async def added(host: Host, name: str, text: str, **more: Any) -> dict[str, Any]:
    """Propose, admit and agree, as the page does."""
    proposed = await ask(host, "propose", text=text, name=name, **more)
    mark = proposed["launch"]["mark"]
    await ask(host, "admit", text=text, name=name, mark=mark, plan=proposed["plan"], **more)
    answer = await ask(host, "trust", names=[name], agree={name: mark})
    found: dict[str, Any] = answer["servers"][0]
    return found


@pytest.mark.parametrize(
    ("text", "kind", "way", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem ~/notes", "command-npm", "install", "filesystem-2"),
        ("uvx mcp-server-git", "command-pypi", "install", "git"),
        ("npm:@scope/server-notes@1.2", "npm", "install", "notes"),
        ("pypi:mcp-server-time==1.0", "pypi", "install", "time"),
        ("https://mcp.example.com/mcp", "address", "connect", "example"),
        ("python3 -m notes_server --fast", "command", "run", "notes"),
        ("docker run -i --rm mcp/fetch", "command-docker", "run", "fetch"),
        ('{"mcpServers": {"a": {"command": "a-mcp"}}}', "document", "run", "a"),
        ('"b": {"url": "https://example.com/mcp"}', "document", "connect", "b"),
        ('{"command": "npx", "args": ["-y", "server-notes"]}', "document", "install", "notes"),
        ('[mcp_servers.c]\ncommand = "c-mcp"\n', "document", "run", "c"),
    ],
)
async def test_what_people_paste_is_recognised(host: Host, text: str, kind: str, way: str, name: str) -> None:
    found = await ask(host, "recognise", text=text)

    assert (found["kind"], found["servers"][0]["way"]) == (kind, way)
    assert found["servers"][0]["name"] == name
    assert set(entries(host)) == set(host.config.servers)


@pytest.mark.parametrize("text", ["", "  ", "((((", "{ not json", '{"a": 1}', "what is this ?\nand this"])
async def test_rubbish_is_nothing_we_know_and_says_why(host: Host, text: str) -> None:
    found = await ask(host, "recognise", text=text)

    assert found["kind"] == "nothing"
    assert found["problem"]


async def test_a_name_one_letter_off_is_pointed_out(host: Host) -> None:
    found = await ask(host, "recognise", text="uvx mcp-server-gti")

    near = found["servers"][0]["lookalike"]
    assert (near["name"], near["listed"]) == ("mcp-server-git", True)
    assert near["reference"] == "pypi:mcp-server-git"


async def test_a_bare_word_offers_what_it_could_mean(host: Host) -> None:
    found = await ask(host, "recognise", text="mcp-notes-x")

    assert found["kind"] == "ambiguous"
    assert found["alternatives"] == ["npm:mcp-notes-x", "pypi:mcp-notes-x"]


async def test_several_servers_show_which_names_are_taken(host: Host) -> None:
    text = json.dumps({"mcpServers": {"demo": {"command": "x"}, "new": {"command": "y", "args": ["--a"]}}})

    found = await ask(host, "recognise", text=text)

    assert [(one["name"], one["taken"], one["standing"]) for one in found["servers"]] == [
        ("demo", True, "differs"),
        ("new", False, "new"),
    ]


async def test_a_value_that_is_only_a_placeholder_is_asked_for(host: Host) -> None:
    text = json.dumps(
        {"mcpServers": {"a": {"command": "x", "env": {"API_TOKEN": "<your token>", "MODE": "fast"}}}}
    )

    found = await ask(host, "recognise", text=text)
    proposed = await ask(host, "propose", text=text)

    (needed,) = found["servers"][0]["needed"]
    assert (needed["key"], needed["secret"]) == ("env:API_TOKEN", True)
    assert (proposed["launch"], proposed["missing"]) == (None, ["env:API_TOKEN"])


async def test_a_pasted_secret_and_an_answered_one_go_to_the_secret_store(host: Host) -> None:
    text = f"API_TOKEN=tok-2468-abcdef OTHER_API_KEY='<key>' {command()}"

    await added(host, "small", text, answers={"env:OTHER_API_KEY": "other-1357"})

    assert entries(host)["small"]["env"] == {
        "API_TOKEN": "${secret:small.API_TOKEN}",
        "OTHER_API_KEY": "${secret:small.OTHER_API_KEY}",
    }
    assert host.core.secrets.get("small.OTHER_API_KEY") == "other-1357"
    assert "tok-2468" not in host.core.config_store.path.read_text()


async def test_an_admitted_server_waits_for_a_word_and_runs_nothing(host: Host) -> None:
    proposed = await ask(host, "propose", text=command(), name="small")
    assert "small" not in entries(host)

    admitted = await ask(host, "admit", text=command(), name="small", mark=proposed["launch"]["mark"])

    assert admitted["trusted"] is False
    assert host.servers.status("small").state == "needs-trust"


async def test_the_mark_of_what_was_shown_lets_it_run(host: Host) -> None:
    await added(host, "small", command())

    async with asyncio.timeout(DEADLINE):
        await host.servers["small"].settled()
    assert host.servers.status("small").state == "ready"


async def test_what_was_not_shown_is_not_admitted(host: Host) -> None:
    proposed = await ask(host, "propose", text=command(), name="small")

    with pytest.raises(UsageError, match="has changed since it was shown"):
        await ask(host, "admit", text=f"{command()} --more", name="small", mark=proposed["launch"]["mark"])

    assert "small" not in entries(host)


async def test_adding_by_the_page_never_trusts(host: Host) -> None:
    entry = {"command": sys.executable, "args": [str(SMALL_SERVER)]}

    await ask(host, "add", name="small", entry=entry)

    assert host.servers.status("small").state == "needs-trust"


async def test_the_whole_command_is_shown_with_what_hides_and_what_reaches_out(host: Host) -> None:
    text = f"{command()} /srv/notes plain\u200bword --db=postgresql://127.0.0.1/x"

    shown = (await ask(host, "propose", text=text, name="small"))["launch"]

    assert shown["program"] == sys.executable
    assert [one["text"] for one in shown["arguments"]] == [
        str(SMALL_SERVER),
        "/srv/notes",
        "plain⟨U+200B⟩word",
        "--db=postgresql://127.0.0.1/x",
    ]
    assert [one["outside"] for one in shown["arguments"]] == [False, True, False, True]
    assert "PATH" in shown["inherits"]


async def test_what_runs_a_module_is_shown_with_the_module(host: Host) -> None:
    seen = await ask(host, "entry", name="demo")
    raw = {"type": "python", "module": "mcp_server_notes", "command": "/usr/bin/python3", "args": ["--here"]}

    await ask(host, "entry_edit", name="demo", text=json.dumps(raw), digest=seen["digest"])
    shown = await ask(host, "launch", name="demo")

    assert shown["program"] == "/usr/bin/python3"
    assert [one["text"] for one in shown["arguments"]] == ["-m", "mcp_server_notes", "--here"]


async def test_a_changed_command_is_shown_beside_the_one_that_was_agreed_to(host: Host) -> None:
    await added(host, "small", command())
    seen = await ask(host, "entry", name="small")
    raw = {**json.loads(seen["text"]), "args": [str(SMALL_SERVER), "--more"]}

    written = await ask(host, "entry_edit", name="small", text=json.dumps(raw), digest=seen["digest"])
    shown = await ask(host, "launch", name="small")

    assert written["needs_trust"]
    assert shown["changed"] == [
        {"part": "args", "before": str(SMALL_SERVER), "now": f"{SMALL_SERVER}\n--more"}
    ]
    assert shown["agreed"] is not None
    assert host.servers.status("small").state == "needs-trust"


async def test_editing_keeps_the_keys_that_nobody_knows(host: Host) -> None:
    seen = await ask(host, "entry", name="demo")
    raw = {**json.loads(seen["text"]), "x-mine": {"kept": [1, 2]}}

    await ask(host, "entry_edit", name="demo", text=json.dumps(raw), digest=seen["digest"])
    again = await ask(host, "entry", name="demo")

    assert again["unknown"] == ["x-mine"]
    assert entries(host)["demo"]["x-mine"] == {"kept": [1, 2]}


async def test_values_that_look_secret_are_stored_and_the_entry_refers_to_them(host: Host) -> None:
    await added(host, "small", command())
    seen = await ask(host, "entry", name="small")
    raw = {**json.loads(seen["text"]), "env": {"API_TOKEN": "abc-123", "MODE": "quiet", "CODE": "4711"}}

    written = await ask(
        host, "entry_edit", name="small", text=json.dumps(raw), digest=seen["digest"], secrets=["CODE"]
    )

    environment = entries(host)["small"]["env"]
    assert environment["MODE"] == "quiet"
    stored = [environment[name].removeprefix("${secret:").removesuffix("}") for name in ("API_TOKEN", "CODE")]
    assert [host.core.secrets.get(name) for name in stored] == ["abc-123", "4711"]
    assert sorted(stored) == written["secrets"]


async def test_an_edit_as_it_is_stores_no_secrets(host: Host) -> None:
    raw = {"command": sys.executable, "env": {"API_TOKEN": "abc-123"}}
    await added(host, "small", command())

    written = await ask(host, "entry_edit", name="small", text=json.dumps(raw))

    assert written["secrets"] == []
    assert entries(host)["small"]["env"] == {"API_TOKEN": "abc-123"}


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"type": "stdio", "args": ["x"]}, ["command"]),
        ({"command": "x", "args": ["x", 5]}, ["args", 1]),
        ({"url": "not an address"}, ["url"]),
        ({"command": "x", "timeouts": {"call": 0}}, ["timeouts", "call"]),
        ({"url": "https://example.com/mcp", "headers": {"X-Trace": "two\nlines"}}, ["headers", "X-Trace"]),
    ],
)
async def test_a_wrong_value_is_refused_with_its_path(
    host: Host, raw: dict[str, Any], path: list[Any]
) -> None:
    before = entries(host)["demo"]

    with pytest.raises(ConfigError) as caught:
        await ask(host, "entry_edit", name="demo", text=json.dumps(raw))

    assert failures.to_json(caught.value)["data"] == {"path": path}
    assert entries(host)["demo"] == before


async def test_an_address_that_refers_to_a_variable_is_not_judged_before_the_start(host: Host) -> None:
    await ask(host, "entry_edit", name="demo", text=json.dumps({"url": "${SOME_ADDRESS}/mcp"}))

    assert entries(host)["demo"] == {"url": "${SOME_ADDRESS}/mcp"}


async def test_an_entry_tells_the_keys_of_its_type(host: Host) -> None:
    await added(host, "small", command())

    assert (await ask(host, "entry", name="small"))["keys"] == ["args", "env", "cwd", "command"]
    assert "module" in (await ask(host, "entry", name="demo"))["keys"]


async def test_an_edit_over_somebody_elses_is_refused_and_says_when(host: Host) -> None:
    seen = await ask(host, "entry", name="demo")
    with host.core.config_store.edit() as document:
        document["mcpServers"]["demo"]["lazy"] = True

    with pytest.raises(Conflict) as caught:
        await ask(host, "entry_edit", name="demo", text=seen["text"], digest=seen["digest"])

    assert caught.value.data["changed"]
    assert entries(host)["demo"]["lazy"] is True


async def test_a_removed_server_comes_back_as_it_was_and_trusted(host: Host) -> None:
    await added(host, "small", command())
    with host.core.config_store.edit() as document:
        document["mcpServers"]["small"]["x-mine"] = True
        document["mcpServers"]["last"] = {"command": "x", "enabled": False}
    await host.reload()
    before = list(entries(host).items())

    removed = await ask(host, "remove", name="small", undo=24)
    assert "small" not in host.servers
    restored = await ask(host, "restore", name="small")

    assert removed["undo"] == 24
    assert restored["trusted"]
    assert list(entries(host).items()) == before


async def test_secrets_go_only_when_the_time_to_undo_is_over(host: Host) -> None:
    await added(host, "small", f"API_TOKEN=tok-2468-abcdef {command()}")

    await ask(host, "remove", name="small", undo=0.05)
    assert "small.API_TOKEN" in host.core.secrets.names()

    async with asyncio.timeout(DEADLINE):
        while "small.API_TOKEN" in host.core.secrets.names():  # noqa: ASYNC110 - the disk has no events
            await asyncio.sleep(0.02)
    with pytest.raises(NotFound):
        await ask(host, "restore", name="small")


async def test_a_program_is_installed_as_it_was_planned_and_waits(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "notes" / "notes-server"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{SMALL_SERVER.read_text()}")
    program.chmod(0o700)

    proposed = await ask(host, "propose", text=str(program))
    assert not proposed["launch"]["installed"]
    mark = proposed["launch"]["mark"]
    admitted = await ask(host, "admit", text=str(program), mark=mark, plan=proposed["plan"])

    assert admitted["name"] == "notes"
    assert host.servers.status("notes").state == "needs-trust"
    shown = await ask(host, "launch", name="notes")
    assert shown["installed"]
    assert shown["program"] == proposed["launch"]["program"]
    assert shown["mark"] == mark


async def test_several_servers_are_taken_in_as_they_were_recognised(host: Host) -> None:
    text = (
        '"one": {"command": "one-mcp"}, "two": {"command": "two-mcp", "env": {"API_TOKEN": "tok-2468-abc"}}'
    )

    found = await ask(host, "recognise", text=text)
    source = {key: found[key] for key in ("file", "text", "digest")}
    await ask(host, "import_apply", **source, only=["one", "two"])

    assert host.servers.status("two").state == "needs-trust"
    assert "tok-2468" not in host.core.config_store.path.read_text()


async def test_a_page_reads_no_file_that_is_not_a_config_of_a_known_host(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "private.json"
    file.write_text('{"mcpServers": {"one": {"command": "one-mcp"}}}')

    found = await ask(host, "recognise", text=str(file))

    assert (found["kind"], found["servers"]) == ("nothing", [])
    assert "not the config file" in found["problem"]
    with pytest.raises(Denied):
        await ask(host, "propose", text=str(file))
