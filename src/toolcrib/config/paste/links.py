"""Links by which web pages install a server into an editor: `cursor://…`, `vscode:…`, `lmstudio://…`."""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from toolcrib.config.paste.pasted import Document

_SCHEMES = ("cursor", "vscode", "vscode-insiders", "lmstudio")


def is_link(word: str) -> bool:
    """Whether a word is such a link."""
    scheme, sign, _ = word.partition(":")
    return bool(sign) and scheme.lower() in _SCHEMES


def read_link(word: str, cwd: Path) -> Document | None:
    """The server of the link as a config file; None where it holds none."""
    parts = urlsplit(word)
    try:
        if parts.scheme.startswith("vscode"):
            found = json.loads(unquote(parts.query))
            name = str(found.pop("name", "server"))
        else:
            query = parse_qs(parts.query)
            name = query.get("name", ["server"])[0]
            found = json.loads(base64.b64decode(query["config"][0]))
    except (ValueError, KeyError, AttributeError, binascii.Error):
        return None
    if not isinstance(found, dict):
        return None
    return Document(text=json.dumps({"mcpServers": {name: found}}), file=cwd / "pasted.json")
