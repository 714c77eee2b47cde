"""Resources and prompts of a server, as they are listed, read and filled in."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class ResourceListed(TypedDict):
    """A resource, or a template of addresses such as `file:///{path}`."""

    kind: Literal["resource", "template"]
    uri: str
    name: str
    description: str
    mime_type: str
    size: int | None


class ResourceContent(TypedDict):
    """One part of a resource: text, a picture as base64, or neither if it is something else or too large."""

    uri: str
    mime_type: str
    text: str | None
    picture: str | None
    size: int
    """Characters of the whole text, or bytes of what is not text."""
    cut: bool
    """Only the beginning of the text is here."""


class ResourceRead(TypedDict):
    server: str
    uri: str
    contents: list[ResourceContent]


class PromptArgument(TypedDict):
    name: str
    description: str
    required: bool


class PromptListed(TypedDict):
    """A prompt; its title stands for a missing description."""

    name: str
    description: str
    arguments: list[PromptArgument]


class PromptMessage(TypedDict):
    """A message of a prompt; `text` is empty if its content is something else, which `type` names."""

    role: str
    type: str
    text: str
    cut: bool


class PromptFilled(TypedDict):
    server: str
    prompt: str
    description: str
    messages: list[PromptMessage]
