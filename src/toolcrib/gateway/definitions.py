"""The definitions that servers list besides tools (prompts, resources, templates): how clients name them,
with or without the server's prefix, which are valid, and how a URI matches a template."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.tools.names import public_name

Definition = dict[str, Any]
_EXPRESSION = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class Kind:
    """Prompts, resources or resource templates."""

    method: str
    key: str
    capability: str
    identity: str

    def identify(self, server: str, definition: Definition) -> str:
        """The name for clients: prompts have public names, as tools have; URIs stay unchanged."""
        own = str(definition[self.identity])
        return public_name(server, own) if self.identity == "name" else own

    @property
    def listing(self) -> str:
        """The method that lists them."""
        return f"{self.method}/list"

    def is_valid(self, definition: Any) -> bool:
        """False for a definition that clients could not parse; many would reject the whole list."""
        if not isinstance(definition, dict):
            return False
        required = (definition.get("name"), definition.get(self.identity))
        optional = (definition.get(key) for key in ("title", "description", "mimeType"))
        if not all(isinstance(text, str) for text in required):
            return False
        return all(text is None or isinstance(text, str) for text in optional) and _are_arguments(
            definition.get("arguments")
        )


def _are_arguments(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(
        isinstance(argument, dict) and isinstance(argument.get("name"), str) for argument in value
    )


PROMPTS = Kind("prompts", "prompts", "prompts", "name")
RESOURCES = Kind("resources", "resources", "resources", "uri")
TEMPLATES = Kind("resources/templates", "resourceTemplates", "resources", "uriTemplate")
KINDS = (PROMPTS, RESOURCES, TEMPLATES)
CAPABILITIES = ("prompts", "resources")


def by_identity(server: str, kind: Kind, found: Iterable[Any]) -> dict[str, Definition]:
    """The valid definitions; of two with the same identity, the first."""
    valid: dict[str, Definition] = {}
    for definition in found:
        if kind.is_valid(definition):
            valid.setdefault(kind.identify(server, definition), definition)
    return valid


def matches_template(template: str, uri: str) -> bool:
    """True if the literal parts of a URI template (RFC 6570) occur in the URI in their order; in linear time.

    Expressions match anything: the server decides.
    """
    first, *others = _EXPRESSION.split(template)
    if not others:
        return uri == template
    *middle, last = others
    end = len(uri) - len(last)
    if not uri.startswith(first) or not uri.endswith(last) or end < len(first):
        return False
    position = len(first)
    for part in middle:
        found = uri.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return True


def literal_length(template: str) -> int:
    """The number of literal characters: the more, the more specific is the template."""
    return sum(map(len, _EXPRESSION.split(template)))


class PlainNames:
    """Names without the server's prefix, for clients that ask for them. `owned` maps public names to servers'
    own.

    A tool or prompt keeps its server's own name if that is unambiguous. If two servers use a name, or it is
    the public name of something else, all of them keep their public names.
    """

    def __init__(self, owned: Mapping[str, str]) -> None:
        claims = Counter(owned.values())
        self._shown = {
            public: own
            for public, own in owned.items()
            if claims[own] == 1 and (own == public or own not in owned)
        }
        self._public = {own: public for public, own in self._shown.items()}

    def shown(self, public: str) -> str:
        """The name for clients."""
        return self._shown.get(public, public)

    def public(self, name: str) -> str:
        """The public name of a name from a client, which may be the public name itself."""
        return self._public.get(name, name)
