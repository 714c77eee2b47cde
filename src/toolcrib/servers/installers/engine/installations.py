"""Installs, updates, rolls back and removes servers. Has the timeouts of a plan and an installation, how long
a plan can be approved, and the errors for an unknown reference.

A plan comes first and changes nothing. Applying it builds a new folder, with a timeout; only a complete
version becomes active. If cancelled, failed or killed, the old version stays active.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from toolcrib import plugins
from toolcrib.config.entries import check_name
from toolcrib.config.paths import make_private
from toolcrib.config.safe_files import write_atomic
from toolcrib.errors import InstallFailed, NotFound, ToolcribError, UsageError
from toolcrib.servers.installers.engine.contract import (
    BROKEN,
    INSTALLERS,
    CommandRunner,
    InstallContext,
    Installer,
    InstallProgress,
    Progress,
    no_progress,
)
from toolcrib.servers.installers.engine.node import NodeMissing
from toolcrib.servers.installers.engine.plan import InstallRequest, LaunchCommand, Options, Plan, Record
from toolcrib.servers.installers.engine.versions import InstalledVersions, discard, new_identity, read_current

PLAN_DEADLINE = 300.0
APPLY_DEADLINE = 900.0
PLANS_KEPT = 86_400.0
"""Seconds for which a shown plan can be approved."""


@dataclass(frozen=True, kw_only=True)
class Installed:
    """The result of an installation."""

    record: Record
    folder: Path
    replaced: str | None
    """The previously active version."""


@dataclass(frozen=True, kw_only=True)
class NewestVersion:
    """An installed server and its newest available version."""

    record: Record
    newest: str | None
    """None if unknown."""
    error: ToolcribError | None = None

    @property
    def outdated(self) -> bool:
        """Whether another version is available."""
        return self.newest is not None and self.newest != self.record.version


@dataclass(frozen=True, kw_only=True)
class Installations:
    """The installed servers of a home."""

    installs: Path
    cache: Path
    runner: CommandRunner = field(default_factory=CommandRunner)

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
        progress: Progress = no_progress,
    ) -> Plan:
        """Plan to install `reference` as the server `name`; raises `ToolcribError`.

        Without `fetch_runtimes`, a missing Node is not downloaded: the plan is then incomplete.
        """
        check_name(name)
        request = InstallRequest(
            reference=settle(reference),
            name=name,
            args=tuple(args),
            env=dict(env or {}),
            options=options or Options(),
        )
        installer, kind = find_installer(request.reference)
        context = self._context(self.place(name).version_folder(new_identity()), offline, progress)
        context = replace(context, fetch_runtimes=fetch_runtimes)
        async with _deadline(PLAN_DEADLINE, f"Planning {reference}"):
            try:
                plan = await installer.plan(request, context)
            except NodeMissing as error:
                return _incomplete(request, kind, context, error.runtime)
        await asyncio.to_thread(self._store, plan)
        return plan

    async def apply(
        self,
        plan: Plan,
        progress: Progress = no_progress,
        *,
        offline: bool = False,
        deadline: float = APPLY_DEADLINE,
    ) -> Installed:
        """Install the plan; afterwards the new version is active, or nothing has changed."""
        if plan.incomplete:
            raise UsageError(
                "The plan is incomplete.", hint="Plan again, and allow the download of the runtime."
            )
        place = self.place(plan.name)
        folder = Path(plan.place)
        if folder.parent != place.version_folder("x").parent:
            raise UsageError("The plan is for another home.", hint="Plan again.")
        with place.locked():
            before = place.current
            await asyncio.to_thread(place.begin, folder.name)
            context = self._context(folder, offline, progress)
            try:
                async with _deadline(deadline, f"Installing {plan.package}"):
                    launch = await self._installer(plan.installer).apply(plan, folder, context)
                    _check_launch(launch)
                record = Record.of(plan, folder.name, launch, context.remarks)
                context.progress(InstallProgress("activate", plan.version))
                await asyncio.to_thread(place.finish, folder, launch, record)
            except BaseException:
                # Also if cancelled: remove the unfinished version.
                if place.current is None or place.current.id != folder.name:
                    await asyncio.shield(asyncio.to_thread(discard, folder))
                raise
            await asyncio.to_thread(place.prune)
        return Installed(record=record, folder=folder, replaced=before.version if before else None)

    async def newest(self, name: str, *, offline: bool = False) -> NewestVersion:
        """Look for a newer version; an error is part of the result."""
        record = self.record(name)
        context = self._context(self.place(name).version_folder(record.id), offline, no_progress)
        try:
            async with _deadline(PLAN_DEADLINE, f"Looking for versions of {record.package}"):
                found = await self._installer(record.installer).newest(record, context)
        except ToolcribError as error:
            return NewestVersion(record=record, newest=None, error=error)
        return NewestVersion(record=record, newest=found)

    def place(self, name: str) -> InstalledVersions:
        return InstalledVersions(self.installs, name)

    def record(self, name: str) -> Record:
        """The active version; raises `NotFound`."""
        record = self.place(name).current
        if record is None:
            raise NotFound(
                f"{name} is not installed.", hint=f"Install it with: toolcrib add {name} npm:… or pypi:…"
            )
        return record

    def names(self) -> list[str]:
        try:
            folders = sorted(self.installs.iterdir())
        except FileNotFoundError:
            return []
        records = [read_current(folder) for folder in folders if not folder.name.startswith(".")]
        return [record.name for record in records if record]

    def rollback(self, name: str, version: str | None = None) -> tuple[Record, Record | None]:
        """Activate the earlier version; returns it and the previously active one."""
        place = self.place(name)
        if not place.folder.is_dir():
            self.record(name)
        with place.locked():
            before, target = place.current, place.previous(version)
            place.activate(target.id)
        return target, before

    def uninstall(self, name: str) -> bool:
        """Remove all versions; False if there were none."""
        place = self.place(name)
        if not place.folder.is_dir():
            return False
        with place.locked():
            return place.remove()

    def agreed(self, digest: str) -> Plan:
        """The shown plan with this digest; raises `NotFound` if it expired."""
        with contextlib.suppress(OSError, ValidationError):
            plan = Plan.model_validate_json((self._plans / f"{digest[:64]}.json").read_bytes())
            if plan.digest == digest:
                return plan
        raise NotFound("The approved plan has expired.", hint="Start again.")

    def forget(self, plan: Plan) -> None:
        """Delete a stored plan."""
        (self._plans / f"{plan.digest}.json").unlink(missing_ok=True)

    @property
    def _plans(self) -> Path:
        return self.cache / "plans"

    def _store(self, plan: Plan) -> None:
        make_private(self._plans)
        for old in (*self._plans.glob("*.json"), *self.cache.glob("plan-*")):
            with contextlib.suppress(FileNotFoundError):
                if old.stat().st_mtime < time.time() - PLANS_KEPT:
                    discard(old) if old.is_dir() else old.unlink()
        write_atomic(self._plans / f"{plan.digest}.json", plan.model_dump_json().encode())

    def _context(self, place: Path, offline: bool, progress: Progress) -> InstallContext:
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
    """The installer for a reference, and its name; raises `UsageError`."""
    for name in plugins.names(INSTALLERS):
        installer = cast("Installer", plugins.find(INSTALLERS, name))
        if installer.recognises(reference):
            return installer, name
    raise UsageError(
        f"{reference[:200]!r} cannot be installed.",
        hint="Use npm:NAME, pypi:NAME, or the path of a .tgz, .whl, .mcpb, server.json, program or folder.",
    )


def settle(reference: str) -> str:
    """The reference with an absolute path."""
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


def _check_launch(launch: LaunchCommand) -> None:
    program = Path(launch.command)
    if program.is_absolute() and not os.access(program, os.X_OK):
        raise InstallFailed(f"{program} is not executable, so the server cannot start.")
    for word in launch.args[:1]:
        if Path(word).is_absolute() and not Path(word).exists():
            raise InstallFailed(f"The installed program {Path(word).name} is missing.", hint=BROKEN)


def _incomplete(request: InstallRequest, installer: str, context: InstallContext, runtime: str) -> Plan:
    return context.new_plan(
        request,
        installer=installer,
        package=request.reference,
        version="",
        runtimes=(runtime,),
        incomplete=True,
        launch=LaunchCommand(command="node"),
        entry={},
    )
