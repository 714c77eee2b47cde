"""What the operations of importing share: the source they are told, and the plan for it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from toolcrib.config.client_files.places import find_places
from toolcrib.config.importing.finding import Source, find_sources
from toolcrib.config.importing.planning import Action, Choice, Knowledge, Planned, plan
from toolcrib.config.importing.sources import Reading, read_file, read_source, read_words
from toolcrib.config.secret_marks import looks_secret
from toolcrib.control.answers.importing import ImportPlanned, ImportQuestion, ImportSource
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.surface import is_page
from toolcrib.errors import Denied, MissingSecret
from toolcrib.host import Host


class Decision(BaseModel):
    """What to do about one server whose name is taken."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action
    name: str = ""


class ImportParams(OperationParams):
    """A source, and what a person decided; `text` stands for the content of a file that was pasted."""

    file: str
    host: str | None = None
    table: list[str] | None = None
    workspace: str | None = None
    text: str | None = Field(default=None, repr=False)
    only: list[str] = Field(default_factory=list)
    choices: dict[str, Decision] = Field(default_factory=dict)
    otherwise: Action = "skip"
    answers: dict[str, str] = Field(default_factory=dict, repr=False)


async def planned(host: Host, params: ImportParams) -> tuple[Reading, list[Planned]]:
    """The reading of the source, and what would be done."""
    return await asyncio.to_thread(_planned, host, params)


def _planned(host: Host, params: ImportParams) -> tuple[Reading, list[Planned]]:
    reading = _read(params)
    config = host.config
    servers = {name: entry.raw for name, entry in config.servers.items()}
    known = Knowledge(
        servers={**servers, **dict.fromkeys(config.broken)},
        stored=lambda name: _stored(host, name),
        looks_secret=looks_secret,
    )
    choices = {name: Choice(action=one.action, name=one.name) for name, one in params.choices.items()}
    found = plan(
        reading,
        known,
        only=params.only,
        choices=choices,
        otherwise=Choice(action=params.otherwise),
        answers=params.answers,
    )
    return reading, found


def _read(params: ImportParams) -> Reading:
    file = Path(params.file)
    if params.text is not None:
        return read_words(params.text, file, params.host)
    check_readable(file)
    if params.host is None or params.table is None:
        return read_file(file, params.host)
    workspace = Path(params.workspace) if params.workspace else None
    return read_source(Source(host=params.host, file=file, table=tuple(params.table), workspace=workspace))


def check_readable(file: Path) -> None:
    """Raise `Denied` where a page asks for a file that is none of a known host's."""
    if is_page() and not _is_known_place(file):
        raise Denied(
            f"{file} is no config file of a host that is known.",
            hint="Paste what is in it, or use the command: toolcrib import FILE",
        )


def _is_known_place(file: Path) -> bool:
    """True for a file that `import_found` could have named; a page reads no others."""
    places = find_places()
    folders = {file.parent, file.parent.parent}
    return any(source.file == file for folder in folders for source in find_sources(places, folder))


def _stored(host: Host, name: str) -> str | None:
    try:
        return host.secrets.get(name)
    except MissingSecret:
        # It is there, and the keyring does not give it out: whatever it is, it is another value.
        return "\0"


def planned_json(one: Planned) -> ImportPlanned:
    """A server of a plan; values of secrets are never part of it."""
    return {
        "name": one.name,
        "as": one.as_name,
        "standing": one.standing,
        "action": one.action,
        "entry": dict(one.entry),
        "secrets": sorted(one.secrets),
        "waiting": list(one.waiting),
        "questions": [cast("ImportQuestion", question.as_json()) for question in one.questions],
        "notes": list(one.notes),
        "remarks": list(one.remarks),
        "install": one.install,
    }


def source_json(reading: Reading) -> ImportSource:
    """Where servers come from."""
    source = reading.source
    return {"host": source.host, "title": reading.title, "file": str(source.file)}
