"""Completes names in the shell with Tab: servers, tools and their parameters, secrets, accounts, profiles,
workflows, settings, models. Taken from the config file and the stored tool lists; nothing is started.

On any error nothing is suggested: a completion must never print into a half-typed line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.errors import ToolcribError

if TYPE_CHECKING:
    import click

TIMEOUT = 2
"""Seconds to connect to a shared database, and for each query: the user is typing."""


def servers(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The configured servers."""
    return [name for name in _servers(_home(context)) if name.startswith(incomplete)]


def tools(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The tools of the last known lists."""
    return [name for name in tool_names(_home(context)) if name.startswith(incomplete)]


def arguments(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The parameters of the tool before it, as `name=`."""
    definition = _definitions(_home(context)).get(str(context.params.get("tool")), {})
    properties = (definition.get("inputSchema") or {}).get("properties") or {}
    return [f"{name}=" for name in properties if name.startswith(incomplete)]


def secrets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of the stored secrets."""
    from toolcrib.config.paths import find_paths

    try:
        stored = json.loads(find_paths(_home(context)).secrets_file.read_bytes())
        names = {*stored.get("secrets", ()), *stored.get("keyring", ())}
    except (OSError, ValueError, AttributeError, TypeError, ToolcribError):
        return []
    return sorted(name for name in names if name.startswith(incomplete))


def accounts(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of the accounts."""
    from toolcrib.config.paths import find_paths

    try:
        stored = json.loads(find_paths(_home(context)).accounts_file.read_bytes())["accounts"]
        return sorted(name for name in stored if name.startswith(incomplete))
    except (OSError, ValueError, AttributeError, TypeError, KeyError, ToolcribError):
        return []


def profiles(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The profiles of the config file, and those of a shared database."""
    home = _home(context)
    found = _settings(home).get("profiles")
    names = [str(name) for name in found] if isinstance(found, dict) else []
    return [name for name in dict.fromkeys([*names, *_shared_profiles(home)]) if name.startswith(incomplete)]


def workflows(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The stored workflows."""
    from toolcrib.config.paths import find_paths

    try:
        return sorted(path.stem for path in find_paths(_home(context)).workflows.glob(f"{incomplete}*.json"))
    except (OSError, ValueError, ToolcribError):
        return []


def settings(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of the settings, without those that contain a name of the user's."""
    from toolcrib.config.settings_file import known_keys

    return [key for key in known_keys() if key.startswith(incomplete) and "*" not in key]


def models(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The model of the settings, the vendors and addresses as `vendor:`, and the demo model."""
    agent = _settings(_home(context)).get("agent")
    chosen = agent.get("model") if isinstance(agent, dict) else None
    named = [f"{name}:" for name in vendors(context, parameter, "")]
    known = dict.fromkeys([*([chosen] if isinstance(chosen, str) else []), *named, "demo"])
    return [name for name in known if name.startswith(incomplete)]


def vendors(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The vendors of models and the addresses in the settings."""
    from toolcrib import plugins

    agent = _settings(_home(context)).get("agent")
    endpoints = agent.get("endpoints") if isinstance(agent, dict) else None
    providers = [name.replace("_", "-") for name in plugins.names("toolcrib.llm.providers") if name != "demo"]
    known = [*providers, *(endpoints if isinstance(endpoints, dict) else ())]
    return [name for name in known if name.startswith(incomplete)]


def targets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """`SERVER/TOOL` of the last known lists, as rules name them."""
    import sqlite3

    try:
        found = {
            f"{server}/{tool['name']}"
            for server, listed in _rows(_home(context))
            for tool in json.loads(listed)
        }
    except (OSError, ValueError, TypeError, KeyError, sqlite3.Error, ToolcribError):
        return []
    return sorted(name for name in found if name.startswith(incomplete))


def tool_names(home: Path | None) -> list[str]:
    """The public names of the last known tools."""
    return sorted(_definitions(home))


def _definitions(home: Path | None) -> dict[str, Any]:
    import sqlite3

    from toolcrib.tools.names import public_name

    try:
        known = _servers(home)
        rows = _rows(home)
        return {
            public_name(server, str(tool["name"]), prefix=_prefix(home)): tool
            for server, listed in rows
            if server in known
            for tool in json.loads(listed)
            if isinstance(tool, dict) and "name" in tool
        }
    except (OSError, ValueError, TypeError, AttributeError, sqlite3.Error, ToolcribError):
        return {}


def _rows(home: Path | None) -> list[tuple[str, str]]:
    import sqlite3

    from toolcrib.config.paths import find_paths

    query = "SELECT server, definitions FROM tool_lists"
    if shared := _database(home):
        return _select(home, shared, query)
    database = find_paths(home).database
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=0.2)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def _servers(home: Path | None) -> list[str]:
    return [str(name) for name in _config(home).get("mcpServers") or ()]


def _prefix(home: Path | None) -> str:
    return str(_settings(home).get("toolPrefix") or "")


def _database(home: Path | None) -> str:
    """The address of the shared database; empty for the file of the home."""
    return str(_settings(home).get("database") or "")


def _shared_profiles(home: Path | None) -> list[str]:
    shared = _database(home)
    try:
        rows = _select(home, shared, "SELECT name FROM gateway_profiles") if shared else []
    except (OSError, ValueError, TypeError, ToolcribError):
        return []
    return [name for (name,) in rows]


def _select(home: Path | None, url: str, query: str) -> list[Any]:
    """The rows of a shared database. Raises `ToolcribError`."""
    from toolcrib.config.database_url import connection_url
    from toolcrib.config.paths import find_paths
    from toolcrib.config.secrets import SecretStore

    try:
        from toolcrib.store.postgres.server import connect
    except ImportError as error:
        raise ToolcribError("PostgreSQL needs packages that are not installed.") from error
    address = connection_url(url, SecretStore(find_paths(home)))
    connection = connect(f"{address}{'&' if '?' in address else '?'}connect_timeout={TIMEOUT}")
    try:
        connection.execute(f"SET statement_timeout = {TIMEOUT * 1000}")
        return list(connection.execute(query).fetchall())
    finally:
        connection.raw.close()


def _settings(home: Path | None) -> dict[str, Any]:
    found = _config(home).get("toolcrib")
    return found if isinstance(found, dict) else {}


def _config(home: Path | None) -> dict[str, Any]:
    from toolcrib.config.document import parse_document
    from toolcrib.config.paths import find_paths

    try:
        return parse_document(find_paths(home).config_file.read_bytes()).data
    except (OSError, ToolcribError):
        return {}


def _home(context: click.Context) -> Path | None:
    return context.params.get("home") or (context.find_root().params.get("home"))
