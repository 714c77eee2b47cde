"""The remote backend: windows, elements, applications, pictures, clipboard and input over one gRPC
connection, and what a remote desktop cannot do.

Elements of a remote desktop. The server gives an element a new id with each reading. We know it by the
server's own reference, if the server tells it, and use the newest id.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc

from toolcrib.bundled.desktop.backend import (
    Application,
    AtPoint,
    Button,
    ClickRefused,
    ClipboardContent,
    Display,
    Element,
    ElementRef,
    ElementTree,
    Screenshot,
    Window,
)
from toolcrib.bundled.desktop.backends.remote.connection import (
    GrpcConnection,
    RemoteFailure,
    operation_failure,
)
from toolcrib.bundled.desktop.backends.remote.target import RemoteTarget
from toolcrib.bundled.desktop.changes import Changes
from toolcrib.bundled.desktop.clipboard_content import HTML, PNG, RTF, TEXT, URIS
from toolcrib.bundled.desktop.failures import InvalidFormat, NotSupported
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.grpc.messages import INTERFACES, REFERENCE, STATES, rect_of
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.keys import read_modifiers, split_chord
from toolcrib.bundled.desktop.resources import application_name
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

KEPT = 16
"""Applications whose last tree is remembered."""
TREE_TIMEOUT = 5.0

_OWN = {"name", "description", "value", STATES, INTERFACES, REFERENCE}

PAGE = 1000
MOST_PAGES = 20
ALL = "applications/-"
FOCUSED = "focused=true"
"""A filter of our own server; others may ignore it."""
LOOKED_AT = 4


class RemoteAccessibility:
    def __init__(self, connection: GrpcConnection) -> None:
        self._connection = connection
        self._seen: OrderedDict[str, dict[ElementRef, tuple[str, Element]]] = OrderedDict()
        """By application: the id and the state of each element at the last reading."""

    async def tree(self, application: int, timeout: float) -> ElementTree:
        """A server that does not answer in time gives an empty, incomplete tree."""
        if not application:
            return ElementTree(application, ())
        name = application_name(application)
        try:
            response = await self._connection.call("TraverseAccessibility", within=timeout + 1, name=name)
        except RemoteFailure as error:
            if error.code == grpc.StatusCode.DEADLINE_EXCEEDED:
                return ElementTree(application, (), complete=False)
            if error.code == grpc.StatusCode.NOT_FOUND:
                return ElementTree(application, ())
            raise
        return ElementTree(application, self._remember(name, response.elements))

    async def rects(self, elements: Collection[ElementRef]) -> Mapping[ElementRef, Rect]:
        """As the last tree had them: it was read just before."""
        known = ((ref, self._known(ref)) for ref in elements)
        return {ref: state.rect for ref, state in known if state is not None and state.rect is not None}

    async def at_point(self, element: ElementRef, at: Point) -> AtPoint:
        return AtPoint("unknown")

    async def text_rect(self, element: Element, start: int, end: int) -> Rect | None:
        return None

    async def texts(self, elements: Collection[Element]) -> Mapping[ElementRef, str]:
        known = ((element.ref, self._known(element.ref)) for element in elements)
        return {ref: state.text for ref, state in known if state is not None and state.text is not None}

    async def read(self, element: ElementRef) -> Element | None:
        message = await self._get(element)
        return None if message is None else element_from(message, element, None)

    async def actions(self, element: ElementRef) -> Sequence[str]:
        message = await self._get(element)
        return [] if message is None else list(message.actions)

    async def act(self, element: ElementRef, action: str) -> bool:
        response = await self._target("PerformElementAction", element, action=action)
        return bool(response is not None and response.success)

    async def focus(self, element: ElementRef) -> bool:
        try:
            return await self.act(element, "focus")
        except RemoteFailure as error:
            if error.code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED):
                return False
            raise

    async def write(self, element: ElementRef, value: str) -> bool:
        """The server types into what it cannot set, and checks the result."""
        response = await self._target("WriteElementValue", element, value=value)
        return bool(response is not None and response.success)

    async def _get(self, element: ElementRef) -> Any | None:
        for again in (False, True):
            element_id = await self._id(element, again)
            if element_id is None:
                return None
            try:
                return await self._connection.call("GetElement", name=f"{element[0]}/elements/{element_id}")
            except RemoteFailure as error:
                if error.code != grpc.StatusCode.NOT_FOUND:
                    raise
        return None

    async def _target(self, method: str, element: ElementRef, **fields: Any) -> Any | None:
        """Acts at most once: an id that the server has forgotten is renewed by reading it first."""
        if await self._get(element) is None:
            return None
        element_id = await self._id(element, False)
        return await self._connection.call(method, parent=element[0], element_id=element_id, **fields)

    async def _id(self, element: ElementRef, again: bool) -> str | None:
        """The server's newest id of an element; `again` reads the tree for it."""
        if again:
            await self.tree(int(element[0].rpartition("/")[2]), TREE_TIMEOUT)
        entry = self._seen.get(element[0], {}).get(element)
        return entry[0] if entry is not None else None

    def _known(self, ref: ElementRef) -> Element | None:
        entry = self._seen.get(ref[0], {}).get(ref)
        return entry[1] if entry is not None else None

    def _remember(self, name: str, messages: Sequence[Any]) -> tuple[Element, ...]:
        by_path: dict[tuple[int, ...], ElementRef] = {}
        seen: dict[ElementRef, tuple[str, Element]] = {}
        for message in messages:
            ref = (name, message.attributes.get(REFERENCE) or message.element_id)
            path = tuple(message.path)
            seen[ref] = message.element_id, element_from(message, ref, by_path.get(path[:-1]))
            by_path[path] = ref
        self._seen[name] = seen
        self._seen.move_to_end(name)
        while len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        return tuple(element for _, element in seen.values())


def element_from(message: Any, ref: ElementRef, parent: ElementRef | None) -> Element:
    attributes = dict(message.attributes)
    is_ours = STATES in attributes
    rect = (
        Rect(round(message.x), round(message.y), round(message.width), round(message.height))
        if message.HasField("width")
        else None
    )
    return Element(
        ref=ref,
        parent=parent,
        role=message.role,
        name=attributes.get("name", "") if is_ours else message.text,
        description=attributes.get("description", ""),
        states=_parts(attributes[STATES]) if is_ours else _states(message),
        interfaces=_parts(attributes.get(INTERFACES, "")),
        rect=rect,
        text=attributes.get("value"),
        attributes={name: value for name, value in attributes.items() if name not in _OWN},
    )


def _parts(text: str) -> frozenset[str]:
    return frozenset(part for part in text.split(",") if part)


def _states(message: Any) -> frozenset[str]:
    """Of a server that tells only these."""
    states = {"visible", "showing"} if message.HasField("width") and message.width > 0 else set()
    if message.enabled or not message.HasField("enabled"):
        states |= {"enabled", "sensitive"}
    if message.focused:
        states.add("focused")
    return frozenset(states)


async def list_all(connection: GrpcConnection, method: str, field: str, **fields: Any) -> list[Any]:
    """All pages of a list."""
    found: list[Any] = []
    token = ""
    for _ in range(MOST_PAGES):
        response = await connection.call(method, page_size=PAGE, page_token=token, **fields)
        found += getattr(response, field)
        token = response.next_page_token
        if not token:
            break
    return found


class RemoteWindows:
    def __init__(self, connection: GrpcConnection) -> None:
        self._connection = connection
        self._names: dict[int, str] = {}

    async def list(self) -> Sequence[Window]:
        listing = list_all(self._connection, "ListWindows", "windows", parent=ALL)
        messages, focused = await asyncio.gather(listing, self._focused())
        self._names = {window_id(message.name): message.name for message in messages}
        active = await self._active(messages, focused)
        windows = [replace(window_from(message), active=message.name == active) for message in messages]
        return sorted(windows, key=lambda window: window.level)

    async def focus(self, window: int) -> Window:
        return replace(await self._change("FocusWindow", window), active=True)

    async def place(self, window: int, rect: Rect) -> Window:
        await self._change("MoveWindow", window, x=rect.x, y=rect.y)
        return await self._change("ResizeWindow", window, width=rect.width, height=rect.height)

    async def minimise(self, window: int) -> Window:
        return await self._change("MinimizeWindow", window)

    async def restore(self, window: int) -> Window:
        return await self._change("RestoreWindow", window)

    async def problem(self) -> None:
        return None

    async def close(self, window: int) -> bool:
        response = await self._connection.call("CloseWindow", name=await self.name_of(window))
        return bool(response.success)

    async def get(self, window: int) -> Window:
        """As it is now."""
        return await self._change("GetWindow", window)

    async def name_of(self, window: int) -> str:
        if window not in self._names:
            await self.list()
        if window not in self._names:
            raise ToolFailure(f"There is no window {window}.", "Call list_windows again.")
        return self._names[window]

    async def _change(self, method: str, window: int, **fields: Any) -> Window:
        name = await self.name_of(window)
        return window_from(await self._connection.call(method, name=name, **fields))

    async def _focused(self) -> Sequence[str] | None:
        """The names of the focused windows; None if the server does not know the filter."""
        try:
            response = await self._connection.call("ListWindows", parent=ALL, filter=FOCUSED)
        except RemoteFailure as error:
            if error.code != grpc.StatusCode.INVALID_ARGUMENT:
                raise
            return None
        return [window.name for window in response.windows]

    async def _active(self, messages: Sequence[Any], focused: Sequence[str] | None) -> str | None:
        if focused is not None and len(focused) <= 1:
            return focused[0] if focused else None
        topmost = sorted(messages, key=lambda message: -message.z_index)[:LOOKED_AT]
        for message in topmost:
            if (await self._connection.call("GetWindowState", name=f"{message.name}/state")).focused:
                return str(message.name)
        return None


class RemoteApplications:
    def __init__(self, connection: GrpcConnection, windows: RemoteWindows) -> None:
        self._connection = connection
        self._windows = windows

    async def list(self) -> Sequence[Application]:
        listed = await list_all(self._connection, "ListApplications", "applications")
        return [Application(message.pid, message.display_name, message.display_name) for message in listed]

    async def open(self, command: Sequence[str], timeout: float) -> Window | None:
        if len(command) != 1:
            raise ToolFailure(
                "A remote desktop server opens applications without arguments.", "Leave the arguments out."
            )
        started = await self._connection.call("OpenApplication", id=command[0])
        operation = await self._finish(started, timeout)
        if operation is None:
            return None
        opened = v1.OpenApplicationResponse()
        operation.response.Unpack(opened)
        own = [
            window for window in await self._windows.list() if window.application == opened.application.pid
        ]
        return own[-1] if own else None

    async def close(self, application: int, *, force: bool) -> None:
        await self._connection.call("DeleteApplication", name=application_name(application), force=force)

    async def _finish(self, operation: Any, timeout: float) -> Any | None:
        """The finished operation; None if it takes longer. Raises what it failed with."""
        deadline = time.monotonic() + timeout
        while not operation.done:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            operation = await self._connection.call(
                "WaitOperation", within=left + 5, name=operation.name, timeout=left
            )
        if operation.HasField("error"):
            raise operation_failure(operation.error)
        return operation


class RemoteDisplays:
    def __init__(self, connection: GrpcConnection) -> None:
        self._connection = connection

    async def list(self) -> Sequence[Display]:
        listed = await list_all(self._connection, "ListDisplays", "displays")
        return [
            Display(
                screen.display_id, screen.name, rect_of(screen.frame), screen.is_main, screen.scale or 1.0
            )
            for screen in listed
        ]

    async def pointer(self) -> Point:
        at = await self._connection.call("CaptureCursorPosition")
        return Point(round(at.x), round(at.y))


def window_id(name: str) -> int:
    identifier = name.rpartition("/")[2]
    if not identifier.isdecimal():
        raise ToolFailure(f"The desktop server named a window {name[:100]!r}, which has no number.")
    return int(identifier)


def window_from(message: Any) -> Window:
    application = message.name.split("/")[1:2]
    process = int(application[0]) if application and application[0].isdecimal() else 0
    return Window(
        id=window_id(message.name),
        title=message.title,
        application=process or None,
        window_class=message.bundle_id,
        rect=rect_of(message.bounds),
        level=message.z_index,
        minimised=not message.visible,
    )


_MEDIA = {"text": TEXT, "url": TEXT, "html": HTML, "rtf": RTF, "image": PNG, "files": URIS}


class RemoteCapture:
    def __init__(self, connection: GrpcConnection, windows: RemoteWindows) -> None:
        self._connection = connection
        self._windows = windows

    async def screen(self, rect: Rect | None = None) -> Screenshot:
        if rect is None:
            response = await self._connection.call("CaptureScreenshot", format="png")
            return Screenshot(await in_thread(decode, response.image_data), Point(0, 0))
        response = await self._connection.call("CaptureRegionScreenshot", region=rect, format="png")
        origin = Point(round(response.region.x), round(response.region.y))
        return Screenshot(await in_thread(decode, response.image_data), origin)

    async def window(self, window: int) -> Screenshot:
        name = await self._windows.name_of(window)
        taking = self._connection.call("CaptureWindowScreenshot", window=name, format="png")
        response, place = await asyncio.gather(taking, self._windows.get(window))
        return Screenshot(await in_thread(decode, response.image_data), Point(place.rect.x, place.rect.y))


def decode(data: bytes) -> Any:
    import cv2
    import numpy

    pixels = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR) if data else None
    if pixels is None:
        raise ToolFailure("The desktop server sent a picture that cannot be read.")
    return pixels


class RemoteClipboard:
    def __init__(self, connection: GrpcConnection) -> None:
        self._connection = connection

    async def read(self, media_type: str | None = None) -> ClipboardContent | None:
        response = await self._connection.call("GetClipboard", name="clipboard")
        kind = response.content.WhichOneof("content")
        if kind is None:
            return None
        available = tuple(_available(response.available_types)) or (_MEDIA[kind],)
        found = ClipboardContent(_MEDIA[kind], _data(response.content, kind), available)
        if media_type is None or _same(media_type, found.media_type):
            return found
        if not any(_same(media_type, offered) for offered in available):
            return None
        raise ToolFailure(
            f"A remote desktop server hands over the clipboard only as {found.media_type}.",
            "Read it without naming a format.",
        )

    async def write(self, contents: Mapping[str, bytes]) -> None:
        if not contents:
            await self._connection.call("ClearClipboard")
            return
        if len(contents) > 1:
            raise ToolFailure(
                "A remote desktop server takes one format of the clipboard.", "Write only one of them."
            )
        [(media_type, data)] = contents.items()
        content = _content(media_type, data)
        await self._connection.call("WriteClipboard", content=content, clear_existing=True)


def _same(one: str, other: str) -> bool:
    return one.partition(";")[0] == other.partition(";")[0]


def _available(numbers: Any) -> list[str]:
    names = [v1.ContentType.Name(number).removeprefix("CONTENT_TYPE_").lower() for number in numbers]
    return [_MEDIA[name] for name in names if name in _MEDIA]


def _data(content: Any, kind: str) -> bytes:
    if kind == "files":
        return "".join(f"{Path(path).as_uri()}\r\n" for path in content.files.paths).encode()
    value = getattr(content, kind)
    return value if isinstance(value, bytes) else str(value).encode()


def _content(media_type: str, data: bytes) -> dict[str, Any]:
    kinds = {_MEDIA[kind]: kind for kind in ("html", "rtf", "image")}
    kind = "text" if media_type.startswith("text/plain") else kinds.get(media_type)
    if kind is None:
        raise ToolFailure(
            f"A remote desktop server cannot take {media_type}.", "Use text, HTML, RTF or a PNG picture."
        )
    return {"type": kind, kind: data if kind in ("rtf", "image") else data.decode("utf-8", "replace")}


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
        click = {"position": at, "click_type": button, "click_count": count}
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
        drag = {"start_position": start, "end_position": end, "button": button}
        await self._send(ALL if owner is None else application_name(owner), drag=drag)

    async def _check_unmoved(self, window: Window | None) -> None:
        if window is not None and (await self._windows.get(window.id)).rect != window.rect:
            raise ClickRefused("The window has moved, so nothing was clicked.", "Try again.")

    async def move(self, to: Point) -> None:
        await self._send(ALL, move_mouse={"position": to})

    async def scroll(self, at: Point, *, down: int = 0, right: int = 0) -> None:
        await self._send(ALL, scroll={"position": at, "vertical": -down, "horizontal": right})

    async def type_text(self, text: str, window: int) -> None:
        if text:
            extra = len(text) / TYPING_SPEED
            await self._send(await self._owner(window), extra, type_text={"text": text})

    async def press(self, chord: str, window: int | None, *, times: int = 1) -> None:
        pressed = key_press(chord)
        parent = ALL if window is None else await self._owner(window)
        for _ in range(times):
            await self._send(parent, press_key=pressed)

    async def hold(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        await self._send(ALL, button_down=_held(keys, button, at))

    async def release(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        if not keys and button is None:
            return  # the server itself releases what is still held
        await self._send(ALL, button_up=_held(keys, button, at))

    async def _owner(self, window: int) -> str:
        name = await self._windows.name_of(window)
        return name.rpartition("/windows/")[0]

    async def _send(self, parent: str, extra: float = 0.0, **action: Any) -> None:
        seconds = self._connection.timeout + extra
        await self._connection.call("CreateInput", within=seconds, parent=parent, input={"action": action})


def key_press(chord: str) -> dict[str, Any]:
    """`ctrl+shift+s` as a key with its modifiers."""
    names = split_chord(chord)
    if not names:
        raise InvalidFormat(f"{chord!r} is not a combination of keys.", "Such as enter or ctrl+shift+s.")
    return {"key": names[-1], "modifiers": _modifiers(names[:-1])}


def _held(keys: Sequence[str], button: Button | None, at: Point | None) -> dict[str, Any]:
    if button is None or at is None:
        raise NotSupported(
            "A remote desktop server holds keys only together with a button.", "Press them instead."
        )
    return {"position": at, "button": button, "modifiers": _modifiers(keys)}


def _modifiers(names: Sequence[str]) -> list[str]:
    known = read_modifiers(names)
    unknown = [modifier for modifier in known if modifier not in _MODIFIERS]
    if unknown:
        raise NotSupported(f"{unknown[0]} cannot be held on a remote desktop.")
    return [f"MODIFIER_{_MODIFIERS[modifier]}" for modifier in known]


class RemoteBackend:
    """It stays usable while its server is away: each call says so, until the server is back."""

    name = "remote"

    def __init__(self, target: RemoteTarget) -> None:
        self._connection = GrpcConnection(target)
        self._closed = False
        # Reports nothing: the server itself waits until an action has settled, and waits look again anyway.
        self.events = Changes(asyncio.get_running_loop())
        self.windows = RemoteWindows(self._connection)
        self.applications = RemoteApplications(self._connection, self.windows)
        self.displays = RemoteDisplays(self._connection)
        self.input = RemoteInput(self._connection, self.windows)
        self.capture = RemoteCapture(self._connection, self.windows)
        self.accessibility = RemoteAccessibility(self._connection)
        self.clipboard = RemoteClipboard(self._connection)

    @property
    def alive(self) -> bool:
        return not self._closed

    def close(self) -> None:
        self._closed = True
        self._connection.close()
