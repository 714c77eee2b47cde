"""Codex: a table of its TOML file."""

from __future__ import annotations

import re

from toolcrib.features.clients.files import toml_text
from toolcrib.features.clients.files.client import Entry, McpClient
from toolcrib.features.clients.files.gateway import Address, Program
from toolcrib.features.clients.transfer.dialect import MILLISECONDS, Dialect, Timer, take_list, take_table

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_BEARER = re.compile(r"Bearer \$\{(\w+)\}")


def _command(name: str, gateway: Program | Address) -> list[str]:
    if isinstance(gateway, Address):
        return ["codex", "mcp", "add", name, "--url", gateway.url]
    return ["codex", "mcp", "add", name, "--", gateway.command, *gateway.args]


def _read(entry: Entry) -> Entry:
    """Variables and headers by the names of variables, as references."""
    headers = take_table(entry, "http_headers")
    for header, variable in take_table(entry, "env_http_headers").items():
        headers[header] = f"${{{variable}}}"
    if token := entry.pop("bearer_token_env_var", None):
        headers["Authorization"] = f"Bearer ${{{token}}}"
    names = take_list(entry, "env_vars")
    allowed = [name for name in names if isinstance(name, str)]
    odd = [name for name in names if not isinstance(name, str)]
    found = {"headers": headers, "env_vars": odd, "ours": {"envAllow": allowed} if allowed else {}}
    return {**entry, **{key: value for key, value in found.items() if value}}


def _write(name: str, entry: Entry) -> Entry:
    ours, env = entry["ours"], entry.pop("env", None) or {}
    handed_on = [key for key, value in env.items() if value == f"${{{key}}}"]
    names = [*ours.pop("envAllow", ()), *handed_on, *entry.pop("env_vars", ())]
    literal = {key: str(value) for key, value in env.items() if key not in handed_on}
    plain, by_variable = {}, {}
    for header, value in (entry.pop("headers", None) or {}).items():
        bearer = _BEARER.fullmatch(value) if header.lower() == "authorization" else None
        variable = _VARIABLE.fullmatch(value)
        if bearer:
            entry["bearer_token_env_var"] = bearer[1]
        elif variable:
            by_variable[header] = variable[1]
        else:
            plain[header] = value
    found = {"env": literal, "env_vars": names, "http_headers": plain, "env_http_headers": by_variable}
    return {**entry, **{key: value for key, value in found.items() if value}}


client = McpClient(
    title="Codex",
    syntax=toml_text,
    table=("mcp_servers",),
    file=lambda folders: (folders.named("CODEX_HOME") or folders.home / ".codex") / "config.toml",
    expands=True,
    own_command=_command,
    afterwards="It takes effect in new sessions of Codex.",
    dialect=Dialect(
        fills=False,
        forwards=True,
        off="enabled",
        start=(Timer(key="startup_timeout_sec"), Timer(key="startup_timeout_ms", unit=MILLISECONDS)),
        call=(Timer(key="tool_timeout_sec"),),
        include="enabled_tools",
        exclude="disabled_tools",
        folder=True,
        grants=frozenset({"default_tools_approval_mode", "tools"}),
        read=_read,
        write=_write,
    ),
    project=(".codex/config.toml",),
)
