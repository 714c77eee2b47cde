"""What people paste is understood, and what could mean several things is not guessed at."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from toolcrib.config.paste.parser import begins_command, is_beginning, understand
from toolcrib.config.paste.pasted import Entries, Install, PastedAddress, PastedDocument, short_name
from toolcrib.errors import UsageError

HERE = Path("/nowhere")
FILESYSTEM = "@modelcontextprotocol/server-filesystem"


def installed(line: str) -> tuple[Any, ...]:
    found = understand([line], HERE)
    assert isinstance(found, Install), found
    return found.reference, found.name, found.args


@pytest.mark.parametrize(
    ("line", "reference", "name", "args"),
    [
        (f"npm:{FILESYSTEM}", f"npm:{FILESYSTEM}", "filesystem", ()),
        ("npm:tavily-mcp@0.2.1", "npm:tavily-mcp@0.2.1", "tavily", ()),
        ("pypi:mcp-server-git==2026.1.1", "pypi:mcp-server-git==2026.1.1", "git", ()),
        (FILESYSTEM, f"npm:{FILESYSTEM}", "filesystem", ()),
        (f"{FILESYSTEM}@latest", f"npm:{FILESYSTEM}", "filesystem", ()),
        (f"npx -y {FILESYSTEM} /a /b", f"npm:{FILESYSTEM}", "filesystem", ("/a", "/b")),
        ("npx --yes @playwright/mcp@latest --headless", "npm:@playwright/mcp", "playwright", ("--headless",)),
        ("npx -y -- pkg@1.2.3 -y", "npm:pkg@1.2.3", "pkg", ("-y",)),
        ("cmd /c npx -y tavily-mcp", "npm:tavily-mcp", "tavily", ()),
        ("bunx tavily-mcp", "npm:tavily-mcp", "tavily", ()),
        ("npm exec -y tavily-mcp", "npm:tavily-mcp", "tavily", ()),
        ("pnpm dlx tavily-mcp", "npm:tavily-mcp", "tavily", ()),
        ("uvx mcp-server-git --repository .", "pypi:mcp-server-git", "git", ("--repository", ".")),
        ("uvx mcp-server-git@2026.1.1", "pypi:mcp-server-git==2026.1.1", "git", ()),
        ("uvx mcp-server-git@latest", "pypi:mcp-server-git", "git", ()),
        ("uv tool run mcp-server-time", "pypi:mcp-server-time", "time", ()),
        ("pipx run mcp-server-time --x", "pypi:mcp-server-time", "time", ("--x",)),
        ("$ uvx mcp-server-time", "pypi:mcp-server-time", "time", ()),
        ("mcp-server-fetch", "pypi:mcp-server-fetch", "fetch", ()),
        ("time", "pypi:mcp-server-time", "time", ()),
    ],
)
def test_what_fetches_a_package_becomes_an_installation(
    line: str, reference: str, name: str, args: tuple[str, ...]
) -> None:
    assert installed(line) == (reference, name, args)


def test_the_program_and_the_python_that_were_named_are_kept() -> None:
    found = understand(["uvx", "--python", "3.12", "--from", "pkg[cli]==1.0", "prog", "a"], HERE)
    other = understand(["npx", "-p", "@a/b@2", "prog"], HERE)

    assert isinstance(found, Install)
    assert (found.reference, found.program, found.python, found.args) == (
        "pypi:pkg[cli]==1.0",
        "prog",
        "3.12",
        ("a",),
    )
    assert isinstance(other, Install)
    assert (other.reference, other.program) == ("npm:@a/b@2", "prog")


def test_variables_before_a_command_are_its_environment() -> None:
    found = understand(["API_KEY=k", "LOG=a=b", "npx", "-y", "tavily-mcp"], HERE)

    assert isinstance(found, Install)
    assert found.env == {"API_KEY": "k", "LOG": "a=b"}
    assert "=k" not in repr(found)


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("python -m my_server --port 1", {"command": "python", "args": ["-m", "my_server", "--port", "1"]}),
        ("node dist/index.js", {"command": "node", "args": ["dist/index.js"]}),
        ("uv run server.py", {"command": "uv", "args": ["run", "server.py"]}),
        ("uv --directory /x run y", {"command": "uv", "args": ["--directory", "/x", "run", "y"]}),
        ("uvx --with extra pkg", {"command": "uvx", "args": ["--with", "extra", "pkg"]}),
        ("uvx --from git+https://x/y pkg", {"command": "uvx", "args": ["--from", "git+https://x/y", "pkg"]}),
        ("npx github:a/b", {"command": "npx", "args": ["github:a/b"]}),
        ("npx --unknown pkg", {"command": "npx", "args": ["--unknown", "pkg"]}),
        ("npm start", {"command": "npm", "args": ["start"]}),
        ("MODE=x ./run --y", {"command": "./run", "args": ["--y"], "env": {"MODE": "x"}}),
    ],
)
def test_everything_else_stays_the_command_that_it_is(line: str, entry: dict[str, Any]) -> None:
    found = understand([line], HERE)

    assert isinstance(found, Entries)
    assert list(found.servers.values()) == [entry]


def test_values_of_a_container_move_out_of_its_arguments() -> None:
    line = "docker run -i --rm -e GITHUB_TOKEN=ghp_x -e OTHER -v /a:/b ghcr.io/github/github-mcp-server stdio"
    found = understand(line.split(), HERE)

    assert isinstance(found, Entries)
    assert found.servers == {
        "github": {
            "command": "docker",
            "args": [
                *("run", "-i", "--rm", "-e", "GITHUB_TOKEN", "-e", "OTHER", "-v", "/a:/b"),
                *("ghcr.io/github/github-mcp-server", "stdio"),
            ],
            "env": {"GITHUB_TOKEN": "ghp_x"},
        }
    }
    assert found.notes == ()
    deaf = understand(["docker", "run", "--rm", "image"], HERE)
    assert isinstance(deaf, Entries)
    assert "-i" in deaf.notes[0]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://mcp.linear.app/mcp", "linear"),
        ("https://api.githubcopilot.com/mcp/", "githubcopilot"),
        ("http://127.0.0.1:8000/mcp", "local-8000"),
        ("http://10.0.0.5/mcp", "server-10-0-0-5"),
        ("http://localhost:3000", "local-3000"),
        ("http://[::1]/mcp", "local"),
    ],
)
def test_an_address_is_tried_later(url: str, name: str) -> None:
    assert understand([url], HERE) == PastedAddress(url=url, name=name)


def test_commands_of_other_hosts_add_the_same_here() -> None:
    remote = understand(
        ["claude", "mcp", "add", "--transport", "sse", "x", "https://x/sse", "--header", "X-A: b"], HERE
    )
    assert isinstance(remote, PastedAddress)
    assert (remote.name, remote.url, remote.transport) == ("x", "https://x/sse", "sse")
    local = understand(
        ["claude", "mcp", "add", "-s", "user", "git", "-e", "K=v", "--", "uvx", "mcp-server-git", "-r", "."],
        HERE,
    )
    assert isinstance(local, Install)
    assert (local.name, local.reference, local.args) == ("git", "pypi:mcp-server-git", ("-r", "."))
    assert local.env == {"K": "v"}
    plain = understand(["codex", "mcp", "add", "mine", "--", "./run", "--fast"], HERE)
    assert isinstance(plain, Entries)
    assert plain.servers == {"mine": {"command": "./run", "args": ["--fast"]}}
    raw = understand(["claude", "mcp", "add-json", "x", '{"command":"run"}'], HERE)
    assert isinstance(raw, PastedDocument)
    assert json.loads(raw.text) == {"mcpServers": {"x": {"command": "run"}}}


def test_links_of_editors_hold_a_server() -> None:
    config = {"command": "npx", "args": ["-y", "pkg"]}
    encoded = quote(base64.b64encode(json.dumps(config).encode()).decode())
    links = [
        f"cursor://anysphere.cursor-deeplink/mcp/install?name=x&config={encoded}",
        f"lmstudio://add_mcp?name=x&config={encoded}",
        f"vscode:mcp/install?{quote(json.dumps({'name': 'x', **config}))}",
    ]

    for link in links:
        found = understand([link], HERE)
        assert isinstance(found, PastedDocument)
        assert json.loads(found.text) == {"mcpServers": {"x": config}}


def test_json_is_a_document_even_without_its_braces(tmp_path: Path) -> None:
    whole = understand(['{"mcpServers": {"a": {"command": "x"}}}'], HERE)
    inside = understand(['"a": {"command": "x"},'], HERE)
    (tmp_path / "c.json").write_text('{"mcpServers": {}}')
    file = understand(["c.json"], tmp_path)

    assert isinstance(whole, PastedDocument)
    assert isinstance(inside, PastedDocument)
    assert json.loads(inside.text) == {"a": {"command": "x"}}
    assert isinstance(file, PastedDocument)
    assert file.file == tmp_path / "c.json"


def test_packages_and_folders_are_installed_from_where_they_lie(tmp_path: Path) -> None:
    for name in ("my-server-1.2.0.mcpb", "my-server-1.2.0.tgz", "my_server-1.2.0-py3-none-any.whl"):
        (tmp_path / name).touch()
        found = understand([f"./{name}"], tmp_path)
        assert isinstance(found, Install)
        assert found.reference == str(tmp_path / name)
        assert found.name == "my"
    (tmp_path / "folder").mkdir()
    folder = understand(["./folder"], tmp_path)
    assert isinstance(folder, Install)
    assert (folder.reference, folder.name) == (str(tmp_path / "folder"), "folder")
    told = understand(["./folder", "notes.txt"], tmp_path)
    assert isinstance(told, Install)
    assert told.args == ("notes.txt",)


def test_a_folder_with_an_entry_of_its_own_is_run_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "toolcrib.json").write_text('{"command": "python", "args": ["server.py"]}')

    found = understand([str(tmp_path)], HERE)

    assert isinstance(found, Entries)
    (entry,) = found.servers.values()
    assert entry == {"command": "python", "args": ["server.py"], "cwd": str(tmp_path)}


@pytest.mark.parametrize(
    "words",
    [
        [],
        [" "],
        ["left-pad"],
        ["npm:--prefix=/"],
        ["npm:../x"],
        ["npm:file:/etc"],
        ["npm:a;c"],
        ["pypi:../x"],
        ["pypi:-r requirements.txt"],
        ["./absent.mcpb"],
        ["filesystem"],
        ["github"],
        ["!!"],
        ["A=1"],
        ['npx "unclosed'],
        ["npx a\nnpx b"],
        ["cursor://x?config=%%"],
    ],
)
def test_what_is_nothing_or_several_things_is_refused_with_a_hint(words: list[str]) -> None:
    with pytest.raises(UsageError):
        understand(words, HERE)


@pytest.mark.parametrize(
    ("word", "following", "begins"),
    [
        ("npx", "-y", True),
        ("npx", "@scope/pkg", True),
        ("python", "-m", True),
        ("docker", "run", True),
        ("docker", "https://example.com/mcp", False),
        ("claude", "npm:pkg", False),
        ("node", "npx", False),
        ("git", "uvx", False),
    ],
)
def test_a_name_is_told_from_the_command_that_it_may_look_like(
    word: str, following: str, begins: bool
) -> None:
    assert begins_command(word, following) is begins


@pytest.mark.parametrize(("word", "begins"), [("git", False), ("npm:x", True), ("A=1", True), ("{}", True)])
def test_a_name_is_told_from_what_it_names(word: str, begins: bool) -> None:
    assert is_beginning(word) is begins


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("@modelcontextprotocol/server-memory", "memory"),
        ("mcp-server-git==1", "git"),
        ("@eslint/mcp", "eslint"),
        ("awslabs.aws-documentation-mcp-server", "awslabs-aws-documentation"),
        ("mcp", "mcp"),
    ],
)
def test_a_server_gets_a_short_name(identifier: str, name: str) -> None:
    assert short_name(identifier) == name
