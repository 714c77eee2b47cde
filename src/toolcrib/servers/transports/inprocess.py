"""A server that lives in this process: a Python module, with no pipe and no JSON between it and its callers.

The module is loaded in a thread, so that a slow import stalls nobody. A tool that raises, exits or never
returns harms only its own call. What cannot be helped here: a coroutine that computes for long without
awaiting holds up the whole process; a server with such tools belongs in a process of its own.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from toolcrib.config.kinds import full_text, texts
from toolcrib.config.reading import Section
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.threads import in_thread
from toolcrib.servers.link import Inbox, Link, LinkContext, Message
from toolcrib.servers.transport import Traits

if TYPE_CHECKING:
    from toolcrib.servers.transports import stdio

TRAITS = Traits(in_process=True, exportable=True, first_word="module")

DEFAULT_FACTORY = "create"
DEFAULT_ATTRIBUTE = "server"


@dataclass(frozen=True, kw_only=True)
class Spec(Section):
    """The keys of an `inprocess` entry."""

    module: str = full_text()
    """`package.module`, whose `create(args)` or else `server` is used, or `package.module:attribute`."""
    args: tuple[str, ...] = texts()


def resolve(spec: Spec, context: LinkContext) -> stdio.Spec:
    """The command that runs the module as a process; raises `ConfigError` for `module:attribute`."""
    from toolcrib.servers.transports import stdio

    if ":" in spec.module:
        raise ConfigError(f"{spec.module!r} is an object in a module, which no command starts.")
    return stdio.Spec(command=sys.executable, args=("-m", spec.module, *spec.args))


class DirectLink:
    """Runs a `ToolServer` in the task of whoever sends; cancelling the sender stops the tool."""

    pid = None

    def __init__(self, server: ToolServer, inbox: Inbox) -> None:
        self._session = server.session()
        self._inbox = inbox

    async def send(self, message: Message) -> None:
        """Have it answered; the reply is in the inbox when this returns."""
        answer = await self._session.respond(message, self._inbox.receive)
        if answer is not None:
            self._inbox.receive(answer)

    def close(self) -> None:
        """Stop what still runs."""
        self._session.end()
        self._session.cancel_all()


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Load the server and talk to it for as long as the block lasts; raises `ConfigError`."""
    server, made_here = await in_thread(_load, spec)
    if not isinstance(server, ToolServer):
        from toolcrib.servers.transports._sdk_server import find_runnable, open_sdk_server

        async with open_sdk_server(find_runnable(server, spec.module), inbox, context) as link:
            yield link
        return
    direct = DirectLink(server, inbox)
    try:
        yield direct
    finally:
        direct.close()
        if made_here:
            server.close()


def _load(spec: Spec) -> tuple[Any, bool]:
    """The server object, and whether it was made for this link alone."""
    name, _, attribute = spec.module.partition(":")
    module = _import(name)
    if not attribute and callable(factory := getattr(module, DEFAULT_FACTORY, None)):
        return _make(factory, spec), True
    found = _attribute(module, attribute or DEFAULT_ATTRIBUTE)
    if inspect.isfunction(found):
        return _make(found, spec), True
    if spec.args:
        raise ConfigError(
            f"{spec.module!r} names a server that is already made, so that it cannot take 'args'.",
            hint=f"Remove 'args', or give the module a function `{DEFAULT_FACTORY}(args)`.",
        )
    return found, False


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The module {name!r} cannot be loaded: {error}.",
            hint="Install its package next to Toolcrib, or run the server as a process of its own.",
        ) from error
    except (Exception, SystemExit) as error:  # a module may raise anything while it loads
        raise ConfigError(
            f"The module {name!r} fails while it loads: {type(error).__name__}: {error}.",
            hint="Try `python -c 'import …'` in the environment that Toolcrib runs in.",
        ) from error


def _attribute(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise ConfigError(
                f"The module {module.__name__!r} has no {name!r}.",
                hint="Name the server as `package.module:attribute`.",
            )
    return found


def _make(factory: Callable[..., Any], spec: Spec) -> Any:
    try:
        takes_arguments = bool(inspect.signature(factory).parameters)
        return factory(list(spec.args)) if takes_arguments else factory()
    except ToolcribError as error:
        raise ConfigError(error.message, hint=error.hint) from error
    except (Exception, SystemExit) as error:  # it is somebody else's function
        raise ConfigError(
            f"{spec.module!r} cannot make its server: {type(error).__name__}: {error}.",
            hint="Check its 'args'.",
        ) from error
