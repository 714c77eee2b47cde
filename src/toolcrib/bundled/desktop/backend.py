"""The contract of a desktop backend: one small protocol for each group of abilities, and their plain data
(window, element, display, screenshot). Also which element states count as visible and which roles hold text.

Positions are screen pixels throughout. Every method has a deadline of its own and raises `ToolFailure` when
the desktop does not answer. A backend is opened in an event loop and closed from anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from toolcrib.bundled.desktop.changes import Changes
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    import numpy

Button = Literal["left", "middle", "right"]
ElementRef = tuple[str, str]
"""Names an element within its backend; never shown to a model."""


SHOWN = frozenset({"showing", "visible"})
"""The states of an element that is not hidden; GTK 4 has only the second."""


TEXT_ROLES = frozenset(
    {"text", "entry", "terminal", "spin button", "page", "document text", "document email", "editbar", "log"}
)
"""Elements whose text is not their name, whether it can be edited or not."""
PARAGRAPH_ROLES = frozenset({"paragraph", "heading", "section", "block quote", "comment", "footnote"})
"""The same if they have neither a name nor elements inside, as in LibreOffice."""


class ClickRefused(ToolFailure):
    """A click would not have reached its target."""

    kind = "click_refused"
    reason = "CLICK_REFUSED"


@dataclass(frozen=True)
class SetupProblem:
    """Something that is missing, and what to do about it."""

    message: str
    hint: str
    """What to install or set, such as `apt install at-spi2-core`."""
    fatal: bool = True
    """Nothing works without it; otherwise only a part is missing."""


@dataclass(frozen=True)
class Application:
    id: int
    """Its process id."""
    name: str
    window_class: str = ""
    executable: str = ""
    accessible: bool = False
    """It offers its elements to accessibility clients."""


@dataclass(frozen=True)
class Window:
    id: int
    title: str
    application: int | None
    """The process id; None if it is not known, or on another machine."""
    window_class: str
    rect: Rect
    """The inside of the window, without its frame."""
    level: int
    """Its place in the stack; 0 is the lowest."""
    active: bool = False
    minimised: bool = False
    modal: bool = False
    """A dialog that must be answered before the window that owns it can be used again."""
    owner: int | None = None
    """The window that it belongs to."""


@dataclass(frozen=True)
class Display:
    id: int
    name: str
    rect: Rect
    primary: bool
    scale: float = 1.0


@dataclass(frozen=True)
class Screenshot:
    pixels: numpy.ndarray
    """Height x width x 3, in the order blue, green, red."""
    origin: Point


@dataclass(frozen=True)
class Element:
    """A node of an application's accessibility tree."""

    ref: ElementRef
    parent: ElementRef | None
    role: str
    name: str
    description: str = ""
    states: frozenset[str] = frozenset()
    interfaces: frozenset[str] = frozenset()
    rect: Rect | None = None
    text: str | None = None
    """What a text contains, or the value of a slider. Of a long text that cannot be edited, the end."""
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def visible(self) -> bool:
        return "showing" in self.states or (
            "visible" in self.states and self.rect is not None and not self.rect.is_empty
        )


@dataclass(frozen=True)
class AtPoint:
    """What a program says about a point that an element is expected at."""

    state: Literal["there", "other", "unknown"]
    """`there`: the element or a part of it."""
    element: Element | None = None
    """The other one."""


@dataclass(frozen=True)
class ElementTree:
    """The elements of one application, parents before children."""

    application: int
    elements: tuple[Element, ...]
    complete: bool = True
    """False if the application did not answer in time and some elements are missing."""

    @cached_property
    def by_ref(self) -> Mapping[ElementRef, Element]:
        return {element.ref: element for element in self.elements}

    def around(self, element: Element) -> Iterator[Element]:
        """What an element is in, from the nearest to the outermost, as far as that was read."""
        seen = {element.ref}
        while (outer := self.by_ref.get(element.parent or ("", ""))) is not None and outer.ref not in seen:
            seen.add(outer.ref)
            yield outer
            element = outer


@dataclass(frozen=True)
class ClipboardContent:
    media_type: str
    data: bytes
    available: tuple[str, ...] = ()
    """All formats that are offered."""

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


class Applications(Protocol):
    async def list(self) -> Sequence[Application]: ...

    async def open(self, command: Sequence[str], timeout: float) -> Window | None:
        """Start a program and wait for its first window; None if it shows none in time.

        The window of an instance that was running already if the new process has handed over to it.
        """

    async def close(self, application: int, *, force: bool) -> None: ...


class Windows(Protocol):
    async def list(self) -> Sequence[Window]:
        """From the lowest to the topmost."""

    async def focus(self, window: int) -> Window:
        """Returns when it is active and has processed its events."""

    async def place(self, window: int, rect: Rect) -> Window:
        """Move and resize; returns what became of it."""

    async def minimise(self, window: int) -> Window: ...

    async def restore(self, window: int) -> Window: ...

    async def close(self, window: int) -> bool:
        """Ask it to close; False if it is still there after a moment."""

    async def problem(self) -> SetupProblem | None:
        """What limits the control of windows on this desktop."""


class Displays(Protocol):
    async def list(self) -> Sequence[Display]: ...


class Input(Protocol):
    async def click(
        self,
        at: Point,
        *,
        button: Button = "left",
        count: int = 1,
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        """Raises `ClickRefused` and clicks nothing if the click would not reach its target.

        `owner`: the topmost window at that point must belong to this application. `unmoved`: this window
        must still be where it was. Both are checked at the moment of the click.
        """

    async def drag(
        self,
        start: Point,
        end: Point,
        *,
        button: Button = "left",
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        """`owner` and `unmoved` are checked for the start, as for a click."""

    async def move(self, to: Point) -> None: ...

    async def scroll(self, at: Point, *, down: int = 0, right: int = 0) -> None: ...

    async def type_text(self, text: str, window: int) -> None:
        """Type any characters; returns when the program has received them.

        It may still have to process them, and some programs handle a shortcut before queued text: read the
        field before the next key.
        """

    async def press(self, chord: str, window: int | None, *, times: int = 1) -> None:
        """Press keys together, such as `ctrl+shift+s`."""

    async def hold(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        """Move to a point, press keys and then a button, and keep them down until `release`.

        What nobody releases is released after a minute, and when the backend closes.
        """

    async def release(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        """Move to a point, and release a button and then keys; without any of them, all that are held."""


class Capture(Protocol):
    async def screen(self, rect: Rect | None = None) -> Screenshot: ...

    async def window(self, window: int) -> Screenshot:
        """Its content even where other windows cover it."""


class Accessibility(Protocol):
    async def tree(self, application: int, timeout: float) -> ElementTree: ...

    async def rects(self, elements: Collection[ElementRef]) -> Mapping[ElementRef, Rect]: ...

    async def read(self, element: ElementRef) -> Element | None:
        """Its state now; None if it no longer exists. Hidden if something around it is."""

    async def at_point(self, element: ElementRef, at: Point) -> AtPoint:
        """Whether the pointer would reach the element there, as far as its program says."""

    async def texts(self, elements: Collection[Element]) -> Mapping[ElementRef, str]:
        """The contents of text fields and the values of sliders among these."""

    async def text_rect(self, element: Element, start: int, end: int) -> Rect | None:
        """Where a part of the element's text is, as indices of `text`; None if that is not known."""

    async def actions(self, element: ElementRef) -> Sequence[str]: ...

    async def act(self, element: ElementRef, action: str) -> bool: ...

    async def focus(self, element: ElementRef) -> bool: ...

    async def write(self, element: ElementRef, value: str) -> bool:
        """Replace a text or set a value; False if the element does not support it."""


class Clipboard(Protocol):
    async def read(self, media_type: str | None = None) -> ClipboardContent | None: ...

    async def write(self, contents: Mapping[str, bytes]) -> None:
        """Offer the same content in several formats, by media type."""


class Backend(Protocol):
    """All groups of one desktop."""

    @property
    def name(self) -> str: ...

    @property
    def applications(self) -> Applications: ...

    @property
    def windows(self) -> Windows: ...

    @property
    def displays(self) -> Displays: ...

    @property
    def input(self) -> Input: ...

    @property
    def capture(self) -> Capture: ...

    @property
    def accessibility(self) -> Accessibility: ...

    @property
    def clipboard(self) -> Clipboard: ...

    @property
    def events(self) -> Changes: ...

    @property
    def alive(self) -> bool:
        """False after the display has gone."""

    def close(self) -> None: ...
