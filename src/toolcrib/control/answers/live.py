"""What a page hears while it is open, one type a kind."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from toolcrib.control.answers.calls import CallRecorded
from toolcrib.control.answers.chat_events import ChatEvent
from toolcrib.control.answers.servers import Server
from toolcrib.control.answers.setups import SetupShown
from toolcrib.control.answers.waiting import WaitingItem


class HelloNews(TypedDict):
    """The first of each stream; `resumed` when it goes on after the event that the page knew last."""

    seq: int
    kind: Literal["hello"]
    run: str
    """Another one after the host was started again."""
    resumed: bool


class ResetNews(TypedDict):
    """Something was missed: fetch everything anew."""

    seq: int
    kind: Literal["reset"]


class ServerNews(TypedDict):
    """A server moved to another state."""

    seq: int
    kind: Literal["server"]
    server: Server


class ServerRemovedNews(TypedDict):
    """A server is no longer configured."""

    seq: int
    kind: Literal["server_removed"]
    name: str


class ToolsNews(TypedDict):
    """There are other tools now, of one server or of several."""

    seq: int
    kind: Literal["tools"]
    version: int
    server: str | None


class CallNews(TypedDict):
    """A call ended."""

    seq: int
    kind: Literal["call"]
    record: CallRecorded


class CallsNews(TypedDict):
    """Calls ended that are not told one by one; 0 for some that may have, while no page was open."""

    seq: int
    kind: Literal["calls"]
    count: int


class RunningNews(TypedDict):
    """So many calls run."""

    seq: int
    kind: Literal["running"]
    count: int


class ConfigNews(TypedDict):
    """The config file was read again; `error` says why the last good state stays, if it does."""

    seq: int
    kind: Literal["config"]
    error: str | None
    changed: list[str]


class SetupNews(TypedDict):
    """Work on a server that goes on by itself came further, or ended."""

    seq: int
    kind: Literal["setup"]
    setup: SetupShown


class SetupForgottenNews(TypedDict):
    """Its outcome has been seen."""

    seq: int
    kind: Literal["setup_forgotten"]
    name: str


class WaitingNews(TypedDict):
    """Something else waits for a person now; `waiting` gives the whole."""

    seq: int
    kind: Literal["waiting"]
    count: int
    oldest: WaitingItem | None
    """The first of the list."""


class ChatNews(TypedDict):
    """A turn that runs in the host told something, the `n`th of it."""

    seq: int
    kind: Literal["chat"]
    chat: str
    turn: str
    n: int
    event: ChatEvent


class NoticeNews(TypedDict):
    """Something was done; `undo` names an operation and its params that take it back."""

    seq: int
    kind: Literal["notice"]
    text: str
    undo: dict[str, Any] | None


News = (
    HelloNews
    | ResetNews
    | ServerNews
    | ServerRemovedNews
    | ToolsNews
    | CallNews
    | CallsNews
    | RunningNews
    | ConfigNews
    | SetupNews
    | SetupForgottenNews
    | WaitingNews
    | ChatNews
    | NoticeNews
)
