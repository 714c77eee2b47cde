"""Installs, updates, goes back and removes: the one order in which these things happen.

A plan comes first and changes nothing. Applying it works beside what is in place, under a deadline; only when
everything is whole does the new version become the active one. Cancelled, failed or killed, the old version
stays as it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from toolcrib import plugins
from toolcrib.config.atomic import write_atomic
from toolcrib.config.entries import check_name
from toolcrib.config.paths import make_private
from toolcrib.errors import InstallFailed, NotFound, ToolcribError, UsageError
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.contract import INSTALLERS, Installer
from toolcrib.servers.installing.node import NodeMissing
from toolcrib.servers.installing.place import Place, discard, new_identity, read_current
from toolcrib.servers.installing.plan import Launch, Options, Plan, Record, Request
from toolcrib.servers.installing.progress import Progress, Step, unheard
from toolcrib.servers.installing.running import Runner

PLAN_DEADLINE = 300.0
APPLY_DEADLINE = 900.0
PLANS_KEPT = 86_400.0
"""Seconds for which a plan that was shown can be agreed to."""


@dataclass(frozen=True, kw_only=True)
class Installed:
    """What is in place after an installation."""

    record: Record
    folder: Path
    replaced: str | None
    """The version that was active before."""


@dataclass(frozen=True, kw_only=True)
class Newest:
    """How an installed server stands beside what there is."""

    record: Record
    newest: str | None
    """None where nobody can know."""
    error: ToolcribError | None = None

    @property
    def outdated(self) -> bool:
        """True when there is another version than the one in place."""
        return self.newest is not None and self.newest != self.record.version


@dataclass(frozen=True, kw_only=True)
class Installations:
    """The installed servers of a home."""

    installs: Path
    cache: Path
    runner: Runner = field(default_factory=Runner)

    async def plan(
        self,
        reference: str,
        name: str,
        options: Options | None = None,
        *,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        offline: bool = False,
        fetch_runtimes: bool = True,
        progress: Progress = unheard,
    ) -> Plan:
        """What installing `reference` as the server `name` would do; raises `ToolcribError`.

        Without `fetch_runtimes`, a missing Node is not fetched to find out: the plan is then incomplete.
        """
        check_name(name)
        request = Request(
            reference=settle(reference),
            name=name,
            args=tuple(args),
            env=dict(env or {}),
            options=options or Options(),
        )
        installer, kind = find_installer(request.reference)
        bench = self._bench(self.place(name).version_folder(new_identity()), offline, progress)
        bench = replace(bench, fetch_runtimes=fetch_runtimes)
        async with _deadline(PLAN_DEADLINE, f"Planning {reference}"):
            try:
                plan = await installer.plan(request, bench)
            except NodeMissing as error:
                return _incomplete(request, kind, bench, error.runtime)
        await asyncio.to_thread(self._keep, plan)
        return plan

    async def apply(
        self,
        plan: Plan,
        progress: Progress = unheard,
        *,
        offline: bool = False,
        deadline: float = APPLY_DEADLINE,
    ) -> Installed:
        """Do what the plan says; afterwards the new version is the active one, or nothing has changed."""
        if plan.incomplete:
            raise UsageError("The plan is incomplete.", hint="Make it anew, and let it fetch what it needs.")
        place = self.place(plan.name)
        folder = Path(plan.place)
        if folder.parent != place.version_folder("x").parent:
            raise UsageError("The plan is for another home.", hint="Make it anew.")
        with place.locked():
            before = place.current
            await asyncio.to_thread(place.begin, folder.name)
            bench = self._bench(folder, offline, progress)
            try:
                async with _deadline(deadline, f"Installing {plan.package}"):
                    launch = await self._installer(plan.installer).apply(plan, folder, bench)
                    _check_launch(launch)
                record = _record(plan, folder.name, launch)
                bench.progress(Step("activate", plan.version))
                await asyncio.to_thread(place.finish, folder, launch, record)
            except BaseException:
                # Also when cancelled: what is half done must not lie about.
                if place.current is None or place.current.id != folder.name:
                    await asyncio.shield(asyncio.to_thread(discard, folder))
                raise
            await asyncio.to_thread(place.prune)
        return Installed(record=record, folder=folder, replaced=before.version if before else None)

    async def newest(self, name: str, *, offline: bool = False) -> Newest:
        """Look for a newer version; a failure to look is part of the answer."""
        record = self.record(name)
        bench = self._bench(self.place(name).version_folder(record.id), offline, unheard)
        try:
            async with _deadline(PLAN_DEADLINE, f"Looking for versions of {record.package}"):
                found = await self._installer(record.installer).newest(record, bench)
        except ToolcribError as error:
            return Newest(record=record, newest=None, error=error)
        return Newest(record=record, newest=found)

    def place(self, name: str) -> Place:
        """Where a server's versions lie."""
        return Place(self.installs, name)

    def record(self, name: str) -> Record:
        """The active version; raises `NotFound`."""
        record = self.place(name).current
        if record is None:
            raise NotFound(
                f"{name} is not installed here.", hint=f"Install it with: toolcrib add {name} npm:… or pypi:…"
            )
        return record

    def names(self) -> list[str]:
        """The servers with an active version."""
        try:
            folders = sorted(self.installs.iterdir())
        except FileNotFoundError:
            return []
        records = [read_current(folder) for folder in folders if not folder.name.startswith(".")]
        return [record.name for record in records if record]

    def rollback(self, name: str, version: str | None = None) -> tuple[Record, Record | None]:
        """Make the earlier version active again; returns it and the one that was active."""
        place = self.place(name)
        if not place.folder.is_dir():
            self.record(name)
        with place.locked():
            before, target = place.current, place.previous(version)
            place.activate(target.id)
        return target, before

    def uninstall(self, name: str) -> bool:
        """Remove every version; False when there was none."""
        place = self.place(name)
        if not place.folder.is_dir():
            return False
        with place.locked():
            return place.remove()

    def agreed(self, digest: str) -> Plan:
        """The plan that was shown under this digest; raises `NotFound` when it is no longer kept."""
        with contextlib.suppress(OSError, ValidationError):
            plan = Plan.model_validate_json((self._plans / f"{digest[:64]}.json").read_bytes())
            if plan.digest == digest:
                return plan
        raise NotFound("The plan that was agreed to is no longer there.", hint="Start again.")

    def forget(self, plan: Plan) -> None:
        """Throw a kept plan away."""
        (self._plans / f"{plan.digest}.json").unlink(missing_ok=True)

    @property
    def _plans(self) -> Path:
        return self.cache / "plans"

    def _keep(self, plan: Plan) -> None:
        make_private(self._plans)
        for old in (*self._plans.glob("*.json"), *self.cache.glob("plan-*")):
            with contextlib.suppress(FileNotFoundError):
                if old.stat().st_mtime < time.time() - PLANS_KEPT:
                    discard(old) if old.is_dir() else old.unlink()
        write_atomic(self._plans / f"{plan.digest}.json", plan.model_dump_json().encode())

    def _bench(self, place: Path, offline: bool, progress: Progress) -> InstallContext:
        return InstallContext(
            runtimes=self.installs.parent / "runtimes",
            cache=self.cache,
            place=place,
            runner=self.runner,
            progress=progress,
            offline=offline,
        )

    def _installer(self, name: str) -> Installer:
        return cast("Installer", plugins.find(INSTALLERS, name))


def find_installer(reference: str) -> tuple[Installer, str]:
    """The installer that is meant by a reference, and its name; raises `UsageError`."""
    for name in plugins.names(INSTALLERS):
        installer = cast("Installer", plugins.find(INSTALLERS, name))
        if installer.recognises(reference):
            return installer, name
    raise UsageError(
        f"{reference[:200]!r} cannot be installed.",
        hint="Give npm:NAME, pypi:NAME, or the path of a .tgz, .whl, .mcpb, server.json, program or folder.",
    )


def settle(reference: str) -> str:
    """The reference with a path made whole, so that it means the same everywhere."""
    if reference.startswith(("npm:", "pypi:", "http://", "https://")):
        return reference
    return str(Path(os.path.expanduser(reference)).absolute())  # noqa: PTH111 - only a leading ~


@contextlib.asynccontextmanager
async def _deadline(seconds: float, what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise InstallFailed(
            f"{what} took longer than {seconds:g} seconds.", hint="Check the network and its certificates."
        ) from None


def _check_launch(launch: Launch) -> None:
    program = Path(launch.command)
    if program.is_absolute() and not os.access(program, os.X_OK):
        raise InstallFailed(f"{program} cannot be run, so the server could not be started.")
    for word in launch.args[:1]:
        if Path(word).is_absolute() and not Path(word).exists():
            raise InstallFailed(f"The installation has no {Path(word).name}, which starts the server.")


def _incomplete(request: Request, installer: str, bench: InstallContext, runtime: str) -> Plan:
    return Plan(
        installer=installer,
        name=request.name,
        reference=request.reference,
        package=request.reference,
        version="",
        place=str(bench.place),
        runtimes=(runtime,),
        incomplete=True,
        launch=Launch(command="node"),
        entry={"args": list(request.args), "env": dict(request.env)},
        options=request.options,
    )


def _record(plan: Plan, identity: str, launch: Launch) -> Record:
    integrity = plan.digest_of_source or hashlib.sha256(plan.lock.encode()).hexdigest()
    return Record(
        id=identity,
        installer=plan.installer,
        name=plan.name,
        reference=plan.reference,
        package=plan.package,
        version=plan.version,
        published=plan.published,
        installed_at=datetime.now(UTC),
        integrity=f"sha256:{integrity}",
        source=plan.source,
        packages=len(plan.fetches),
        options=plan.options,
        entry=plan.entry,
        launch=launch,
    )
