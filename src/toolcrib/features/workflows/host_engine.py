"""Opens the engine of a host when it is first needed; its packages are installed then. Deletes old runs: how
often, and how the allowed space is shared.

A host that only looks at runs never becomes a worker: it reads the database and takes over no runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol

from toolcrib.config.database_key import Signer
from toolcrib.config.paths import make_private
from toolcrib.config.secrets import SecretStore
from toolcrib.errors import ConfigError, DatabaseKeyMissing, DatabaseUnavailable, NotFound
from toolcrib.features.workflows.artifacts import RunArtifacts
from toolcrib.features.workflows.records import FINAL, RunStart
from toolcrib.host import Host
from toolcrib.schema.workflows import Workflow
from toolcrib.serverkit.context import ToolContext
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.features.workflows.engine.engine import Engine
    from toolcrib.features.workflows.secret_inputs import RunKey, SecretInputs

logger = logging.getLogger(__name__)

PAUSE = 3600.0
MEGABYTE = 1024 * 1024

EXTRA = "workflows"
FILE = "runs.sqlite"
KEY = "secret-inputs-key"
"""The secret from which the key of secret inputs is made, unless the database is shared."""
OnProgress = Callable[[str], None]


async def keep_trimmed(host: Host, engine: Engine, artifacts: RunArtifacts) -> None:
    """Delete what is too old or too much, now and every hour, until cancelled."""
    while True:
        try:
            await trim(host, engine, artifacts)
        except Exception:  # the edge of a background task
            logger.exception("old runs could not be deleted")
        await host.core.clock.sleep(PAUSE)


async def trim(host: Host, engine: Engine, artifacts: RunArtifacts) -> None:
    """One round. Records and files may each take half of the space."""
    settings = host.settings.workflows
    half = settings.megabytes * MEGABYTE // 2
    now = host.core.clock.now().timestamp()
    oldest = now - timedelta(days=settings.days).total_seconds()
    for run in await engine.prune(older_than=oldest, largest=half, now=now):
        await asyncio.to_thread(artifacts.remove, run)
    await asyncio.to_thread(artifacts.trim, days=settings.days, total=half)
    await _withdraw_stale(host, engine)


async def _withdraw_stale(host: Host, engine: Engine) -> None:
    """Remove approval questions of runs that have ended, for example by their timeout."""
    questions = host.approvals.questions
    for asked in await questions.requests.waiting():
        if asked.question["principal"].startswith("workflow:") and await _is_over(
            engine, asked.question["session"]
        ):
            await questions.withdraw(asked.question["id"])


async def _is_over(engine: Engine, run: str | None) -> bool:
    try:
        return (await engine.status(run or "")).state in FINAL
    except NotFound:
        return True


def _silent(text: str) -> None:
    pass


class RunSource(Protocol):
    """What the engine uses of `WorkflowRuns`, which opens it."""

    async def find(self, name: str) -> Workflow: ...

    async def is_imported(self, workflow: Workflow) -> bool: ...

    async def started_with(self, run: str) -> RunStart: ...

    async def secrets(self, run: str) -> SecretInputs: ...

    def changed(self, run: str, step: str | None) -> None: ...


class HostEngine:
    """The engine and the viewer of a host, opened at most once each."""

    def __init__(self, host: Host, source: RunSource, artifacts: RunArtifacts) -> None:
        self._host = host
        self._source = source
        self._artifacts = artifacts
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._failed: list[DatabaseUnavailable] = []
        self._engine: Engine | None = None
        self._viewer: Engine | None = None
        self.url: str | None = host.core.database_url or None
        """A PostgreSQL database instead of the file in the home."""
        self.signer: Signer | None = host.core.database.decisions.signer
        """Signs the runs in that database."""

    @property
    def is_open(self) -> bool:
        """Whether this host runs workflows."""
        return self._engine is not None

    @property
    def exists(self) -> bool:
        """Whether there can be any runs; costs one look at the disk."""
        return self.url is not None or (self._host.paths.runs / FILE).exists()

    @property
    def _place(self) -> str:
        return "the database of the settings" if self.url else str(self._host.paths.runs / FILE)

    async def open(self, on_progress: OnProgress = _silent, *, take_over: bool | None = None) -> Engine:
        """The engine; raises `ToolcribError`.

        With `take_over` it also works on queued runs and on what others left unfinished. By default the host
        of the home does; one that runs beside it, or for a single command, only works on its own runs.
        """
        async with self._one_at_a_time():
            if self._engine is None:
                await _install(on_progress)
                others = self._host.core.holds_home if take_over is None else take_over
                self._engine = await self._enter(lambda: self._worker(others))
            return self._engine

    async def view(self) -> Engine:
        """The engine if it is open, else one that only reads and writes the database."""
        async with self._one_at_a_time():
            if self._engine is not None:
                return self._engine
            if self._viewer is None:
                await _install(_silent)
                self._viewer = await self._enter(self._reader)
            return self._viewer

    async def close(self) -> None:
        """Let steps under way end, within a limit, and close the database."""
        await self._stack.aclose()
        self._engine = self._viewer = None

    @asynccontextmanager
    async def _one_at_a_time(self) -> AsyncIterator[None]:
        """Those who wait while the database does not answer fail with the first; else each waits in turn."""
        failed = self._failed
        async with self._opening:
            if failed:
                raise failed[0]
            yield

    async def _enter(self, enter: Callable[[], Awaitable[Engine]]) -> Engine:
        from sqlalchemy.exc import SQLAlchemyError

        from toolcrib.features.workflows.engine.dbos_internals import DBOSException

        try:
            return await enter()
        except DatabaseUnavailable as error:
            self._failed.append(error)
            self._failed = []
            raise
        except (OSError, sqlite3.Error, DBOSException, SQLAlchemyError) as error:
            raise ConfigError(
                f"The database of the workflow runs cannot be used: {type(error).__name__}: {error}"[:500],
                hint=f"Check that {self._place} can be read and written, and that its disk has room.",
            ) from error

    async def _worker(self, take_over: bool) -> Engine:
        from toolcrib.features.workflows.engine.opening import EngineOptions, open_engine
        from toolcrib.features.workflows.services import HostRunServices

        make_private(self._host.paths.runs)
        services = HostRunServices(self._host, self._source, self._artifacts)
        settings = self._host.settings.workflows
        engine = await self._stack.enter_async_context(
            open_engine(
                self._host.paths.runs,
                services,
                url=self.url,
                signer=self._required_signer(),
                options=EngineOptions(worker_concurrency=settings.at_once, own_runs_only=not take_over),
                clock=self._host.core.clock,
                on_change=self._source.changed,
                key=run_key(self._host.core.secrets, self.signer),
            )
        )
        cleaning = asyncio.create_task(keep_trimmed(self._host, engine, self._artifacts), name="old runs")
        self._stack.push_async_callback(cancel_and_wait, cleaning)
        return engine

    def _required_signer(self) -> Signer | None:
        if self.url and self.signer is None:
            raise DatabaseKeyMissing("This process has no key of the database of the runs.")
        return self.signer

    async def _reader(self) -> Engine:
        from toolcrib.features.workflows.engine.opening import open_viewer

        return await self._stack.enter_async_context(
            open_viewer(
                self._host.paths.runs,
                url=self.url,
                signer=self._required_signer(),
                clock=self._host.core.clock,
                on_change=self._source.changed,
                key=run_key(self._host.core.secrets, self.signer),
            )
        )


def run_key(secrets: SecretStore, signer: Signer | None) -> RunKey:
    """The key of secret inputs: that of a shared database, which all its hosts have, or one of this host."""
    from toolcrib.features.workflows.secret_inputs import RunKey

    known = [signer.derived("secret inputs")] if signer is not None else []

    def find() -> bytes | None:
        if not known and (found := secrets.get(KEY)):
            known.append(hashlib.sha256(found.encode()).digest())
        return known[0] if known else None

    def create() -> bytes:
        if (existing := find()) is not None:
            return existing
        secrets.set(KEY, token_hex(32))
        return find() or create()

    return RunKey(find=find, create=create)


async def _install(on_progress: OnProgress) -> None:
    from toolcrib.serverkit.extras import ensure

    def show(done: float, total: float | None, message: str | None) -> None:
        if message:
            on_progress(message)

    await ensure(EXTRA, ToolContext(on_progress=show))
