"""Plans an import: which servers are new or known, what happens to names in conflict (skip, replace, a new
name such as `github-2`), which questions are open, which secrets get stored.

Pure: the existing entries and secrets are arguments. Importing trusts nothing: the servers wait for
approval, as any entry does that the user did not write.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from toolcrib.config.drafts import (
    AnswerFiller,
    DraftQuestion,
    ServerDraft,
    SourceContents,
    asked_in,
    map_texts,
    unnamed,
)
from toolcrib.config.paste.parser import as_install
from toolcrib.config.review import review_entry
from toolcrib.config.secret_extraction import LooksSecret, SecretExtractor, Stored
from toolcrib.errors import UsageError
from toolcrib.features.clients.files.client import find_client
from toolcrib.features.clients.transfer.dialect import KEPT, Inexpressible, ReferenceWriter
from toolcrib.features.clients.transfer.sources import PLAIN, PLAIN_DIALECT
from toolcrib.features.clients.transfer.translation import write_entry

Standing = Literal["new", "same", "differs"]
Action = Literal["skip", "rename", "replace"]


class Decision(BaseModel):
    """What to do with a server whose name is already used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action
    name: str = ""
    """The new name, for `rename`; empty for one that is free."""


@dataclass(frozen=True, kw_only=True)
class PlannedImport:
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
    questions: tuple[DraftQuestion, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    install: str = ""
    """The package that its command would fetch at every start, and that could be installed once instead."""


@dataclass(frozen=True, kw_only=True)
class KnownServers:
    """The servers and secrets that exist already."""

    servers: Mapping[str, Any]
    """The entries that are there."""
    stored: Stored
    looks_secret: LooksSecret


def plan(
    reading: SourceContents,
    known: KnownServers,
    *,
    only: Collection[str] = (),
    choices: Mapping[str, Decision] | None = None,
    otherwise: Decision | None = None,
    answers: Mapping[str, str] | None = None,
) -> list[PlannedImport]:
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
        choice = (choices or {}).get(draft.name) or otherwise or Decision(action="skip")
        one = _plan_one(reading, draft, known, choice, answers or {}, taken)
        taken.add(one.as_name)
        planned.append(one)
    return planned


def _plan_one(
    reading: SourceContents,
    draft: ServerDraft,
    known: KnownServers,
    choice: Decision,
    answers: Mapping[str, str],
    taken: set[str],
) -> PlannedImport:
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
    return PlannedImport(
        name=draft.name,
        as_name=as_name,
        standing=standing,
        action=action,
        entry=made.entry,
        secrets=made.secrets,
        waiting=tuple(dict.fromkeys(name for name in made.waiting if known.stored(name) is None)),
        questions=tuple(reading.questions.get(name) or unnamed(name) for name in asked_in(draft.entry)),
        notes=(*draft.notes, *_lent(made, known)),
        remarks=review_entry(made.entry),
        install=_fetched(made.entry),
    )


@dataclass(frozen=True)
class _Made:
    entry: dict[str, Any]
    secrets: dict[str, str] = field(repr=False)
    waiting: list[str] = field(default_factory=list)


def _made(
    reading: SourceContents, draft: ServerDraft, name: str, known: KnownServers, answers: Mapping[str, str]
) -> _Made:
    hiding = SecretExtractor(name, known.looks_secret, known.stored)
    hidden = hiding.hide(draft.entry)
    filling = AnswerFiller(name, reading.questions, answers)
    entry = filling.fill(hidden)
    return _Made(entry, {**hiding.secrets, **filling.secrets}, filling.open)


def _lent(made: _Made, known: KnownServers) -> list[str]:
    """The author of the source may have guessed the name of a secret."""
    return [f"It would receive the stored secret {name}." for name in made.waiting if known.stored(name)]


def _fetched(entry: Mapping[str, Any]) -> str:
    package = as_install(entry)
    return package.reference if package else ""


def _is_same(host: str, known: KnownServers, name: str, made: _Made) -> bool:
    """Whether both would be written alike; the file may be one that we wrote ourselves."""
    if any(known.stored(secret) not in (None, value) for secret, value in made.secrets.items()):
        return False
    there = known.servers.get(name)
    return isinstance(there, Mapping) and _face(host, name, there) == _face(host, name, made.entry)


def _face(host: str, name: str, entry: Mapping[str, Any]) -> Any:
    """The exported form of an entry: variables instead of secrets."""
    if host != PLAIN:
        client = find_client(host)
        try:
            return write_entry(host, client.title, client.dialect, name, entry).entry
        except Inexpressible:
            pass
    shown = map_texts(entry, ReferenceWriter(PLAIN_DIALECT).write)
    return {key: value for key, value in shown.items() if key != KEPT}


def _free_name(name: str, taken: Collection[str]) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
