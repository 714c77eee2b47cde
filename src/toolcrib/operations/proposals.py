"""Proposes the entry for a paste or a form, and adds it once approved: missing values, values stored as
secrets, changes since it was shown, and how long an address is tried to find its transport."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from toolcrib.config.aliases import ADDRESS_TYPE
from toolcrib.config.drafts import AnswerFiller
from toolcrib.config.entries import parse_entry
from toolcrib.config.paste.pasted import Install, short_name
from toolcrib.config.review import launch_of
from toolcrib.config.secret_detection import looks_secret, without_secrets
from toolcrib.config.secret_extraction import LooksSecret, SecretExtractor
from toolcrib.errors import AuthRequired, MissingSecret, UsageError
from toolcrib.host import Host
from toolcrib.operations.event_relay import relay
from toolcrib.operations.installs import agreed_plan, installations_of
from toolcrib.operations.operation import Invocation, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.pastes import (
    Paste,
    at_home,
    document_needs,
    fill_variables,
    known_to,
    missing,
    needed_variables,
    package_of,
    plan_answers,
    plan_needs,
    single,
)
from toolcrib.operations.results.additions import Admitted, Needed, Proposed
from toolcrib.operations.trust import launch_shown, mark_of
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import find_transport
from toolcrib.servers.installers.engine.contract import InstallProgress, Progress, no_progress
from toolcrib.servers.installers.engine.plan import Options, Plan, fill
from toolcrib.servers.transport import probed_types
from toolcrib.servers.trial import try_server


class ProposeParams(OperationParams):
    """The server to add: a paste, an entry, or a package; and the user's answers."""

    text: str = Field(default="", repr=False)
    entry: dict[str, Any] | None = Field(default=None, repr=False)
    reference: str = ""
    args: tuple[str, ...] = ()
    name: str = ""
    answers: dict[str, str] = Field(default_factory=dict, repr=False)
    as_is: bool = False
    """Run `npx` and `uvx` directly; install nothing."""
    allow_scripts: tuple[str, ...] = ()
    allow_build: tuple[str, ...] = ()


@operation(page=True)
async def propose(host: Host, invocation: Invocation[InstallProgress], params: ProposeParams) -> Proposed:
    """Show what adding a server would run, download and write; nothing is written.

    `launch` is null while values are missing.
    """
    began = time.perf_counter()
    async with relay(invocation.emit) as put:
        found = await make_proposal(host, params, from_page=invocation.from_page, progress=put)
    plan = found.plan
    return {
        "name": found.name,
        "launch": await launch_shown(host, found.entry, plan) if found.entry else None,
        "entry": dict(found.entry.raw) if found.entry else {},
        "secrets": sorted(found.secrets),
        "needed": found.needed,
        "missing": found.missing,
        "plan": plan.digest if plan else "",
        "package": plan.package if plan else "",
        "version": plan.version if plan else "",
        "ms": round((time.perf_counter() - began) * 1000, 1),
    }


class AdmitParams(ProposeParams):
    """The parameters of `propose`, with the mark and the plan that were shown."""

    mark: str
    plan: str = ""


@operation(page=True)
async def admit(host: Host, invocation: Invocation[InstallProgress], params: AdmitParams) -> Admitted:
    """Add a server as proposed; it still needs trust.

    Installs it, writes the entry, and emits each step of the installation.
    """
    began = time.perf_counter()
    proposal = await make_proposal(host, params, from_page=invocation.from_page, agreed=params.plan)
    if proposal.entry is None:
        raise UsageError(f"{proposal.name} needs values that are missing.", hint=", ".join(proposal.missing))
    if mark_of(launch_of(proposal.entry.raw)) != params.mark:
        raise UsageError(f"{proposal.name} has changed since it was shown.", hint="Check the plan again.")
    async with relay(invocation.emit) as put:
        packages = await _install(host, proposal, put)
    for name, value in proposal.secrets.items():
        await asyncio.to_thread(host.core.secrets.set, name, value)
    await asyncio.to_thread(host.core.config_store.add_server, proposal.name, proposal.entry.raw)
    await host.reload()
    return {
        "name": proposal.name,
        "mark": params.mark,
        "trusted": host.core.trust.holds(proposal.entry),
        "packages": packages,
        "version": proposal.plan.version if proposal.plan else "",
        "ms": round((time.perf_counter() - began) * 1000, 1),
    }


async def _install(host: Host, proposal: Proposal, progress: Progress) -> int:
    if proposal.plan is None:
        return 0
    installations = installations_of(host)
    await installations.apply(proposal.plan, progress)
    await asyncio.to_thread(installations.forget, proposal.plan)
    return len(proposal.plan.fetches)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A server to add; `entry` is None while required values are missing."""

    name: str
    entry: ServerEntry | None
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    needed: list[Needed] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    plan: Plan | None = None


async def make_proposal(
    host: Host, params: ProposeParams, *, from_page: bool, agreed: str = "", progress: Progress = no_progress
) -> Proposal:
    """The entry that would be written; `agreed` is the digest of an approved plan, used unchanged."""
    paste = await asyncio.to_thread(_paste, params, from_page)
    name = params.name or paste.name
    if name in host.config.names:
        raise UsageError(f"There is already a server called {name!r}.", hint="Choose another name.")
    if paste.install is not None:
        return await _package(host, params, paste, name, agreed, progress)
    return await _entry(host, params, paste, name, progress)


def _paste(params: ProposeParams, from_page: bool) -> Paste:
    if params.entry is not None:
        entry = dict(params.entry)
        guess = short_name(str(entry.get("command") or entry.get("package") or "server"))
        return Paste(kind="command", name=guess, entry=entry, probe="url" in entry and "type" not in entry)
    if params.reference:
        install = Install(reference=params.reference, name=short_name(package_of(params.reference)[0]))
        with_args = Install(**{**vars(install), "args": params.args})
        return Paste(kind="npm", name=install.name, install=at_home(with_args))
    return single(params.text, params.name, Path.cwd(), as_is=params.as_is, from_page=from_page)


async def _entry(host: Host, params: ProposeParams, paste: Paste, name: str, progress: Progress) -> Proposal:
    raw = dict(paste.entry or {})
    variables = raw.get("env") or {}
    asked = needed_variables(variables, is_known=known_to(host))
    needed = [*document_needs(paste.questions.values()), *asked]
    absent = missing(needed, params.answers)
    if variables:
        raw["env"] = fill_variables(variables, params.answers)
    filled, secrets = await asyncio.to_thread(_fill, host, name, raw, paste, params.answers)
    if paste.probe:
        progress(InstallProgress("ask", f"{without_secrets(filled['url'])} how it is reached"))
        # Without headers: no user data is sent before the user approves.
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
    part, secrets = await asyncio.to_thread(_fill, host, name, part, paste, params.answers)
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


def _fill(
    host: Host, name: str, raw: Mapping[str, Any], paste: Paste, answers: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The entry with references instead of secrets, and the values of the secrets."""
    hidden, secrets = extract_secrets(host, name, raw)
    filler = AnswerFiller(name, paste.questions, answers)
    filled = filler.fill(hidden)
    return filled, {**secrets, **filler.secrets}


def extract_secrets(
    host: Host, name: str, raw: Mapping[str, Any], is_secret: LooksSecret = looks_secret
) -> tuple[dict[str, Any], dict[str, str]]:
    """The entry with references instead of literal secrets, and the values to store."""
    extractor = SecretExtractor(name, is_secret, lambda secret: _stored(host, secret))
    return extractor.hide(raw), extractor.secrets


def _stored(host: Host, name: str) -> str | None:
    try:
        return host.core.secrets.get(name)
    except MissingSecret:
        return "\0"


def _checked(name: str, raw: Mapping[str, Any]) -> ServerEntry:
    entry = parse_entry(name, raw)
    find_transport(entry)
    return entry


PROBE_TIMEOUT = 10.0
"""Seconds per step."""


async def find_kind(host: Host, name: str, entry: Mapping[str, Any]) -> str | None:
    """Find the transport type of an address by connecting; None if no type works."""
    for kind in probed_types():
        wanted = {**entry, "type": kind, "timeouts": {"start": PROBE_TIMEOUT}, "sseFallback": False}
        trial = await try_server(host.core.connector, parse_entry(name, wanted))
        # A server that asks for a sign-in has understood the request.
        if trial.ok or isinstance(trial.error, AuthRequired):
            return kind
    return None
