"""The config file for a backup: without secrets, and with the profiles of a shared database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcrib.config.contents import SERVERS
from toolcrib.config.document import parse_document, render_document
from toolcrib.config.secret_detection import FORMS_OF_SECRETS, looks_secret
from toolcrib.config.secret_extraction import SecretExtractor, Stored
from toolcrib.config.settings_file import OWN, take_profiles

EMBEDDER_SECRET = "embedder-api-key"  # noqa: S105 - its name


def config_for_backup(
    content: bytes, stored: Stored, profiles: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[bytes, dict[str, str]]:
    """The file with references in place of secrets, and these secrets by name.

    A file without secrets stays as it is, with its comments. `profiles` of a shared database replace those of
    the file.
    """
    document = parse_document(content)
    data = document.data
    found: dict[str, str] = {}
    servers: Any = data.get(SERVERS)
    for name, entry in list(servers.items()) if isinstance(servers, dict) else ():
        if isinstance(entry, dict):
            extractor = SecretExtractor(name, looks_secret, stored)
            servers[name] = extractor.hide(entry)
            found.update(extractor.secrets)
    found.update(_hide_embedder_key(data))
    if profiles is not None:
        _put_profiles(data, profiles)
    comments = document.commented and re.search(FORMS_OF_SECRETS, document.text, re.DOTALL)
    changed = found or profiles is not None or comments
    return (render_document(data) if changed else content), found


def _hide_embedder_key(data: dict[str, Any]) -> dict[str, str]:
    own = data.get(OWN)
    retrieval = own.get("retrieval") if isinstance(own, dict) else None
    embedder = retrieval.get("embedder") if isinstance(retrieval, dict) else None
    if not isinstance(embedder, dict):
        return {}
    for key in ("api_key", "apiKey"):
        value = embedder.get(key)
        if isinstance(value, str) and value and "${" not in value:
            embedder[key] = f"${{secret:{EMBEDDER_SECRET}}}"
            return {EMBEDDER_SECRET: value}
    return {}


def _put_profiles(data: dict[str, Any], profiles: Mapping[str, Mapping[str, Any]]) -> None:
    all_of_them = {**take_profiles(data), **profiles}
    own = data.setdefault(OWN, {})
    if named := {name: dict(raw) for name, raw in all_of_them.items() if name}:
        own["profiles"] = named
    if token := all_of_them.get(""):
        own["gateway"] = {**own.get("gateway", {}), **token}
    own.pop("database", None)
