"""Input for a remote desktop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import Button, ClickRefused, Window
from toolcrib.bundled.desktop.backends.remote.connection import GrpcConnection
from toolcrib.bundled.desktop.backends.remote.windows import ALL, RemoteWindows
from toolcrib.bundled.desktop.failures import InvalidValue, NotSupported
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.grpc.schema import types, v1
from toolcrib.bundled.desktop.keys import read_modifiers
from toolcrib.bundled.desktop.resources import application_name

TYPING_SPEED = 50
"""Characters a second that the slowest program takes."""
_MODIFIERS = {
    "ctrl": "CONTROL",
    "shift": "SHIFT",
    "alt": "OPTION",
    "super": "COMMAND",
    "capslock": "CAPS_LOCK",
}


class RemoteInput:
    def __init__(self, connection: GrpcConnection, windows: RemoteWindows) -> None:
        self._connection = connection
        self._windows = windows

    async def click(
        self,
        at: Point,
        *,
        button: Button = "left",
        count: int = 1,
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        """Our server checks `owner` at the moment of the click; `unmoved` is checked just before it."""
        await self._check_unmoved(unmoved)
        click = v1.MouseClick(position=_point(at), click_type=_button(button), click_count=count)
        await self._send(ALL if owner is None else application_name(owner), click=click)

    async def drag(
        self,
        start: Point,
        end: Point,
        *,
        button: Button = "left",
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        await self._check_unmoved(unmoved)
        drag = v1.MouseDrag(start_position=_point(start), end_position=_point(end), button=_button(button))
        await self._send(ALL if owner is None else application_name(owner), drag=drag)

    async def _check_unmoved(self, window: Window | None) -> None:
        if window is not None and (await self._windows.get(window.id)).rect != window.rect:
            raise ClickRefused("The window has moved, so nothing was clicked.", "Try again.")

    async def move(self, to: Point) -> None:
        await self._send(ALL, move_mouse=v1.MouseMove(position=_point(to)))

    async def scroll(self, at: Point, *, down: int = 0, right: int = 0) -> None:
        await self._send(ALL, scroll=v1.Scroll(position=_point(at), vertical=-down, horizontal=right))

    async def type_text(self, text: str, window: int) -> None:
        if text:
            extra = len(text) / TYPING_SPEED
            await self._send(await self._owner(window), extra, type_text=v1.TextInput(text=text))

    async def press(self, chord: str, window: int | None, *, times: int = 1) -> None:
        pressed = key_press(chord)
        parent = ALL if window is None else await self._owner(window)
        for _ in range(times):
            await self._send(parent, press_key=pressed)

    async def hold(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        await self._send(ALL, button_down=v1.MouseButtonDown(**_held(keys, button, at)))

    async def release(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        if not keys and button is None:
            return  # the server itself releases what is still held
        await self._send(ALL, button_up=v1.MouseButtonUp(**_held(keys, button, at)))

    async def _owner(self, window: int) -> str:
        name = await self._windows.name_of(window)
        return name.rpartition("/windows/")[0]

    async def _send(self, parent: str, extra: float = 0.0, **action: Any) -> None:
        request = v1.CreateInputRequest(parent=parent, input=v1.Input(action=v1.InputAction(**action)))
        await self._connection.call("CreateInput", request, self._connection.timeout + extra)


def key_press(chord: str) -> Any:
    """`ctrl+shift+s` as a key with its modifiers; a last `+` is the plus key itself."""
    parts = chord.strip().split("+")
    if len(parts) > 1 and not parts[-1]:
        parts = [*(part for part in parts if part), "plus"]
    *modifiers, key = (part.strip() for part in parts)
    if not key:
        raise InvalidValue(f"{chord!r} is not a combination of keys.", "Such as enter or ctrl+shift+s.")
    return v1.KeyPress(key=key, modifiers=_modifiers(modifiers))


def _held(keys: Sequence[str], button: Button | None, at: Point | None) -> dict[str, Any]:
    if button is None or at is None:
        raise NotSupported(
            "A remote desktop server holds keys only together with a button.", "Press them instead."
        )
    return {"position": _point(at), "button": _button(button), "modifiers": _modifiers(keys)}


def _modifiers(names: Sequence[str]) -> list[int]:
    known = read_modifiers(names)
    unknown = [each for each in known if each not in _MODIFIERS]
    if unknown:
        raise NotSupported(f"{unknown[0]} cannot be held on a remote desktop.")
    return [v1.KeyPress.Modifier.Value(f"MODIFIER_{_MODIFIERS[each]}") for each in known]


def _point(point: Point) -> Any:
    return types.Point(x=point.x, y=point.y)


def _button(button: Button) -> int:
    number: int = v1.MouseClick.ClickType.Value(f"CLICK_TYPE_{button.upper()}")
    return number
