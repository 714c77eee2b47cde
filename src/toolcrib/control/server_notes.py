"""What is remembered of servers beside their entries: where they came from, when they were turned off,
which newer version is known.

Only for people to read: nothing follows from it, and a file that cannot be read is an empty one.
"""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from toolcrib.config.atomic import write_atomic
from toolcrib.host import Host

FILE = "server-notes.json"
ALL = "*"
"""Stands for all servers: the master switch."""
_writing = threading.Lock()


class Note(BaseModel):
    """What is remembered of one."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    imported_from: str = ""
    off_at: str | None = None
    processes: int | None = None
    """How many ended when it was turned off."""
    newest: str = ""
    """The newest version there was when somebody last looked."""


_NOTES = TypeAdapter(dict[str, Note])


def read_notes(host: Host) -> dict[str, Note]:
    """Every note by the name of its server."""
    try:
        return _NOTES.validate_json(_file(host).read_bytes())
    except (OSError, ValidationError):
        return {}


def note_import(host: Host, names: list[str], title: str) -> None:
    """These servers were taken in from there."""
    _change(host, {name: {"imported_from": title} for name in names})


def note_switch(host: Host, name: str, enabled: bool, processes: int | None = None) -> None:
    """A server, or all of them, was turned on or off now."""
    when = None if enabled else datetime.now(UTC).isoformat(timespec="seconds")
    _change(host, {name: {"off_at": when, "processes": None if enabled else processes}})


def note_newest(host: Host, versions: dict[str, str]) -> None:
    """Somebody looked, and these are the newest versions of these servers."""
    _change(host, {name: {"newest": version} for name, version in versions.items()})


def forget_note(host: Host, name: str) -> None:
    """The server is gone for good."""
    _change(host, {name: None})


def _change(host: Host, changes: dict[str, dict[str, object] | None]) -> None:
    with _writing:
        notes = {name: note.model_dump(exclude_defaults=True) for name, note in read_notes(host).items()}
        for name, change in changes.items():
            notes[name] = {} if change is None else {**notes.get(name, {}), **change}
        kept = {name: note for name, note in notes.items() if any(note.values())}
        write_atomic(_file(host), json.dumps(kept, ensure_ascii=False, indent=1).encode())


def _file(host: Host) -> Path:
    return host.paths.state / FILE
