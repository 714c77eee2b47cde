"""Runs blocking functions in threads that can be given up.

One daemon thread for each call: unlike one of an executor, it keeps neither the next caller waiting nor the
process from ending when its function never returns. A cancelled caller is free at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from toolcrib.errors import CallFailed

R = TypeVar("R")


class NoThread(CallFailed):
    """The system gives us no further thread."""

    kind = "no_thread"


async def in_thread(function: Callable[..., R], /, *arguments: Any, **named: Any) -> R:
    """The function's result, or what it raised; raises `NoThread` when it could not be started."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[R] = loop.create_future()
    surroundings = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def work() -> None:
        value: Any = None
        failure: BaseException | None = None
        try:
            value = surroundings.run(function, *arguments, **named)
        except (SystemExit, KeyboardInterrupt, StopIteration) as error:
            # asyncio gives these three a meaning of its own; in a thread they are only an error.
            failure = RuntimeError(f"{type(error).__name__}: {error}")
        except BaseException as error:  # noqa: BLE001 - it belongs to the waiting caller
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, failure)

    try:
        threading.Thread(target=work, name=getattr(function, "__name__", "call"), daemon=True).start()
    except RuntimeError as error:
        raise NoThread("The system cannot start another thread.", hint="Try again later.") from error
    return await future
