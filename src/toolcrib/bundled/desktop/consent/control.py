"""Connects the approvals and the stop of all input with the tools of a server, by their names."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.bundled.desktop.consent.purposes import PURPOSES
from toolcrib.bundled.desktop.consent.scopes import Scopes
from toolcrib.bundled.desktop.consent.stop import InputStopped, StopSwitch
from toolcrib.bundled.desktop.live import LiveView
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.serverkit.server import ToolServer

if TYPE_CHECKING:
    from toolcrib.bundled.desktop.backend import Backend
    from toolcrib.bundled.desktop.stop_key import StopKey

logger = logging.getLogger(__name__)
DEFAULT_STOP_KEY = "ctrl+alt+escape"


class Control:
    """What the user decides about one desktop."""

    def __init__(self, session: DesktopSession, name: str, stop_key: str) -> None:
        self.session = session
        self._chord = stop_key
        self._key: StopKey | None = None
        self._watched: Backend | None = None
        self.scopes = Scopes(session)
        self.switch = StopSwitch(name)
        self.switch.on_stop = self._stopped
        self.live = LiveView(session, self.switch, lambda: self._key.chord if self._key else "")

    def govern(self, server: ToolServer) -> None:
        """Have every tool that acts pass the stop switch, and those with a purpose say what they act on."""
        for name, tool in server.tools.items():
            if not isinstance(tool, FunctionTool):
                continue
            if name in PURPOSES:
                tool.scope_by(functools.partial(_scope, self, name))
                tool.preview_function = functools.partial(_preview, self, name)
            if not tool.definition["annotations"]["readOnlyHint"]:
                tool.function = self._guarded(name, tool.function)
        server.host_methods.update(self.live.methods)
        server.at_close(self.close)

    def close(self) -> None:
        key, self._key = self._key, None
        if key is not None:
            key.close()

    def _guarded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def guarded(**given: Any) -> Any:
            return await self.switch.run(self._act(name, function, given))

        return guarded

    async def _act(self, name: str, function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        context = next((each for each in given.values() if isinstance(each, ToolContext)), None)
        if name in PURPOSES:
            await self._watch_key(context)
            plain = {key: value for key, value in given.items() if value is not context}
            await self.scopes.verify(name, plain)
        return await function(**given)

    async def _watch_key(self, context: ToolContext | None) -> None:
        """Have the stop key heard on the user's display, before anything is pressed there."""
        backend = await self.session.backend(context)
        if backend is self._watched or self.session.settings.headless or not self._chord:
            return
        self.close()
        self._watched = backend
        from toolcrib.bundled.desktop.stop_key import StopKey

        try:
            self._key = await StopKey.listen(backend, self._chord, self.switch.stop)
        except ToolFailure as failure:
            logger.warning("The stop key %s is not available: %s", self._chord, failure.message)

    def _stopped(self) -> None:
        self.scopes.end_all()
        self.live.changed()
        if self.session.opened is not None:
            from toolcrib.bundled.desktop.stop_key import release_all

            release_all(self.session.opened)


async def _scope(control: Control, tool: str, /, **given: Any) -> dict[str, str]:
    if control.switch.stopped_by:
        stopped = InputStopped(control.switch.name)
        return {"key": "", "label": tool, "refusal": f"{stopped.message} {stopped.hint}"}
    try:
        return await control.scopes.scope(tool, given)
    except ToolFailure as failure:  # an answer would be about nothing that can be named
        return {"key": "", "label": tool, "refusal": f"{failure.message} {failure.hint}".strip()}


async def _preview(control: Control, tool: str, /, **given: Any) -> dict[str, Any]:
    from toolcrib.bundled.desktop.consent.preview import preview

    return await preview(control.session, tool, given, control.scopes.target(tool, given))
