"""Deletes old runs: by age, and by the size of what is recorded and stored."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from toolcrib.errors import NotFound
from toolcrib.features.workflows.artifacts import RunArtifacts
from toolcrib.features.workflows.records import FINAL
from toolcrib.host import Host

if TYPE_CHECKING:
    from toolcrib.features.workflows.engine.engine import Engine

logger = logging.getLogger(__name__)

PAUSE = 3600.0
MEGABYTE = 1024 * 1024


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
    for run in await engine.retention.prune(older_than=oldest, largest=half, now=now):
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
