"""Settings and secrets: show, change and delete them. Where a secret is stored, which servers use it, and
which `${NAME}` or `${secret:NAME}` in an entry have no value."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Container
from typing import Annotated, Any

from pydantic import Field

from toolcrib.config.document import parse_document
from toolcrib.config.paths import Paths
from toolcrib.config.secrets import SecretStore
from toolcrib.config.settings import Settings
from toolcrib.config.settings_file import (
    change_settings,
    check_key,
    given_keys,
    known_keys,
    readable,
    shown,
    value_of,
)
from toolcrib.config.store import ConfigStore
from toolcrib.errors import (
    ConfigError,
    DatabaseKeyMissing,
    DatabaseUnreachable,
    MissingSecret,
    ToolcribError,
    UsageError,
)
from toolcrib.host import Host
from toolcrib.host.database_setting import KEY as DATABASE
from toolcrib.host.database_setting import lost_trust, prepare_database
from toolcrib.operations.command import Column, Command
from toolcrib.operations.operation import (
    operation,
)
from toolcrib.operations.results.settings import (
    NextPlace,
    SecretInfo,
    SecretRemoved,
    SecretStored,
    SettingSaved,
    SettingsShown,
)


@operation(page=True)
async def settings_show(host: Host) -> SettingsShown:
    """Show all settings, and which of them the config file sets."""
    file = host.core.config_store.path
    document = parse_document(await asyncio.to_thread(file.read_bytes), file.name)
    return {
        "settings": shown(host.settings),
        "given": given_keys(document.data),
        "known": known_keys(),
        "file": str(file),
    }


async def _set_without_host(paths: Paths, params: Any, error: ConfigError) -> SettingSaved:
    """Change a setting although the shared database cannot be opened: it may be the wrong one."""
    if not isinstance(error, DatabaseUnreachable | DatabaseKeyMissing | MissingSecret):
        raise error
    check_key(params.key)
    store = ConfigStore(paths.config_file, paths.files)
    before = (await asyncio.to_thread(store.read)).settings
    await _write(store, SecretStore(paths), before, params.key, params.value, params.database_key)
    return _saved(before, (await asyncio.to_thread(store.read)).settings, params.key)


@operation(page=True, without_config=_set_without_host)
async def settings_set(
    host: Host,
    key: str,
    *,
    value: Any = None,
    database_key: Annotated[str | None, Field(repr=False)] = None,
) -> SettingSaved:
    """Change a setting in the config file; it applies at once where possible.

    `database_key`: for `database`, if other machines use it: `toolcrib database key` shows it there.
    Raises `UsageError` or `ConfigError`; then nothing was written.
    """
    check_key(key)
    before = host.settings
    await _write(host.core.config_store, host.core.secrets, before, key, value, database_key)
    await host.reload()
    changed = key == DATABASE and host.settings.database != before.database
    untrusted = await lost_trust(host.core, host.settings.database) if changed else []
    return {**_saved(before, host.settings, key), "untrusted": untrusted}


async def _write(
    store: ConfigStore, secrets: SecretStore, before: Settings, key: str, value: Any, database_key: str | None
) -> None:
    if key == DATABASE:
        value = await prepare_database(secrets, value, before.database, database_key)
    try:
        await asyncio.to_thread(change_settings, store, {key: value})
    except ConfigError as error:
        raise _value_error(error, key) from None


def _saved(before: Settings, now: Settings, key: str) -> SettingSaved:
    value = value_of(now, key)
    command = f"toolcrib settings set {key} {shlex.quote(_argument(value))}"
    return {
        "key": key,
        "value": value,
        "before": value_of(before, key),
        "text": readable(value),
        "before_text": readable(value_of(before, key)),
        "command": command,
        "untrusted": [],
    }


def _value_error(error: ConfigError, key: str) -> ToolcribError:
    """The error without its line number: the value was not written."""
    found = re.search(rf"toolcrib\.({re.escape(key)}\b.*?\.)(?= Near: |$)", error.message)
    if found is None:
        return error
    return UsageError(found[1], hint=f"See its current value with: toolcrib settings list --all ({key})")


def _argument(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@operation(
    page=True,
    command=Command(
        name="secret list",
        help="List the secrets, where they are stored and which servers use them; values are never shown.",
        columns=(
            Column("NAME", "{name}"),
            Column("STORED IN", "{place}|missing", colours=(("missing", "red"),)),
            Column("SERVERS", "{servers:list}|-"),
        ),
        empty="No secrets yet. Store one with: toolcrib secret set NAME",
    ),
)
async def secret_list(host: Host) -> list[SecretInfo]:
    """List secrets by name, where each is stored and which servers use it; never a value.

    Includes secrets that a server refers to and that are missing.
    """
    users: dict[str, list[str]] = {}
    stored = await asyncio.to_thread(host.core.secrets.names)
    for server, entry in host.config.servers.items():
        kept = [name for name in variables_of(entry.raw) if name in stored]
        for name in dict.fromkeys([*secrets_of(entry.raw), *kept]):
            users.setdefault(name, []).append(server)
    return [
        {
            "name": name,
            "place": await asyncio.to_thread(host.core.secrets.place, name),
            "servers": users.get(name, []),
        }
        for name in sorted({*stored, *users})
    ]


@operation(page=True)
async def secret_place(host: Host) -> NextPlace:
    """Tell where a new secret would be stored: in the keyring, or in a private file if there is none."""
    return {"place": await asyncio.to_thread(host.core.secrets.next_place)}


@operation(page=True)
async def secret_set(host: Host, name: str, value: Annotated[str, Field(repr=False)]) -> SecretStored:
    """Store a secret and restart the servers that use it."""
    place = await asyncio.to_thread(host.core.secrets.set, name, value)
    host.chats.models.trials.forget_failures()
    users = [server for server, entry in host.config.servers.items() if name in used_by(entry.raw)]
    restarted = [server for server in users if _runs(host, server)]
    await asyncio.gather(*(host.servers[server].restart() for server in restarted))
    return {"name": name, "place": place, "restarted": restarted}


def _runs(host: Host, name: str) -> bool:
    """True for a server that is meant to run; a disabled one stays off."""
    return name in host.servers and host.servers.status(name).state != "disabled"


@operation(page=True)
async def secret_remove(host: Host, name: str) -> SecretRemoved:
    """Remove a secret; servers that use it keep running until their next start.

    `servers` in the result still refer to it.
    """
    await asyncio.to_thread(host.core.secrets.delete, name)
    users = [server for server, entry in host.config.servers.items() if name in used_by(entry.raw)]
    return {"name": name, "removed": True, "servers": users}


_VARIABLE = re.compile(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_REFERENCE = re.compile(r"\$\{secret:([A-Za-z0-9_][A-Za-z0-9_.-]*)\}")


def secrets_of(raw: object) -> tuple[str, ...]:
    """The names in `${secret:NAME}` anywhere in an entry, each once."""
    return tuple(dict.fromkeys(_REFERENCE.findall(json.dumps(raw))))


def variables_of(raw: object) -> tuple[str, ...]:
    """The names in `${NAME}`, without a default, anywhere in an entry, each once."""
    return tuple(dict.fromkeys(_VARIABLE.findall(json.dumps(raw))))


def used_by(raw: object) -> tuple[str, ...]:
    """The secrets that an entry may use: an unset variable may be stored as a secret."""
    return tuple(dict.fromkeys([*secrets_of(raw), *variables_of(raw)]))


def missing_from(raw: object, stored: Container[str], environ: Container[str]) -> list[str]:
    """The secrets and variables of an entry that have no value."""
    missing = [name for name in secrets_of(raw) if name not in stored]
    return missing + [name for name in variables_of(raw) if name not in environ and name not in stored]
