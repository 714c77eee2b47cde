"""Performs the input actions of a macro with the function of the tool create_input."""

from __future__ import annotations

from typing import Any, cast

from toolcrib.bundled.desktop.aiming import Aim, aim
from toolcrib.bundled.desktop.backend import Window
from toolcrib.bundled.desktop.input_actions import InputAction, InputTarget, Position, perform, point_of
from toolcrib.bundled.desktop.macros.scope import MacroScope


async def perform_input(scope: MacroScope, action: dict[str, Any]) -> None:
    """Refused unless it reaches the macro's application, if it runs in one."""
    owner = await scope.process() if scope.application else None

    async def place(position: Position) -> Aim:
        return await aim(scope.backend, scope.pictures, *point_of(position), application=owner)

    async def window() -> Window:
        return await scope.window()

    await perform(InputTarget(scope.backend, place, window), cast("InputAction", action))
    if "type_text" in action:
        await scope.typed(await scope.window(), action["type_text"]["text"])


async def type_text(scope: MacroScope, text: str, application: str = "") -> None:
    window = await scope.window(application)
    await scope.backend.input.type_text(text, window.id)
    await scope.typed(window, text)


async def press_keys(scope: MacroScope, chord: str, application: str = "", times: int = 1) -> None:
    window = await scope.window(application)
    await scope.backend.input.press(chord, window.id, times=times)
