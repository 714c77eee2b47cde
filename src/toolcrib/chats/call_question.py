"""The question whether a call may run, as JSON: the fields for the call, its preview (command, diff,
attachments, screenshot), the reasons and the rules of each answer.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class CommandPart(TypedDict):
    """One command of a line, and what is not known of it; empty when it only reads."""

    text: str
    doubt: str


class DifferenceLine(TypedDict):
    """A line of a difference."""

    kind: Literal["same", "added", "removed", "gap"]
    number: int | None
    text: str


class ShownAttachment(TypedDict):
    name: str
    size: int


class PictureRect(TypedDict):
    """A part of a picture, in its pixels."""

    x: int
    y: int
    width: int
    height: int


class CallExhibit(TypedDict):
    """What the user is shown of a call."""

    kind: Literal["command", "code", "edit", "arguments", "email", "event", "message", "screen"]
    command: NotRequired[str]
    folder: NotRequired[str]
    limits: NotRequired[list[str]]
    """What holds a command, and for how long it may run."""
    parts: NotRequired[list[CommandPart]]
    unread: NotRequired[str]
    text: NotRequired[str]
    path: NotRequired[str]
    new: NotRequired[bool]
    lines: NotRequired[list[DifferenceLine]]
    changed: NotRequired[int]
    action: NotRequired[str]
    """Of a mail, an event or a message: `send`, `reply`, `create`, `delete` …"""
    account: NotRequired[str]
    sender: NotRequired[str]
    to: NotRequired[list[str]]
    cc: NotRequired[list[str]]
    bcc: NotRequired[list[str]]
    subject: NotRequired[str]
    attachments: NotRequired[list[ShownAttachment]]
    calendar: NotRequired[str]
    title: NotRequired[str]
    start: NotRequired[str]
    end: NotRequired[str]
    all_day: NotRequired[bool]
    where: NotRequired[str]
    attendees: NotRequired[list[str]]
    recurrence: NotRequired[str]
    notify: NotRequired[bool]
    """Whether invitations or cancellations are sent."""
    service: NotRequired[str]
    channel: NotRequired[str]
    mentions: NotRequired[list[str]]
    application: NotRequired[str]
    element: NotRequired[str]
    """What is clicked or filled in, such as `push button “Save”`."""
    picture: NotRequired[str]
    """A screenshot: a JPEG in base64, of this width and height."""
    width: NotRequired[int]
    height: NotRequired[int]
    target: NotRequired[PictureRect]


class RuleWords(TypedDict):
    """The rule that a yes would write, and where it holds."""

    rule: str
    place: str


class CallQuestion(TypedDict):
    """May this call run?"""

    id: str
    principal: str
    session: str | None
    project: str
    tool: str
    server: str | None
    arguments: dict[str, Any]
    call: str
    reasons: list[str]
    rule: dict[str, Any]
    scopes: list[Literal["once", "chat", "project", "always"]]
    flow: bool
    hazard: NotRequired[bool]
    """It runs code that nobody has seen, so that only this call can be allowed."""
    lifts: NotRequired[list[Literal["tool", "turn", "session"]]]
    """How far untrusted content may act, the narrowest first."""
    session_mode: bool
    grant: NotRequired[str]
    """What an answer for the chat allows, if no rule is stored: every call with the same target."""
    title: str
    why: str
    """The reasons, in a sentence."""
    exhibit: CallExhibit
    definition: str
    words: dict[str, RuleWords]
    tool_words: NotRequired[dict[str, RuleWords]]
    """The same for every call of the tool, whatever its arguments, where that is offered."""
