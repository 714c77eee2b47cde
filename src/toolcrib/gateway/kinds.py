"""The kinds of things that servers list besides tools, and what a client must be able to read of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolcrib.tools.naming import public_name

Definition = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of thing that servers list."""

    method: str
    key: str
    capability: str
    identity: str

    def identify(self, server: str, definition: Definition) -> str:
        """What clients call it: prompts have public names, as tools have; a URI stays what it is."""
        own = str(definition[self.identity])
        return public_name(server, own) if self.identity == "name" else own

    @property
    def listing(self) -> str:
        """The method that lists them."""
        return f"{self.method}/list"

    def is_sound(self, definition: Any) -> bool:
        """True when a client can read it; one that cannot be read would spoil the whole list for many."""
        if not isinstance(definition, dict):
            return False
        texts = (definition.get("name"), definition.get(self.identity))
        loose = (definition.get(key) for key in ("title", "description", "mimeType"))
        if not all(isinstance(text, str) for text in texts):
            return False
        return all(text is None or isinstance(text, str) for text in loose) and _are_arguments(
            definition.get("arguments")
        )


def _are_arguments(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("name"), str) for one in value
    )


PROMPTS = Kind("prompts", "prompts", "prompts", "name")
RESOURCES = Kind("resources", "resources", "resources", "uri")
TEMPLATES = Kind("resources/templates", "resourceTemplates", "resources", "uriTemplate")
KINDS = (PROMPTS, RESOURCES, TEMPLATES)
CAPABILITIES = ("prompts", "resources")


def by_identity(server: str, kind: Kind, found: Iterable[Any]) -> dict[str, Definition]:
    """Those that a client can read; of two with the same identity, the first."""
    sound: dict[str, Definition] = {}
    for definition in found:
        if kind.is_sound(definition):
            sound.setdefault(kind.identify(server, definition), definition)
    return sound
