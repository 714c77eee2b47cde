"""Writes `docs/clients.md`: for each MCP client the text to paste, made by the code of `toolcrib connect`."""

from __future__ import annotations

import shlex
from pathlib import Path, PurePath

from toolcrib.config.own_program import NAME
from toolcrib.features.clients.files.client import McpClient, client_names, find_client, snippet
from toolcrib.features.clients.files.gateway import Address, Program, UserFolders

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/clients.md"
PROGRAM = Program(command="/home/ada/.local/bin/toolcrib", args=("serve", "--stdio"))
ADDRESS = Address(url="http://127.0.0.1:4180/mcp")
LANGUAGES = {"jsonc": "json", "toml_text": "toml", "yaml_text": "yaml"}
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
HEAD = """# Clients

What to paste for each MCP client, so that it uses all your tools. `toolcrib connect NAME` writes the same
text into the file for you and keeps the rest of it: see [Connect a client](connect.md).

* **Program** is the usual form: the client starts Toolcrib itself, whether or not a host is running. Put in
  the path that `command -v toolcrib` prints (`where toolcrib` on Windows): a client may not know your `PATH`.
* **Address** is that of a running host, here one on the default port; the page shows yours under **Connect**.
  With a [token](gateway.md) the entry has a header too: `toolcrib connect NAME --http URL --token`.

If the file has entries already, add only the inner one, named `toolcrib`. `~` is your home, `%APPDATA%`
the folder `AppData\\Roaming` in it. Made from the clients' own files by `make generated`.
"""


def page() -> str:
    return "\n".join([HEAD, *(_section(name, find_client(name)) for name in client_names())])


def _section(name: str, client: McpClient) -> str:
    parts = [f"## {client.title}", f"`toolcrib connect {name}`{_also(client)}\n{_places(client)}"]
    if client.own_command is not None:
        command = shlex.join(client.own_command(NAME, PROGRAM))
        parts.append(
            f"Its own command does the same:\n\n<!-- not run: needs {client.title} -->\n```sh\n{command}\n```"
        )
    parts.append(f"Program:\n\n{_block(client, PROGRAM)}")
    if client.dialect.remote:
        parts.append(f"Address:\n\n{_block(client, ADDRESS)}")
    else:
        parts.append("An address cannot be written into its file: add it in the application itself.")
    return "\n\n".join([*parts, *([client.afterwards] if client.afterwards else [])]) + "\n"


def _block(client: McpClient, gateway: Program | Address) -> str:
    language = LANGUAGES[client.syntax.__name__.rpartition(".")[2]]  # type: ignore[attr-defined]
    return f"```{language}\n{snippet(client, NAME, client.entry(NAME, gateway))}\n```"


def _also(client: McpClient) -> str:
    return "".join(f" or `{name}`" for name in client.other_names)


def _places(client: McpClient) -> str:
    lines = _files(client)
    if client.older is not None:
        lines += [f"older versions, {line}" for line in _files(client.older)]
    return "".join(f"\n* {line}" for line in lines)


def _files(client: McpClient) -> list[str]:
    """Where its file is, once for all systems that agree."""
    places: dict[str, list[str]] = {}
    for system, title in SYSTEMS.items():
        folders = UserFolders(home=Path("/home"), platform=system)
        places.setdefault(_shown(client.file(folders), system), []).append(title)
    return [f"{', '.join(systems)}: `{place}`" for place, systems in places.items()]


def _shown(file: PurePath, system: str) -> str:
    inside = file.relative_to("/home").as_posix()
    if system != "win32":
        return f"~/{inside}"
    return (
        inside.replace("AppData/Roaming", "%APPDATA%", 1) if inside.startswith("AppData") else f"~/{inside}"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
