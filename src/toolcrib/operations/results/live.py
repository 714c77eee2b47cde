"""Events of `/api/live`."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from toolcrib.chats.events import ChatEvent
from toolcrib.operations.results.approvals import WaitingItem
from toolcrib.operations.results.calls import CallRecorded
from toolcrib.operations.results.servers import Server
from toolcrib.operations.results.setups import SetupShown


class HelloNews(TypedDict):
    """The first event of each stream; `resumed` if it continues after the last event the page received."""

    seq: int
    kind: Literal["hello"]
    run: str
    """Changes when the host restarts."""
    resumed: bool


class ResetNews(TypedDict):
    """Events were lost: fetch everything again."""

    seq: int
    kind: Literal["reset"]


class ServerNews(TypedDict):
    """A server changed its state."""

    seq: int
    kind: Literal["server"]
    server: Server


class ServerRemovedNews(TypedDict):
    """A server is no longer configured."""

    seq: int
    kind: Literal["server_removed"]
    name: str


class ToolsNews(TypedDict):
    """The tools of one server, or of several, changed."""

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
    """This many calls ended without events of their own; 0 if some may have while no page was open."""

    seq: int
    kind: Literal["calls"]
    count: int


class RunningNews(TypedDict):
    """The number of running calls changed."""

    seq: int
    kind: Literal["running"]
    count: int


class ConfigNews(TypedDict):
    """The config file was reloaded; `error` says why the previous configuration is still used, if so."""

    seq: int
    kind: Literal["config"]
    error: str | None
    changed: list[str]


class SetupNews(TypedDict):
    """Background work on a server progressed or ended."""

    seq: int
    kind: Literal["setup"]
    setup: SetupShown


class SetupForgottenNews(TypedDict):
    """Finished background work was dismissed."""

    seq: int
    kind: Literal["setup_forgotten"]
    name: str


class WaitingNews(TypedDict):
    """The list of what waits for the user changed; the operation `waiting` returns all of it."""

    seq: int
    kind: Literal["waiting"]
    count: int
    oldest: WaitingItem | None
    """The first item of the list."""


class ChatNews(TypedDict):
    """Event number `n` of a running turn."""

    seq: int
    kind: Literal["chat"]
    chat: str
    turn: str
    n: int
    event: ChatEvent


class NoticeNews(TypedDict):
    """Something was done; `undo` has the operation and the params that revert it."""

    seq: int
    kind: Literal["notice"]
    text: str
    undo: dict[str, Any] | None


class WorkflowNews(TypedDict):
    """A workflow was saved or removed; `workflow_list` returns all of them."""

    seq: int
    kind: Literal["workflow"]
    name: str


class RunNews(TypedDict):
    """A run changed, and which of its steps; `workflow_watch` follows one."""

    seq: int
    kind: Literal["run"]
    run: str
    step: str | None


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
    | WorkflowNews
    | RunNews
)
