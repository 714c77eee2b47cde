"""From what a person pasted or filled in to the entry that would be written, without writing anything."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from toolcrib.config.aliases import ADDRESS_TYPE
from toolcrib.config.entries import parse_entry
from toolcrib.config.importing.hiding import Hiding
from toolcrib.config.importing.questions import Filling
from toolcrib.config.paste.pasted import Install, short_name
from toolcrib.config.secret_marks import looks_secret
from toolcrib.control.answers.adding import Needed
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.installing import agreed_plan, installations_of
from toolcrib.control.needed import (
    document_needs,
    fill_variables,
    known_to,
    missing,
    needed_variables,
    plan_answers,
    plan_needs,
)
from toolcrib.control.probing import find_kind
from toolcrib.control.reading_pastes import Paste, at_home, package_of, single
from toolcrib.errors import MissingSecret, UsageError
from toolcrib.host import Host
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import find_transport
from toolcrib.servers.installing.answers import fill
from toolcrib.servers.installing.plan import Options, Plan
from toolcrib.servers.installing.progress import Progress, unheard


class ProposeParams(OperationParams):
    """What is to be added: a paste, an entry that was filled in, or a package; and what a person answered."""

    text: str = Field(default="", repr=False)
    entry: dict[str, Any] | None = Field(default=None, repr=False)
    reference: str = ""
    args: tuple[str, ...] = ()
    name: str = ""
    answers: dict[str, str] = Field(default_factory=dict, repr=False)
    as_is: bool = False
    """Run `npx` and `uvx` as they are; install nothing."""
    allow_scripts: tuple[str, ...] = ()
    allow_build: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A server that could be added; `entry` is None while required values are missing."""

    name: str
    entry: ServerEntry | None
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    needed: list[Needed] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    plan: Plan | None = None


async def propose(
    host: Host, params: ProposeParams, *, agreed: str = "", progress: Progress = unheard
) -> Proposal:
    """What would be written; `agreed` names a plan that was shown, which is then taken as it was."""
    paste = await asyncio.to_thread(_paste, params)
    name = params.name or paste.name
    if name in (*host.config.servers, *host.config.broken):
        raise UsageError(f"There is already a server called {name!r}.", hint="Choose another name.")
    if paste.install is not None:
        return await _package(host, params, paste, name, agreed, progress)
    return await _entry(host, params, paste, name)


def _paste(params: ProposeParams) -> Paste:
    if params.entry is not None:
        entry = dict(params.entry)
        guess = short_name(str(entry.get("command") or entry.get("package") or "server"))
        return Paste(kind="command", name=guess, entry=entry, probe="url" in entry and "type" not in entry)
    if params.reference:
        install = Install(reference=params.reference, name=short_name(package_of(params.reference)[0]))
        with_words = Install(**{**vars(install), "args": params.args})
        return Paste(kind="npm", name=install.name, install=at_home(with_words))
    return single(params.text, params.name, Path.cwd(), as_is=params.as_is)


async def _entry(host: Host, params: ProposeParams, paste: Paste, name: str) -> Proposal:
    raw = dict(paste.entry or {})
    variables = raw.get("env") or {}
    asked = needed_variables(variables, is_known=known_to(host))
    needed = [*document_needs(paste.questions.values()), *asked]
    absent = missing(needed, params.answers)
    if variables:
        raw["env"] = fill_variables(variables, params.answers)
    filled, secrets = await asyncio.to_thread(_put_away, host, name, raw, paste, params.answers)
    if paste.probe:
        # Without its headers: nothing of the person goes anywhere before they have said yes.
        kind = await find_kind(host, name, {"url": filled["url"]}) if not absent else None
        filled = {"type": kind or ADDRESS_TYPE, **filled}
    entry = None if absent else _checked(name, filled)
    return Proposal(name=name, entry=entry, secrets=secrets, needed=needed, missing=absent)


async def _package(
    host: Host, params: ProposeParams, paste: Paste, name: str, agreed: str, progress: Progress
) -> Proposal:
    install = paste.install
    assert install is not None
    variables = needed_variables(install.env, install.reference, is_known=known_to(host))
    part = {"args": list(install.args), "env": fill_variables(install.env, params.answers)}
    part, secrets = await asyncio.to_thread(_put_away, host, name, part, paste, params.answers)
    plan = await _plan(host, params, install, part, name, agreed, progress)
    needed = [*plan_needs(plan.questions), *document_needs(paste.questions.values()), *variables]
    absent = missing(needed, params.answers)
    if absent:
        return Proposal(name=name, entry=None, needed=needed, missing=absent, plan=plan)
    own = plan_needs(plan.questions)
    filled = fill(name, plan.entry, plan.questions, plan_answers(own, params.answers))
    folder = {"cwd": install.cwd} if install.cwd else {}
    return Proposal(
        name=name,
        entry=_checked(name, {**filled.entry, **folder}),
        secrets={**filled.secrets, **secrets},
        needed=needed,
        plan=plan,
    )


async def _plan(
    host: Host,
    params: ProposeParams,
    install: Install,
    part: Mapping[str, Any],
    name: str,
    agreed: str,
    progress: Progress,
) -> Plan:
    installations = installations_of(host)
    if agreed:
        return await agreed_plan(installations, name, agreed)
    options = Options(
        allow_scripts=params.allow_scripts,
        allow_build=params.allow_build,
        program=install.program,
        python=install.python,
    )
    return await installations.plan(
        install.reference,
        name,
        options,
        args=tuple(part.get("args", ())),
        env=dict(part.get("env", {})),
        progress=progress,
    )


def _put_away(
    host: Host, name: str, raw: Mapping[str, Any], paste: Paste, answers: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The entry with references in place of secrets, and their values."""
    hiding = Hiding(name, looks_secret, lambda secret: _stored(host, secret))
    hidden = hiding.hide(raw)
    filling = Filling(name, paste.questions, answers)
    filled = filling.fill(hidden)
    return filled, {**hiding.secrets, **filling.secrets}


def _stored(host: Host, name: str) -> str | None:
    try:
        return host.secrets.get(name)
    except MissingSecret:
        return "\0"


def _checked(name: str, raw: Mapping[str, Any]) -> ServerEntry:
    entry = parse_entry(name, raw)
    find_transport(entry)
    return entry
