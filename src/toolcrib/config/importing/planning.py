"""What taking servers in would do: which are new, which are there already, what is asked and put away.

Pure: the entries that are there and the secrets that are stored arrive as arguments. Nothing is trusted by
being taken in: the servers wait for a person, as any other entry does that somebody else wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from toolcrib.config.client_files.client import find_client
from toolcrib.config.importing.dialect import KEPT, Inexpressible
from toolcrib.config.importing.finding import PLAIN
from toolcrib.config.importing.hiding import Hiding, LooksSecret, Stored
from toolcrib.config.importing.questions import Filling, Question, asked_in, unnamed
from toolcrib.config.importing.reading import Draft
from toolcrib.config.importing.references import Outgoing, map_texts
from toolcrib.config.importing.sources import PLAIN_DIALECT, Reading
from toolcrib.config.importing.writing import write_entry
from toolcrib.config.paste.pasted import Install
from toolcrib.config.paste.understanding import is_launcher, understand
from toolcrib.config.review import review_entry
from toolcrib.errors import UsageError

Standing = Literal["new", "same", "differs"]
Action = Literal["skip", "rename", "replace"]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What to do about a server whose name is taken."""

    action: Action = "skip"
    name: str = ""
    """The new name, for `rename`; empty for one that is free."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One server as it would be written."""

    name: str
    """In the source."""
    as_name: str
    """Here."""
    standing: Standing
    action: Literal["add", "skip", "replace"]
    entry: Mapping[str, Any]
    secrets: Mapping[str, str] = field(repr=False)
    waiting: tuple[str, ...] = ()
    """Secrets and variables that it still needs."""
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    install: str = ""
    """The package that its command would fetch at every start, and that could be installed once instead."""


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What is known here."""

    servers: Mapping[str, Any]
    """The entries that are there."""
    stored: Stored
    looks_secret: LooksSecret


def plan(
    reading: Reading,
    known: Knowledge,
    *,
    only: Collection[str] = (),
    choices: Mapping[str, Choice] | None = None,
    otherwise: Choice | None = None,
    answers: Mapping[str, str] | None = None,
) -> list[Planned]:
    """Every server of a reading; raises `UsageError` for names that it does not hold."""
    names = [draft.name for draft in reading.drafts]
    unknown = [name for name in only if name not in names]
    if unknown:
        raise UsageError(
            f"There is no {unknown[0]!r} in {reading.source.file}.", hint=f"It has: {', '.join(names)}."
        )
    taken = set(known.servers)
    planned = []
    for draft in reading.drafts:
        if only and draft.name not in only:
            continue
        choice = (choices or {}).get(draft.name) or otherwise or Choice()
        one = _plan_one(reading, draft, known, choice, answers or {}, taken)
        taken.add(one.as_name)
        planned.append(one)
    return planned


def _plan_one(
    reading: Reading,
    draft: Draft,
    known: Knowledge,
    choice: Choice,
    answers: Mapping[str, str],
    taken: set[str],
) -> Planned:
    made = _made(reading, draft, draft.name, known, answers)
    standing: Standing = "new"
    if draft.name in taken:
        standing = "same" if _is_same(reading.source.host, known, draft.name, made) else "differs"
    action: Literal["add", "skip", "replace"] = "add"
    if standing == "same" or (standing == "differs" and choice.action == "skip"):
        action = "skip"
    elif standing == "differs" and choice.action == "replace":
        action = "replace"
    as_name = draft.name
    if standing == "differs" and choice.action == "rename":
        as_name = _free_name(choice.name or draft.name, taken)
        made = _made(reading, draft, as_name, known, answers)
    return Planned(
        name=draft.name,
        as_name=as_name,
        standing=standing,
        action=action,
        entry=made.entry,
        secrets=made.secrets,
        waiting=tuple(dict.fromkeys(name for name in made.waiting if known.stored(name) is None)),
        questions=tuple(reading.questions.get(one) or unnamed(one) for one in asked_in(draft.entry)),
        notes=(*draft.notes, *_lent(made, known)),
        remarks=review_entry(made.entry),
        install=_fetched(made.entry),
    )


@dataclass(frozen=True)
class _Made:
    entry: dict[str, Any]
    secrets: dict[str, str] = field(repr=False)
    waiting: list[str] = field(default_factory=list)


def _made(reading: Reading, draft: Draft, name: str, known: Knowledge, answers: Mapping[str, str]) -> _Made:
    hiding = Hiding(name, known.looks_secret, known.stored)
    hidden = hiding.hide(draft.entry)
    filling = Filling(name, reading.questions, answers)
    entry = filling.fill(hidden)
    return _Made(entry, {**hiding.secrets, **filling.secrets}, filling.open)


def _lent(made: _Made, known: Knowledge) -> list[str]:
    """Whoever wrote the source may have guessed the name of a secret."""
    return [f"It would be given the stored secret {name}." for name in made.waiting if known.stored(name)]


def _fetched(entry: Mapping[str, Any]) -> str:
    if "url" in entry or not is_launcher(str(entry.get("command", ""))):
        return ""
    found = understand((str(entry["command"]), *map(str, entry.get("args") or ())), Path.cwd())
    return found.reference if isinstance(found, Install) else ""


def _is_same(host: str, known: Knowledge, name: str, made: _Made) -> bool:
    """Whether both would be written alike; the file may be one that we wrote ourselves."""
    if any(known.stored(secret) not in (None, value) for secret, value in made.secrets.items()):
        return False
    there = known.servers.get(name)
    return isinstance(there, Mapping) and _face(host, name, there) == _face(host, name, made.entry)


def _face(host: str, name: str, entry: Mapping[str, Any]) -> Any:
    """What others see of an entry: variables in place of secrets."""
    if host != PLAIN:
        client = find_client(host)
        try:
            return write_entry(host, client.title, client.dialect, name, entry).entry
        except Inexpressible:
            pass
    shown = map_texts(entry, Outgoing(PLAIN_DIALECT).write)
    return {key: value for key, value in shown.items() if key != KEPT}


def _free_name(name: str, taken: Collection[str]) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
