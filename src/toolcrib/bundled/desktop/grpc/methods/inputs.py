"""Keyboard and pointer input, and a record of the last inputs."""

from __future__ import annotations

import re
import uuid
from collections import OrderedDict
from typing import Any, cast

import grpc

from toolcrib.bundled.desktop.aiming import Aim, aim
from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.failures import WindowNotFound
from toolcrib.bundled.desktop.grpc.failures import RpcFailure, invalid, to_failure
from toolcrib.bundled.desktop.grpc.names import ANY, last_part, parent_of
from toolcrib.bundled.desktop.grpc.pages import page_of
from toolcrib.bundled.desktop.grpc.records import to_plain
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop, timestamp
from toolcrib.bundled.desktop.input_actions import InputAction, InputTarget, Position, perform, point_of
from toolcrib.bundled.desktop.lists import filtered
from toolcrib.bundled.desktop.tools.input import focus_target

KEPT = 500
_ID = re.compile(r"[a-zA-Z0-9][\w-]{0,62}")


class InputMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop
        self._inputs: OrderedDict[str, Any] = OrderedDict()

    async def create_input(self, request: Any) -> Any:
        """Returns when the input was received; one that fails is recorded and raises.

        Pointer input for an application is refused if another one's window would receive it.
        """
        application = parent_of(request.parent)
        made = self._record(request)
        try:
            async with self._desktop.acting() as backend:
                made.state = v1.Input.STATE_EXECUTING
                action = cast("InputAction", to_plain(request.input.action))
                await perform(self._target(backend, application), action)
        except Exception as error:
            made.state, made.error = v1.Input.STATE_FAILED, to_failure(error).message
            raise
        else:
            made.state = v1.Input.STATE_COMPLETED
        finally:
            made.complete_time.CopyFrom(timestamp())
        return made

    async def get_input(self, request: Any) -> Any:
        last_part(request.name, "inputs")
        if request.name not in self._inputs:
            raise RpcFailure(grpc.StatusCode.NOT_FOUND, "INPUT_NOT_FOUND", f"There is no {request.name}.")
        return self._inputs[request.name]

    async def list_inputs(self, request: Any) -> Any:
        application = parent_of(request.parent)
        prefix = "" if application is None else f"applications/{application}/"
        listed = [each for name, each in self._inputs.items() if name.startswith(prefix)]
        chosen = filtered(listed, request.filter, {"state": lambda each: v1.Input.State.Name(each.state)})
        page, following = page_of(request, chosen)
        return v1.ListInputsResponse(inputs=page, next_page_token=following)

    def _target(self, backend: Backend, application: int | None) -> InputTarget:
        async def place(position: Position) -> Aim:
            pictures = self._desktop.session.pictures
            return await aim(backend, pictures, *point_of(position), application=application)

        async def window() -> Window:
            return await target_window(backend, application)

        return InputTarget(backend, place, window)

    def _record(self, request: Any) -> Any:
        identifier = request.input_id or str(uuid.uuid4())
        name = f"{request.parent or f'applications/{ANY}'}/inputs/{identifier}"
        if not _ID.fullmatch(identifier):
            raise invalid("INVALID_FORMAT", "input_id has letters, digits and hyphens.", "input_id")
        if name in self._inputs:
            raise RpcFailure(grpc.StatusCode.ALREADY_EXISTS, "INPUT_EXISTS", f"{name} exists already.")
        made = v1.Input(
            name=name, action=request.input.action, state=v1.Input.STATE_PENDING, create_time=timestamp()
        )
        _forget_text(made.action)
        self._inputs[name] = made
        while len(self._inputs) > KEPT:
            self._inputs.popitem(last=False)
        return made


def offer_methods(desktop: ServedDesktop) -> InputMethods:
    return InputMethods(desktop)


async def target_window(backend: Backend, application: int | None) -> Window:
    """The window that gets the keys, active: the active one, or the application's topmost."""
    listed = await backend.windows.list()
    active = next((each for each in listed if each.active), None)
    if application is None or (active is not None and active.application == application):
        return await focus_target(backend, None)
    own = [each for each in listed if each.application == application]
    if not own:
        raise WindowNotFound(f"The application {application} has no window.")
    return await focus_target(backend, own[-1].id)


def _forget_text(action: Any) -> None:
    """What was typed may be a password: the record keeps only how much it was."""
    if action.WhichOneof("input_type") == "type_text":
        action.type_text.text = f"({len(action.type_text.text)} characters)"
