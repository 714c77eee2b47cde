"""An entry in another form: as the package that its command would fetch, under a name, tied to a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolcrib.config.drafts import REACHES, as_object
from toolcrib.config.paste.parser import is_launcher, understand
from toolcrib.config.paste.pasted import Install


def as_install(entry: Mapping[str, Any]) -> Install | None:
    """The package that an entry's command would fetch, where it is one of those."""
    words = (str(entry.get("command", "")), *map(str, entry.get("args") or ()))
    if "url" in entry or len(words) < 2 or not is_launcher(words[0]):
        return None
    found = understand(words, Path.cwd())
    if not isinstance(found, Install):
        return None
    env = {key: str(value) for key, value in (entry.get("env") or {}).items() if value is not None}
    return Install(**{**vars(found), "env": env, "cwd": entry.get("cwd")})


def named(text: str, name: str) -> str:
    """A document in which a single entry without a name has one."""
    entry = as_object(text)
    if entry is None or not any(isinstance(entry.get(key), str) for key in REACHES):
        return text
    package = as_install(dict(entry))
    return json.dumps({"mcpServers": {name or (package.name if package else "server"): entry}})


def needed_folder(words: Iterable[str], here: Path | None = None) -> str | None:
    """This folder, if an argument names a file in it: a host may be started from anywhere."""
    here = here or Path.cwd()
    for word in words:
        looks_like_a_path = "/" in word or Path(word).suffix or word in (".", "..")
        if not looks_like_a_path or Path(word).is_absolute() or word.startswith(("-", "~")):
            continue
        if (here / word).exists():
            return str(here)
    return None
