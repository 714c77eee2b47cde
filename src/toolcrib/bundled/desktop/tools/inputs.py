"""The tools that perform any input action, and list those that were performed."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import re
import secrets
from collections import deque
from collections.abc import Mapping
from typing import Any, TypedDict

from toolcrib.bundled.desktop.aiming import Aim, aim
from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.choosing import choose_application, window_at
from toolcrib.bundled.desktop.elements.observing import observe
from toolcrib.bundled.desktop.elements.pointing import locate
from toolcrib.bundled.desktop.enums import read_enum
from toolcrib.bundled.desktop.failures import InvalidValue, WindowNotFound
from toolcrib.bundled.desktop.geometry import Space
from toolcrib.bundled.desktop.input_actions import (
    InputAction,
    InputTarget,
    Position,
    kind_of,
    perform,
    point_of,
)
from toolcrib.bundled.desktop.pages import paginate
from toolcrib.bundled.desktop.resources import application_name, application_of, split_name
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.input import focus_target
from toolcrib.bundled.desktop.tools.offer import ACTING, LOOKING, Offer, answer, with_changes
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.server import ToolServer

KEPT = 200
STATES = {each: each for each in ("pending", "executing", "completed", "failed")}
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class InputArgument(TypedDict):
    action: InputAction


class InputData(TypedDict):
    name: str
    action: dict[str, Any]
    state: str
    create_time: str
    complete_time: str | None
    error: str


class InputResult(InputData):
    changes: list[str]


class InputList(TypedDict):
    inputs: list[InputData]
    more: int
    next_page_token: str


@dataclasses.dataclass
class PerformedInput:
    name: str
    application: int | None
    action: dict[str, Any]
    state: str = "executing"
    created: str = ""
    completed: str | None = None
    error: str = ""

    def as_data(self) -> InputData:
        return {
            "name": self.name,
            "action": self.action,
            "state": self.state,
            "create_time": self.created,
            "complete_time": self.completed,
            "error": self.error,
        }


class InputActionTools:
    def __init__(self, session: DesktopSession) -> None:
        self._session = session
        self._inputs: deque[PerformedInput] = deque(maxlen=KEPT)

    async def create_input(
        self,
        input: InputArgument,  # noqa: A002
        context: ToolContext,
        parent: str | None = None,
        input_id: str | None = None,
        space: Space = "screen",
        reference: int | str | None = None,
    ) -> InputResult:
        action = input["action"]
        kind = kind_of(action)
        backend = await self._session.backend(context)
        process = await choose_application(backend, parent) if application_of(parent) is not None else None
        entry = self._enter(process, action, input_id)
        target = self._target(backend, process, space, reference)
        try:
            async with observe(backend, process or await _active(backend)) as report:
                await perform(target, action)
        except BaseException as error:
            entry.state, entry.completed = "failed", _now()
            entry.error = error.message if isinstance(error, ToolFailure) else type(error).__name__
            raise
        entry.state, entry.completed = "completed", _now()
        data: InputResult = {**entry.as_data(), "changes": report.changes}
        return answer(data, with_changes(f"{entry.name}: {kind} done.", report.changes, report.nothing))

    async def list_inputs(
        self,
        context: ToolContext,
        parent: str | None = None,
        page_size: int = 0,
        page_token: str = "",
        filter: str = "",  # noqa: A002
    ) -> InputList:
        state = read_enum("filter", filter, "STATE", STATES, "")
        process = None
        if application_of(parent) is not None:
            process = await choose_application(await self._session.backend(context), parent)
        chosen = [
            each
            for each in reversed(self._inputs)
            if process in (None, each.application) and state in ("", each.state)
        ]
        page = paginate(chosen, page_size, page_token, "inputs", process, state)
        data: InputList = {
            "inputs": [each.as_data() for each in page.items],
            "more": page.more,
            "next_page_token": page.next_page_token,
        }
        lines = [f"{each.name} {kind_of(each.action)} {each.state} {each.created}" for each in page.items]
        if page.more:
            lines.append(f"… {page.more} more; continue with page_token {page.next_page_token}.")
        return answer(data, "\n".join(lines or ["No inputs."]))

    def _enter(self, process: int | None, action: InputAction, input_id: str | None) -> PerformedInput:
        chosen = input_id or secrets.token_hex(6)
        name = f"{application_name(process)}/inputs/{chosen}"
        if _ID.fullmatch(chosen) is None or any(each.name == name for each in self._inputs):
            raise InvalidValue(
                f"input_id {chosen!r} is taken or not valid.", "Use lower-case letters, digits and hyphens."
            )
        entry = PerformedInput(name, process, _without_text(action), created=_now())
        self._inputs.append(entry)
        return entry

    def _target(
        self, backend: Backend, process: int | None, space: Space, reference: int | str | None
    ) -> InputTarget:
        async def place(position: Position) -> Aim:
            if "element" in position:
                return await self._at_element(backend, process, position["element"])
            pictures = self._session.pictures
            return await aim(backend, pictures, *point_of(position), space, reference, process)

        async def window() -> Window:
            if process is None:
                return await focus_target(backend, reference if space == "window" else None)
            own = [each for each in await backend.windows.list() if each.application == process]
            if not own:
                raise WindowNotFound(f"The application {process} has no window.")
            return await focus_target(backend, own[-1].id)

        return InputTarget(backend, place, window)

    async def _at_element(self, backend: Backend, process: int | None, name: str) -> Aim:
        """Its middle as it is now; its window is brought to the front and must not move any more."""
        snapshot, element = await self._session.snapshots.resolve(backend, split_name(name, "elements")[1])
        owner = snapshot.tree.application
        if process not in (None, owner):
            raise InvalidValue(f"The element {name!r} is not in the application {process}.")
        found = await locate(backend, owner, element)
        return Aim(found.point, window_at(await backend.windows.list(), found.point), found.window, owner)


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = InputActionTools(session), Offer(server, wanted)
    offer(tools.create_input, "Perform an input action", **ACTING)
    offer(tools.list_inputs, "List input actions", **LOOKING)


async def _active(backend: Backend) -> int:
    active = (each.application for each in await backend.windows.list() if each.active)
    return next(active, None) or 0


def _without_text(action: InputAction) -> dict[str, Any]:
    """What was typed may be confidential and is not kept."""
    kept: dict[str, Any] = copy.deepcopy(dict(action))
    typed = kept.get("type_text")
    if isinstance(typed, Mapping):
        kept["type_text"] = {**typed, "text": f"({len(typed['text'])} characters)"}
    return kept


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
