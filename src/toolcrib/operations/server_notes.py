"""Notes about servers that the config file does not hold: imported from, switched off when, newest version.
The overview of the page shows them."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_core import ValidationError

from toolcrib.config.safe_files import write_atomic
from toolcrib.host import Host

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FILE = "server-notes.json"
ALL = "*"
"""The name for all servers: the master switch."""
_writing = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Note:
    """Stored facts about a server."""

    imported_from: str = ""
    off_at: str | None = None
    processes: int | None = None
    """How many processes ended when it was turned off."""
    newest: str = ""
    """The newest version found by the last update check."""


@cache
def _notes() -> TypeAdapter[dict[str, Note]]:
    from pydantic import TypeAdapter

    return TypeAdapter(dict[str, Note])


def read_notes(host: Host) -> dict[str, Note]:
    try:
        return _notes().validate_json(_file(host).read_bytes())
    except (OSError, ValidationError):
        return {}


def note_import(host: Host, names: list[str], title: str) -> None:
    """Record where servers were imported from."""
    _change(host, {name: {"imported_from": title} for name in names})


def note_switch(host: Host, name: str, enabled: bool, processes: int | None = None) -> None:
    """Record when a server, or all servers, were turned on or off."""
    when = None if enabled else datetime.now(UTC).isoformat(timespec="seconds")
    _change(host, {name: {"off_at": when, "processes": None if enabled else processes}})


def note_newest(host: Host, versions: dict[str, str]) -> None:
    """Record the newest versions found by an update check."""
    _change(host, {name: {"newest": version} for name, version in versions.items()})


def forget_note(host: Host, name: str) -> None:
    """Delete the note of a removed server."""
    _change(host, {name: None})


def _change(host: Host, changes: dict[str, dict[str, object] | None]) -> None:
    with _writing:
        notes = {name: _changed(note) for name, note in read_notes(host).items()}
        for name, change in changes.items():
            notes[name] = {} if change is None else {**notes.get(name, {}), **change}
        kept = {name: note for name, note in notes.items() if any(note.values())}
        write_atomic(_file(host), json.dumps(kept, ensure_ascii=False, indent=1).encode())


def _changed(note: Note) -> dict[str, object]:
    usual = asdict(Note())
    return {key: value for key, value in asdict(note).items() if value != usual[key]}


def _file(host: Host) -> Path:
    return host.paths.state / FILE
