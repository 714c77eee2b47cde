"""`settings_set`: write one setting into the config file; it holds at once where that is possible."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from typing import Any

from toolcrib.config.settings_file import change_settings, check_key, value_of
from toolcrib.control.answers.settings import SettingSaved
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import ConfigError, ToolcribError, UsageError
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """A dotted name such as `retrieval.k`, and the value; null goes back to the default."""

    key: str
    value: Any = None


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> SettingSaved:
    """`{key, value, before, command}`; raises `UsageError` or `ConfigError`, and then nothing was written."""
    check_key(params.key)
    before = value_of(host.settings, params.key)
    try:
        await asyncio.to_thread(change_settings, host.config_store, {params.key: params.value})
    except ConfigError as error:
        raise _of_the_value(error, params.key) from None
    await host.reload()
    value = value_of(host.settings, params.key)
    command = f"toolcrib settings set {params.key} {shlex.quote(_word(value))}"
    return {"key": params.key, "value": value, "before": before, "command": command}


def _of_the_value(error: ConfigError, key: str) -> ToolcribError:
    """Without the line: what is wrong there was to be written now, and never was."""
    found = re.search(rf"toolcrib\.({re.escape(key)}\b.*?\.)(?= Near: |$)", error.message)
    if found is None:
        return error
    return UsageError(found[1], hint=f"See what it is now with: toolcrib settings list --all ({key})")


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
