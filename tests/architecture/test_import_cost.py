"""You pay only for what you use: importing the package and asking the command for help load nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HEAVY = {
    "anyio",
    "cryptography",
    "httpx2",
    "jsonschema",
    "jsonschema_rs",
    "keyring",
    "mcp",
    "opentelemetry",
    "pydantic",
    "rich",
    "ruamel",
    "starlette",
    "tomlkit",
    "uvicorn",
    "uvloop",
}
HELP = """
import contextlib, sys
from toolcrib.cli import main
sys.argv = ["toolcrib", "--help"]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    main()
"""


def modules_after(program: str) -> set[str]:
    """What a fresh interpreter has loaded after running this."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_importing_toolcrib_loads_next_to_nothing() -> None:
    added = modules_after("import toolcrib") - modules_after("import typing, importlib, contextlib")

    assert not packages(added) & HEAVY
    assert len(added) < 20, sorted(added)


def test_the_help_screen_loads_nothing_heavy() -> None:
    loaded = modules_after(HELP)

    assert not packages(loaded) & HEAVY
    assert len(loaded) < 200, f"{len(loaded)} modules: {sorted(loaded)}"


def test_the_help_screen_imports_no_command() -> None:
    loaded = modules_after(HELP)

    assert not {module for module in loaded if module.startswith("toolcrib.cli.commands.")}


COMPLETION = """
import contextlib, os, sys
from toolcrib.cli import main
os.environ.update(_TOOLCRIB_COMPLETE="bash_complete", COMP_WORDS="toolcrib call demo", COMP_CWORD="2")
sys.argv = ["toolcrib"]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    main()
"""


def test_pressing_tab_loads_neither_a_loop_nor_other_commands() -> None:
    loaded = modules_after(COMPLETION)

    assert not packages(loaded) & {*HEAVY, "asyncio"}
    commands = {module for module in loaded if module.startswith("toolcrib.cli.commands.")}
    assert commands == {"toolcrib.cli.commands.call"}
    assert len(loaded) < 185, sorted(loaded)


CALL = """
import contextlib, sys
from toolcrib.cli import main
sys.argv = ["toolcrib", "call", "demo__add", "a=1", "b=2"]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    main()
"""


@pytest.fixture
def running_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TOOLCRIB_HOME", str(tmp_path))
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    command = [sys.executable, "-m", "toolcrib", "up", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        try:
            host.stdout.readline()  # the host listens
            yield
        finally:
            host.terminate()
            host.communicate(timeout=60)


def test_a_call_in_a_running_host_loads_little_more_than_click_and_asyncio(running_host: None) -> None:
    loaded = modules_after(CALL)

    assert not packages(loaded) & {*HEAVY, "typing_extensions"}
    operations = {module for module in loaded if module.startswith("toolcrib.operations.")}
    assert operations <= {f"toolcrib.operations.{name}" for name in ("client", "command", "index")}
    added = loaded - modules_after("import asyncio, click")
    assert len(added) < 45, sorted(added)


ALONE = """
import contextlib, sys
from toolcrib.cli import main
sys.argv = ["toolcrib", *{words!r}]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    main()
"""


@pytest.mark.parametrize(
    "words", [["call", "demo__add", "a=1", "b=2"], ["servers"]], ids=lambda words: words[0]
)
def test_without_a_host_only_the_servers_and_the_operation_are_loaded(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_HOME", str(tmp_path))
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")

    loaded = modules_after(ALONE.format(words=words))

    assert "toolcrib.operations.local" in loaded
    assert not packages(loaded) & {"anyio", "httpcore2", "httpx2", "mcp", "pydantic", "starlette"}
    unused = ("agent.events", "chats", "gateway", "llm", "operations.overview", "retrieval", "web")
    assert not loaded & {f"toolcrib.{module}" for module in unused}


@pytest.mark.parametrize(
    "package", ["errors", "events", "plugins", "schema.tools", "schema.servers", "serverkit"]
)
def test_what_stands_low_in_the_tree_is_light(package: str) -> None:
    loaded = modules_after(f"import toolcrib.{package}")

    assert not packages(loaded) & (HEAVY - {"pydantic"})


def test_what_starts_the_servers_is_loaded_before_the_rest() -> None:
    """The first process of a host waits for all of this; what is not needed for it is loaded beside it."""
    loaded = modules_after(
        "import toolcrib.cli.gateway_process, toolcrib.cli.host_process, toolcrib.servers.transports.stdio"
    )

    assert not packages(loaded) & HEAVY
    later = (
        "agent.events",
        "approvals",
        "operations.registry",
        "gateway.http",
        "host.host",
        "llm",
        "retrieval",
        "web",
    )
    assert not loaded & {f"toolcrib.{module}" for module in later}


def test_a_gateway_that_only_lends_tools_needs_neither_models_nor_chats() -> None:
    loaded = modules_after(
        "import toolcrib.cli.gateway_process, toolcrib.host.host, toolcrib.ipc.server\n"
        "import toolcrib.gateway.http.server, toolcrib.servers.transports.stdio"
    )

    assert not packages(loaded) & (HEAVY - {"jsonschema_rs"})
    chats = ("agent.events", "host.chats.store", "store.chats")
    unused = (*chats, "operations.registry", "llm", "retrieval", "web")
    assert not loaded & {f"toolcrib.{module}" for module in unused}


WITHOUT_WORKFLOWS = """
import asyncio, toolcrib
async def main():
    async with toolcrib.open_host({home!r}) as host:
        await host.ready()
asyncio.run(main())
"""


def test_a_host_without_workflows_loads_no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")

    loaded = modules_after(WITHOUT_WORKFLOWS.format(home=str(tmp_path / "home")))

    assert not packages(loaded) & {"dbos", "sqlalchemy", "psycopg"}
    ours = {module for module in loaded if module.startswith("toolcrib.features.workflows.")}
    assert ours <= {
        f"toolcrib.features.workflows.{name}" for name in ("feature", "startup", "settings", "tables")
    }


CLIENT_FILES = """
from pathlib import Path
from toolcrib.features.clients.files.client import client_names, find_client
from toolcrib.features.clients.files.file_changes import plan_connection, plan_removal, read_entries
from toolcrib.features.clients.files.gateway import Program
from toolcrib.features.clients.transfer.sources import read_words

def edit(name, text):
    client, file = find_client(name), Path({folder!r}) / name
    file.write_text(text)
    plan_connection(client, file, "n", client.entry("n", Program(command="c")))
    plan_removal(client, file, "x")

for name in client_names():
    assert not read_entries(find_client(name), Path({folder!r}) / "missing")
read_words('{{"mcpServers": {{"x": {{"command": "c"}}}}}}', Path("/x.json"))
edit("cursor", '{{"mcpServers": {{"x": {{"command": "c"}}}}}}')
read_entries(find_client("codex"), Path({folder!r}) / "missing")
"""


def test_clients_with_json_files_load_neither_yaml_nor_toml(tmp_path: Path) -> None:
    program = CLIENT_FILES.format(folder=str(tmp_path))

    assert not packages(modules_after(program)) & {"ruamel", "tomlkit"}


@pytest.mark.parametrize(
    ("client", "text", "library"),
    [("goose", "extensions:\n  x: {}\n", "ruamel"), ("codex", "[mcp_servers.x]\n", "tomlkit")],
)
def test_a_library_is_loaded_by_the_first_file_of_its_format(
    tmp_path: Path, client: str, text: str, library: str
) -> None:
    program = CLIENT_FILES.format(folder=str(tmp_path)) + f"edit({client!r}, {text!r})\n"

    assert packages(modules_after(program)) & {"ruamel", "tomlkit"} == {library}
