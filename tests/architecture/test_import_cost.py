"""You pay only for what you use: importing the package and asking the command for help load nothing heavy."""

from __future__ import annotations

import subprocess
import sys
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
    later = ("agent.events", "approvals", "control", "gateway.http", "host.host", "llm", "retrieval", "web")
    assert not loaded & {f"toolcrib.{module}" for module in later}


def test_a_gateway_that_only_lends_tools_needs_neither_models_nor_chats() -> None:
    loaded = modules_after(
        "import toolcrib.cli.gateway_process, toolcrib.host.assembly, toolcrib.control.server\n"
        "import toolcrib.gateway.http.serving, toolcrib.servers.transports.stdio"
    )

    assert not packages(loaded) & (HEAVY - {"jsonschema_rs"})
    chats = ("agent.events", "host.chat_services", "store.chats")
    unused = (*chats, "control.dispatch", "llm", "retrieval", "web")
    assert not loaded & {f"toolcrib.{module}" for module in unused}


CLIENT_FILES = """
from pathlib import Path
from toolcrib.config.client_files.client import client_names, find_client
from toolcrib.config.client_files.editing import plan_connection, plan_removal, read_entries
from toolcrib.config.client_files.gateway import Program
from toolcrib.config.importing.sources import read_words

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
