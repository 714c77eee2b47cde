"""The config file of a backup, as it is written here."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from toolcrib.config.contents import SERVERS
from toolcrib.config.document import parse_document, render_document
from toolcrib.config.paths import Paths
from toolcrib.config.review import is_bundled
from toolcrib.config.secrets import SecretStore
from toolcrib.config.settings_file import OWN
from toolcrib.errors import ConfigError
from toolcrib.features.backup.config_copy import config_for_backup
from toolcrib.features.backup.manifest import Manifest
from toolcrib.features.backup.plan import GRANTING

_REFERENCE = re.compile(r"\$\{secret:([A-Za-z0-9_.-]{1,100})\}")


def restored_config(content: bytes, manifest: Manifest, paths: Paths, *, keep_approvals: bool) -> bytes:
    """The file for this home: with its own folder for files, and without a shared database.

    Without `keep_approvals`, settings that let calls run without asking are those of this home.
    """
    data = parse_document(content).data
    before = json.dumps(data)
    _move_files_folder(data, manifest.files_folder, str(paths.files))
    own = data.get(OWN)
    if isinstance(own, dict):
        own.pop("database", None)
    if not keep_approvals:
        _take_granting(data, _present(paths))
    return content if json.dumps(data) == before else render_document(data)


def literals_of(paths: Paths, store: SecretStore) -> dict[str, str]:
    """Secrets that are written into the present config file, under the names that a backup gives them."""
    try:
        return config_for_backup(paths.config_file.read_bytes(), store.get)[1]
    except (OSError, ConfigError):
        return {}


def missing_secrets(config: bytes, known: Collection[str]) -> list[str]:
    """The secrets that the file refers to and that are not known."""
    text = json.dumps(parse_document(config).data, ensure_ascii=False)
    return sorted({name for name in _REFERENCE.findall(text) if name not in known})


def _present(paths: Paths) -> dict[str, Any]:
    try:
        return parse_document(paths.config_file.read_bytes()).data
    except (OSError, ConfigError):
        return {}


def _take_granting(data: dict[str, Any], present: dict[str, Any]) -> None:
    own, ours = data.get(OWN), present.get(OWN)
    ours = ours if isinstance(ours, dict) else {}
    if not isinstance(own, dict):
        return
    for key in GRANTING:
        own.pop(key, None)
        if key in ours:
            own[key] = ours[key]
    if isinstance(own.get("agent"), dict):
        own["agent"].pop("sampling", None)


def _move_files_folder(data: dict[str, Any], before: str, now: str) -> None:
    """Lend the folder of this home to the bundled filesystem server, in place of that of the old one."""
    servers = data.get(SERVERS)
    if before == now or not isinstance(servers, dict):
        return
    old, new = before.replace("${", "$${"), now.replace("${", "$${")
    for entry in servers.values():
        if isinstance(entry, dict) and is_bundled(entry) and isinstance(entry.get("args"), list):
            entry["args"] = [new if word == old else word for word in entry["args"]]
