"""The screens that servers work on."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class ScreenState(TypedDict):
    """The screen of a server, and whether it may use the mouse and the keyboard."""

    server: str
    own: bool
    """A display of its own, which can be watched; else the user's."""
    open: bool
    """Whether the display is in use."""
    stopped: str
    """How the user stopped all input: a key, or `the page`; empty while it is allowed."""
    stop_key: str
    """The key that stops all input; empty if none is heard."""


class ScreenShown(ScreenState):
    """A state with the screen as it is now, if it has changed."""

    picture: NotRequired[str]
    """A JPEG in base64."""
    width: NotRequired[int]
    height: NotRequired[int]
