"""Sign-ins that wait for the user in the browser, as background work of a host: how long the user has to sign
in, and how many sign-ins are kept.

A sign-in ends when the user has agreed or refused, after `PATIENCE`, when it is cancelled, and with the host.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from toolcrib.errors import AuthRequired, CallFailed, NotFound, ToolcribError
from toolcrib.tasks import cancel_and_wait

logger = logging.getLogger(__name__)

PATIENCE = 600.0
"""Seconds that the user has to sign in."""
MOST = 16
"""Sign-ins that are kept, waiting or ended; the oldest make room."""

ShowPage = Callable[[str], Awaitable[None]]
SignInWork = Callable[[ShowPage], Awaitable[Any]]
"""Shows a page, waits for the user, and returns a result."""


@dataclass(frozen=True)
class SignInOutcome:
    """The end of a sign-in: a result, or an error."""

    result: Any = None
    error: ToolcribError | None = None


class SignIns:
    """The sign-ins of a host, by a random id."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[SignInOutcome]] = {}

    async def begin(self, work: SignInWork) -> tuple[str, str]:
        """Start a sign-in; returns its id and the page to open. Raises what goes wrong before the page."""
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def show(page: str) -> None:
            if not address.done():
                address.set_result(page)

        task = asyncio.create_task(_run(work, show), name="account sign-in")
        try:
            await asyncio.wait((task, address), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await cancel_and_wait(task)
            raise
        if task.done() and (error := task.result().error) is not None:
            raise error
        await self._drop_oldest()
        key = secrets.token_urlsafe(16)
        self._tasks[key] = task
        return key, address.result()

    async def outcome(self, key: str, wait: float = 0.0) -> SignInOutcome | None:
        """The outcome, within `wait` seconds; None while the user has not finished. Raises `NotFound`."""
        task = self._task(key)
        await asyncio.wait((task,), timeout=wait)
        if not task.done():
            return None
        return _cancelled() if task.cancelled() else task.result()

    async def cancel(self, key: str) -> bool:
        """End a sign-in and close its port; False if it had ended. Raises `NotFound`."""
        task = self._task(key)
        waiting = not task.done()
        await cancel_and_wait(task)
        return waiting

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        await cancel_and_wait(*tasks)

    def _task(self, key: str) -> asyncio.Task[SignInOutcome]:
        if key not in self._tasks:
            raise NotFound("There is no such sign-in.", hint="Start it again.")
        return self._tasks[key]

    async def _drop_oldest(self) -> None:
        while len(self._tasks) >= MOST:
            await cancel_and_wait(self._tasks.pop(next(iter(self._tasks))))


async def _run(work: SignInWork, show: ShowPage) -> SignInOutcome:
    try:
        async with asyncio.timeout(PATIENCE):
            return SignInOutcome(result=await work(show))
    except TimeoutError:
        said = f"The sign-in was not completed within {PATIENCE / 60:g} minutes."
        return SignInOutcome(error=AuthRequired(said, hint="Start it again."))
    except ToolcribError as error:
        return SignInOutcome(error=error)
    except Exception:  # the edge of a background task
        logger.exception("sign-in failed")
        return SignInOutcome(error=CallFailed("Internal error.", hint="The host's log has the details."))


def _cancelled() -> SignInOutcome:
    return SignInOutcome(error=AuthRequired("The sign-in was cancelled.", hint="Start it again."))


def open_sign_ins(host: object) -> SignIns:
    """The service of the feature."""
    return SignIns()
